import { runProgram } from '../spawning/index.ts'

const BLOCK_BYTES = 1024
/** Of paths in one call: the system limits how long a command line may be. */
const AT_ONCE = 200
const TIMEOUT_MS = 10 * 60_000
const MAX_OUTPUT_BYTES = 1024 * 1024

export const worktreeBytes = async (path: string): Promise<number> => (await bytesOf([path]))?.get(path) ?? 0

/**
 * The disk space of each folder or file, as du counts it: links are not followed, a file with several names counts
 * once, with the first folder that has it. A program measures them, because there may be a hundred thousand files. What
 * is missing counts nothing. Undefined: it took longer than it may.
 */
export async function bytesOf(paths: readonly string[], within = TIMEOUT_MS): Promise<Map<string, number> | undefined> {
  const sizes = new Map<string, number>()
  const until = performance.now() + within
  for (let i = 0; i < paths.length; i += AT_ONCE) {
    const { stdout, stopped, failure } = await runProgram({
      command: 'du',
      args: ['-sk', '--', ...paths.slice(i, i + AT_ONCE)],
      cwd: '/',
      env: { PATH: process.env.PATH ?? '/usr/bin:/bin', LC_ALL: 'C' },
      maxBytes: MAX_OUTPUT_BYTES,
      timeoutMs: Math.max(1, Math.round(until - performance.now())),
    })
    if (failure) throw new Error(`du could not be run: ${failure}`)
    if (stopped) return undefined
    // It exits with an error if a file disappears while it counts, and prints the rest all the same.
    for (const [, blocks, path] of stdout.toString('utf8').matchAll(/^(\d+)\t(.*)$/gm))
      sizes.set(path!, Number(blocks) * BLOCK_BYTES)
  }
  return sizes
}
