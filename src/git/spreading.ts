import { runProgram } from '../spawning/index.ts'

/** Marking takes a millisecond; one that hangs on a broken disk is not waited for. */
const TIMEOUT_MS = 10_000

const marked = new Set<string>()

/**
 * Marks folders in which many folders come and go, so that ext4 spreads those over the disk (the attribute `T`). Without
 * it they share one part of the disk, and each new file there looks over everything that was deleted there in the last
 * minutes. It is a hint to the disk: where `chattr` or the attribute is missing, nothing is different, and nobody waits.
 */
export async function spread(folders: readonly string[]): Promise<void> {
  const fresh = folders.filter(folder => !marked.has(folder))
  if (process.platform !== 'linux' || !fresh.length) return
  for (const folder of fresh) marked.add(folder)
  const env = { PATH: process.env.PATH ?? '' }
  const args = ['-f', '+T', ...fresh]
  await runProgram({ command: 'chattr', args, cwd: '/', env, maxBytes: 1000, timeoutMs: TIMEOUT_MS }).catch(() => {})
}
