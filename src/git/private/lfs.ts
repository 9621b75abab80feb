import { createHash } from 'node:crypto'
import {
  closeSync,
  constants,
  createReadStream,
  createWriteStream,
  fstatSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  renameSync,
  rmSync,
} from 'node:fs'
import { homedir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { pipeline } from 'node:stream/promises'
import type { Repository } from '../layout.ts'
import { MOST_BYTES } from './objects.ts'
import { type Place, projectOf } from './place.ts'
import { type Settings, settingsOf } from './settings.ts'

/** Where Git LFS keeps the files of a project. */
export function lfsStore({ commonDir }: Pick<Repository, 'commonDir'>, { lfsStorage }: Settings): string {
  const named = lfsStorage?.replace(/^~(?=\/)/, process.env.HOME ?? homedir())
  return named ? resolve(commonDir, named) : join(commonDir, 'lfs')
}

/** Writes files that the store has and fetches nothing. The others stay pointers. */
export const LOCAL_LFS = [
  ['lfs.url', 'file:///dev/null'],
  ['lfs.skipdownloaderrors', 'true'],
] as const

const NAME = /^[0-9a-f]{64}$/
const MOST_FILES = 100_000

/**
 * Copies the session's Git LFS files into the project's store. A commit has only the SHA-256 of their content, which
 * each copy is checked against. Links are not followed. Answers why something did not come in.
 */
export async function takeLfs(place: Place, maxBytes = MOST_BYTES): Promise<string | undefined> {
  const from = join(place.git, 'lfs/objects')
  if (!isFolder(from)) return undefined
  const repo = projectOf(place)
  const store = lfsStore(repo, await settingsOf(repo))
  const incoming = join(store, `incoming-fleet-${place.record.session}-${process.pid}`)
  let [files, bytes, refused, over] = [0, 0, 0, 0]
  try {
    for (const file of filesIn(from)) {
      const name = file.slice(file.lastIndexOf('/') + 1)
      const to = join(store, 'objects', name.slice(0, 2), name.slice(2, 4), name)
      if (lstatSync(to, { throwIfNoEntry: false })) continue
      const size = lstatSync(file, { throwIfNoEntry: false })?.size ?? 0
      if (files >= MOST_FILES || bytes + size > maxBytes) {
        over++
        continue
      }
      files++
      bytes += size
      mkdirSync(incoming, { recursive: true })
      if ((await copyHashed(file, join(incoming, name), maxBytes)) !== name) refused++
      else {
        mkdirSync(dirname(to), { recursive: true })
        renameSync(join(incoming, name), to)
      }
    }
  } finally {
    rmSync(incoming, { recursive: true, force: true })
  }
  if (over)
    return `${over} of its files in Git LFS are too many, or larger than ${Math.round(maxBytes / 1024 / 1024)} MB together`
  return refused ? `${refused} of its files in Git LFS are not what their names say` : undefined
}

const isFolder = (path: string): boolean => lstatSync(path, { throwIfNoEntry: false })?.isDirectory() === true

/** Files with a Git LFS name, two folders down. */
function* filesIn(folder: string, depth = 0): Generator<string> {
  for (const name of readdirSync(folder)) {
    const path = join(folder, name)
    if (depth === 2 && NAME.test(name)) yield path
    if (depth < 2 && /^[0-9a-f]{2}$/.test(name) && isFolder(path)) yield* filesIn(path, depth + 1)
  }
}

/** The SHA-256 of the copy; undefined: it is no plain file, or too large. */
async function copyHashed(from: string, to: string, maxBytes: number): Promise<string | undefined> {
  let fd: number
  try {
    fd = openSync(from, constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOFOLLOW)
  } catch {
    return undefined
  }
  const { size } = fstatSync(fd)
  if (!fstatSync(fd).isFile() || size > maxBytes) {
    closeSync(fd)
    return undefined
  }
  const hash = createHash('sha256')
  // Reads at most the size that was seen, however fast the file grows.
  const source = createReadStream('', { fd, ...(size ? { start: 0, end: size - 1 } : {}) })
  source.on('data', chunk => hash.update(chunk))
  await pipeline(source, createWriteStream(to, { flags: 'wx', mode: 0o644 }))
  return hash.digest('hex')
}
