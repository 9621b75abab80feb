import { VERSION } from '../platform/version.ts'

// Scripts ask for the version often, so it is printed before anything else is loaded.
if (process.argv.length === 3 && (process.argv[2] === '--version' || process.argv[2] === '-V')) console.log(VERSION)
else void main()

async function main(): Promise<void> {
  const { run } = await import('./program.ts')
  const { stdout, env } = process
  // Node opens a stream on first use, and few commands use all of them.
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
  // The reader of the output may stop early, as in `fleet mission list | head`. That is not an error.
  stdout.on('error', (error: NodeJS.ErrnoException) => process.exit(error.code === 'EPIPE' ? 0 : 1))
  process.exitCode = await run(process.argv.slice(2), { streams })
}
