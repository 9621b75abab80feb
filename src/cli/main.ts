import { VERSION } from '../version.ts'

// Asked for often and by scripts: answered before anything else is loaded.
if (process.argv.length === 3 && (process.argv[2] === '--version' || process.argv[2] === '-V')) console.log(VERSION)
else void main()

async function main(): Promise<void> {
  const { run } = await import('./program.ts')
  const { stdin, stdout, stderr, env } = process
  // Whoever reads the output may have seen enough: `fleet mission list | head` is no fault.
  stdout.on('error', (error: NodeJS.ErrnoException) => process.exit(error.code === 'EPIPE' ? 0 : 1))
  process.exitCode = await run(process.argv.slice(2), { streams: { stdin, stdout, stderr, env, cwd: process.cwd() } })
}
