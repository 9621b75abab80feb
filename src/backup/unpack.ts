import { closeSync, createReadStream, mkdirSync, openSync, statfsSync, writeSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { createGunzip } from 'node:zlib'
import { NotAllowed, Refusal, Unfit } from '../domain/errors.ts'
import { Blocks, entriesIn } from './archive.ts'
import { MANIFEST } from './contents.ts'
import { damaged } from './manifest.ts'

export interface Limits {
  entries: number
  bytes: number
}
/** More than any home has. */
export const MOST_ENTRIES = 1_000_000
const MOST_MANIFEST_BYTES = 256 * 1024 * 1024
/** How a disk allocates space, and how much to leave for others. */
const BLOCK_BYTES = 4096
const SHARE_OF_DISK = 0.95
const GB = 1_000_000_000

/**
 * Unpacks the files and folders of an archive into an empty folder, with our modes. The author of the archive may be
 * anybody: only files and folders are made, nothing outside the folder, and no more than the limits and the disk allow.
 */
export async function unpack(file: string, folder: string, limits: Limits): Promise<void> {
  const { bavail, bsize } = statfsSync(folder)
  const room = Math.min(bavail * bsize, Number.MAX_SAFE_INTEGER) * SHARE_OF_DISK
  let bytes = 0
  let count = 0
  const requireRoom = (path: string, size: number): void => {
    if (++count > limits.entries) throw damaged(file, `it has more than ${limits.entries} files and folders`)
    if (path === MANIFEST && size > MOST_MANIFEST_BYTES)
      throw damaged(file, `${MANIFEST} is larger than ${MOST_MANIFEST_BYTES / 1024 / 1024} MiB`)
    bytes += Math.ceil(size / BLOCK_BYTES) * BLOCK_BYTES
    if (bytes > limits.bytes)
      throw new NotAllowed(`${file} unpacks to more than ${limits.bytes / GB} GB. Nothing was restored.`, {
        try: 'If you expect that size: fleet restore <file> --max-gb <number>',
      })
    if (bytes > room)
      throw new Unfit(`There is no room for ${file}: ${dirname(folder)} has ${(room / GB).toFixed(1)} GB.`, {
        try: 'Nothing was restored. Free some space, or choose another place: --home <folder>',
      })
  }
  try {
    await pipeline(createReadStream(file), createGunzip(), async source => {
      const blocks = new Blocks(source)
      for await (const { path, isFolder, size } of entriesIn(blocks)) {
        requireRoom(path, size)
        if (isFolder) mkdirSync(join(folder, path), { recursive: true, mode: 0o700 })
        else await write(join(folder, path), blocks.pieces(size))
      }
    })
  } catch (error) {
    throw error instanceof NotAllowed || error instanceof Unfit ? error : damaged(file, problemOf(error, folder), error)
  }
}

async function write(path: string, pieces: AsyncIterable<Buffer>): Promise<void> {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
  const fd = openSync(path, 'wx', 0o600)
  try {
    for await (const piece of pieces) for (let at = 0; at < piece.length; ) at += writeSync(fd, piece, at)
  } finally {
    closeSync(fd)
  }
}

function problemOf(error: unknown, folder: string): string {
  const { code, path = '', message } = error as NodeJS.ErrnoException
  if (error instanceof Refusal || !code) return message
  if (['EEXIST', 'ENOTDIR', 'EISDIR'].includes(code)) return `${path.slice(folder.length + 1)} is in it twice`
  if (code.startsWith('Z_')) return 'it was cut short or changed'
  throw error
}
