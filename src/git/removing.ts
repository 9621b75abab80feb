import { readdir, rename, rm } from 'node:fs/promises'

/** Removes a folder and everything in it, even behind paths longer than the system allows. */
export async function removeFolder(folder: string): Promise<void> {
  try {
    await remove(folder)
  } catch (failure) {
    if ((failure as NodeJS.ErrnoException).code !== 'ENAMETOOLONG') throw failure
    await bringUp(folder)
    await remove(folder)
  }
}

const remove = (folder: string): Promise<void> =>
  rm(folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 50 })

/** Half of the limit of Linux. The limit of macOS is 1024. */
const LONG_BYTES = process.platform === 'linux' ? 2048 : 512

/** Moves folders that lie deep to the top, until every path below is short. */
async function bringUp(top: string): Promise<void> {
  const names = new Set(await readdir(top))
  const below = (folder: Buffer, name: Buffer) => Buffer.concat([folder, Buffer.from('/'), name])
  const folders = [Buffer.from(top)]
  let moved = 0
  for (let folder = folders.pop(); folder !== undefined; folder = folders.pop()) {
    for (const entry of await readdir(folder, { withFileTypes: true, encoding: 'buffer' })) {
      if (!entry.isDirectory()) continue
      const path = below(folder, entry.name)
      if (path.length < top.length + LONG_BYTES) {
        folders.push(path)
        continue
      }
      while (names.has(`deep-${moved}`)) moved++
      const short = below(Buffer.from(top), Buffer.from(`deep-${moved++}`))
      await rename(path, short)
      folders.push(short)
    }
  }
}
