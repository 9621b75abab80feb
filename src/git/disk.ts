import { lstat, readdir } from 'node:fs/promises'
import { join } from 'node:path'

const BLOCK_BYTES = 512
const AT_ONCE = 64

/** The disk space of a folder, as du counts it: links are not followed, a file with several names counts once. */
export async function worktreeBytes(path: string): Promise<number> {
  const seen = new Set<string>()
  const folders = [path]
  let bytes = 0
  const measure = async (entry: string): Promise<void> => {
    const file = await lstat(entry).catch(() => undefined)
    if (!file) return
    if (file.isDirectory() && entry !== path) folders.push(entry)
    if (!file.isDirectory() && file.nlink > 1) {
      const name = `${file.dev}:${file.ino}`
      if (seen.has(name)) return
      seen.add(name)
    }
    bytes += file.blocks * BLOCK_BYTES
  }
  await measure(path)
  for (let folder = folders.pop(); folder !== undefined; folder = folders.pop()) {
    const names = await readdir(folder).catch(() => [])
    for (let i = 0; i < names.length; i += AT_ONCE)
      await Promise.all(names.slice(i, i + AT_ONCE).map(name => measure(join(folder, name))))
  }
  return bytes
}
