import { type Dirent, lstatSync } from 'node:fs'
import { chmod, mkdir, readdir, rename, rm, rmdir, unlink } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { newId } from '../domain/ids.ts'
import { effect } from '../platform/effects.ts'
import { removeFolder } from './removing.ts'

/** How many files are removed at a time, and the pause after that: see `emptyTrash`. */
const FILES_AT_ONCE = 500
const PAUSE_MS = 100
/** Where one start follows another, it goes on all the same. */
const MOST_WAIT_MS = 30_000

/**
 * Renames something into the trash, so that it is gone at once. What is not there is gone already. On another disk, or
 * without a trash, it is removed right here.
 */
export async function throwAway(path: string | Buffer, trash: string): Promise<void> {
  await effect('trash.move', async () => {
    if (!isFolder(trash)) await mkdir(trash, { recursive: true, mode: 0o700 }).catch(() => {})
    if (!isFolder(trash)) return rm(path, { recursive: true, force: true })
    await rename(path, join(trash, newId())).catch(failure => {
      if (failure.code === 'EXDEV') return rm(path, { recursive: true, force: true })
      if (failure.code !== 'ENOENT') throw failure
    })
  })
}

/**
 * Removes what is in the trash, in small steps: a disk that has just lost a hundred thousand files takes a minute to
 * make as many new ones. `isBusy` holds it back while files are written for starts, but not for long. What cannot be
 * removed stays for the next time, and is returned.
 */
export async function emptyTrash(
  trash: string,
  { signal, isBusy = () => false }: { signal?: AbortSignal; isBusy?: () => boolean } = {},
): Promise<{ path: string; why: string }[]> {
  const stuck: { path: string; why: string }[] = []
  let waitedMs = 0
  // Behind a link are files of somebody else.
  if (!isFolder(trash)) return stuck
  for (const name of await readdir(trash).catch(() => [])) {
    const path = join(trash, name)
    try {
      for (let removed = FILES_AT_ONCE; removed === FILES_AT_ONCE; ) {
        for (; isBusy() && waitedMs < MOST_WAIT_MS && !signal?.aborted; waitedMs += PAUSE_MS)
          await pause(PAUSE_MS, undefined, { ref: false })
        if (signal?.aborted) return stuck
        // A link is removed itself, below. What it leads to is somebody else's.
        removed = await effect('trash.remove', () =>
          isFolder(path) ? removeSome(Buffer.from(path), FILES_AT_ONCE) : 0,
        )
        if (removed === FILES_AT_ONCE) await pause(PAUSE_MS, undefined, { ref: false })
      }
      await removeFolder(path)
    } catch (failure) {
      stuck.push({ path, why: (failure as Error).message })
    }
  }
  return stuck
}

/** Removes at most this many files below a folder, and the folders that are empty then. Returns how many files. */
async function removeSome(folder: Buffer, most: number): Promise<number> {
  const entries = await entriesOf(folder)
  const files = entries.filter(entry => !entry.isDirectory()).slice(0, most)
  let removed = await unlinked(folder, files)
  if (removed < files.length) {
    await chmod(folder, 0o700).catch(() => {})
    removed = await unlinked(folder, files)
  }
  for (const entry of entries) {
    if (removed >= most) return most
    if (entry.isDirectory()) removed += await removeSome(below(folder, entry), most - removed)
  }
  await rmdir(folder).catch(() => {})
  return removed
}

/** How many of these files are gone. */
async function unlinked(folder: Buffer, files: readonly Dirent<Buffer>[]): Promise<number> {
  const gone = await Promise.all(
    files.map(entry =>
      unlink(below(folder, entry)).then(
        () => true,
        failure => failure.code === 'ENOENT',
      ),
    ),
  )
  return gone.filter(Boolean).length
}

const isFolder = (path: string): boolean => lstatSync(path, { throwIfNoEntry: false })?.isDirectory() === true

/** Empty for what is no folder. One that its owner closed is opened again. */
async function entriesOf(folder: Buffer): Promise<Dirent<Buffer>[]> {
  const read = () => readdir(folder, { withFileTypes: true, encoding: 'buffer' })
  return read().catch(async (failure: NodeJS.ErrnoException) => {
    if (failure.code !== 'EACCES') return []
    await chmod(folder, 0o700).catch(() => {})
    return read().catch(() => [])
  })
}

const below = (folder: Buffer, entry: Dirent<Buffer>): Buffer => Buffer.concat([folder, Buffer.from('/'), entry.name])
