import { VERSION } from '../platform/version.ts'

// Asked for often and by scripts: answered before anything else is loaded.
if (process.argv.length === 3 && (process.argv[2] === '--version' || process.argv[2] === '-V')) console.log(VERSION)
else void main()

async function main(): Promise<void> {
  const { run } = await import('./program.ts')
  const { stdout, env } = process
  // Node makes a stream when it is first looked at, and few commands look at all of them.
  const streams = {
    get stdin() {
      return process.stdin
    },
    stdout,
    get stderr() {
      return process.stderr
    },
    env,
    cwd: process.cwd(),
  }
  // Whoever reads the output may have seen enough: `fleet mission list | head` is no fault.
  stdout.on('error', (error: NodeJS.ErrnoException) => process.exit(error.code === 'EPIPE' ? 0 : 1))
  process.exitCode = await run(process.argv.slice(2), { streams })
}
