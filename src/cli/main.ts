import * as z from 'zod'

// A schema that compiles itself pays only in a process that stays.
if (process.argv[2] !== 'up') z.config({ jitless: true })
void main()

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
  // The reader of the output may stop early, as in `fleet list | head`. That is not an error.
  stdout.on('error', (error: NodeJS.ErrnoException) => process.exit(error.code === 'EPIPE' ? 0 : 1))
  process.exitCode = await run(process.argv.slice(2), { streams })
}
