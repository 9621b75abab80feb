import { existsSync, lstatSync, mkdirSync, readlinkSync, realpathSync, renameSync, writeFileSync } from 'node:fs'
import { lstat } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import * as z from 'zod'
import { byteName } from '../names.ts'
import { readPlainFile } from '../plain-files.ts'
import { git } from '../run.ts'
import { pathOf } from '../status.ts'
import { throwAway } from '../trash.ts'
import { strangersIn } from './exact.ts'
import { type Place, trashOf } from './place.ts'
import { fileEnvironment } from './programs.ts'
import { readRecord } from './records.ts'
import { foldersIn, nameIn } from './walking.ts'
import { replaceFile } from './writing.ts'

/**
 * Caches are folders such as `node_modules` that a project keeps for its next mission. They are kept as the setup
 * command left them, before any agent could change them. `caches.json` in the folder of a place says what they are, and
 * `caches.list` has every file with its stamp. A later look compares: nobody can set the time at which a file changed.
 */
const Caches = z.object({
  /** Digest of everything that the setup command was made from. */
  key: z.string(),
  /** Setup made nothing outside the caches, so it need not run where they are. */
  complete: z.boolean(),
  /** Folders below the worktree. */
  paths: z.array(z.string()),
})
export type Caches = z.infer<typeof Caches>

const RECORD = 'caches.json'
const LIST = 'caches.list'
const KEPT = 'caches'
const MAX_LIST_BYTES = 512 * 1024 * 1024

/** A record that a crash cut short counts as none. */
export const cachesAt = (folder: string): Caches | undefined => readRecord(Caches, join(folder, RECORD))

/** Whether a path is a folder below folders of the worktree. A link could lead to files of the person. */
function isInside(worktree: string, path: string): boolean {
  const steps = path.split('/')
  return steps.every((_, i) =>
    lstatSync(join(worktree, ...steps.slice(0, i + 1)), { throwIfNoEntry: false })?.isDirectory(),
  )
}

/** The caches of a place. */
export const cachesOf = ({ folder }: Place): Caches | undefined => cachesAt(folder)

/** An agent may have worked in a place. Its caches are no longer those that the setup command made. */
export const isWorkedIn = ({ folder }: Place): boolean => existsSync(join(folder, WORKED_IN))
export const noteWorkedIn = ({ folder }: Place): void => writeFileSync(join(folder, WORKED_IN), '')
const WORKED_IN = 'worked-in'

/** Removes the caches that came with a worktree. */
export async function dropCaches({ worktree, folder }: Place): Promise<void> {
  const trash = trashOf(worktree)
  for (const path of cachesAt(folder)?.paths ?? [])
    if (isInside(worktree, path)) await throwAway(join(worktree, path), trash)
  for (const file of cacheFilesIn(folder)) await throwAway(file, trash)
}

export interface Made {
  /** Digest of everything that the setup command was made from. */
  key: string
  paths: readonly string[]
  /** Files that were there before it. */
  besides: readonly string[]
  /** Whether it is known to have changed something else. */
  changedMore: boolean
}

/**
 * Notes the caches of a worktree as the setup command left them. Folders without files, and those that would not work
 * at another path, are left out. They are complete if the command made nothing else.
 */
export async function keepCaches(place: Place, { key, paths, besides, changedMore }: Made): Promise<void> {
  const { worktree, folder } = place
  const env = await fileEnvironment(place)
  const strangers = await strangersIn(place, env)
  const isKnown = (name: string): boolean =>
    [...paths, ...besides].map(byteName).some(path => `${name}/`.startsWith(`${path}/`))
  const isTouched = (await git(worktree, ['diff-files', '--quiet'], { env, answers: [1] })).exit === 1
  // What a submodule holds is in no index of ours.
  const hasModules = existsSync(join(worktree, '.gitmodules'))
  const madeNothingElse = !changedMore && !isTouched && !hasModules && strangers.every(isKnown)
  const tops = paths.filter(path => !paths.some(other => path.startsWith(`${other}/`)))
  const kept: string[] = []
  const lines: string[] = []
  for (const path of tops) {
    const found = await stampsBelow(worktree, path)
    const stamps = [...(found?.values() ?? [])]
    if (stamps.every(stamp => stamp.startsWith('d')) || stamps.includes(BOUND)) continue
    kept.push(path)
    for (const [name, stamp] of found!) lines.push(`${stamp} ${name}\0`)
  }
  const caches: Caches = { key, complete: madeNothingElse && kept.length === tops.length, paths: kept }
  replaceFile(join(folder, LIST), Buffer.from(lines.join(''), 'latin1'))
  replaceFile(join(folder, RECORD), JSON.stringify(caches))
}

/** They belong to one worktree only. */
export const cacheFilesIn = (folder: string): string[] => [RECORD, LIST].map(name => join(folder, name))

/** Python's environments and CMake's folders name their own path. */
const NAMES_ITS_PATH = /(^|\/)(pyvenv\.cfg|CMakeCache\.txt)$/
const BOUND = 'bound'

/** The stamp of everything in a folder, by byte name below the worktree; undefined: it is no folder. */
async function stampsBelow(worktree: string, path: string): Promise<Map<string, string> | undefined> {
  if (!isInside(worktree, path)) return undefined
  const stamps = new Map<string, string>()
  for await (const { folder, entries } of foldersIn(worktree, { from: byteName(path) })) {
    stamps.set(folder, await stampOf(worktree, folder))
    const files = entries.filter(entry => !entry.isDirectory()).map(entry => nameIn(folder, entry))
    for (const [i, stamp] of (await Promise.all(files.map(file => stampOf(worktree, file)))).entries())
      stamps.set(files[i]!, stamp)
  }
  return stamps
}

/** Everything that changes with a file. A folder changes with each of its files, so only what it is counts. */
async function stampOf(worktree: string, name: string): Promise<string> {
  const found = await lstat(pathOf(worktree, name), { bigint: true }).catch(() => undefined)
  if (!found) return 'gone'
  const { mode, size, dev, ino, nlink, mtimeNs, ctimeNs } = found
  if (found.isDirectory()) return ['d', mode, dev, ino].join(':')
  if (NAMES_ITS_PATH.test(name) || (found.isSymbolicLink() && leadsBack(worktree, name))) return BOUND
  return [mode, size, ino, nlink, mtimeNs, ctimeNs].join(':')
}

/** Whether a link names the worktree by its path, which another worktree does not have. */
function leadsBack(worktree: string, name: string): boolean {
  const target = `${readlinkSync(pathOf(worktree, name))}/`
  return [worktree, realpathSync(worktree)].some(path => target.startsWith(`${path}/`))
}

/**
 * Moves the caches of a worktree into the folder beside it, if they are as the setup command left them. Files that were
 * added are removed. If a file was changed, all caches of the worktree count as lost.
 */
export async function takeCachesOut(worktree: string, folder: string, trash: string): Promise<Caches | undefined> {
  const caches = cachesAt(folder)
  if (!caches || !(await isUntouched(worktree, folder, caches, trash))) {
    for (const file of cacheFilesIn(folder)) await throwAway(file, trash)
    return undefined
  }
  mkdirSync(join(folder, KEPT), { recursive: true })
  for (const [i, path] of caches.paths.entries()) renameSync(join(worktree, path), join(folder, KEPT, String(i)))
  return caches
}

async function isUntouched(worktree: string, folder: string, { paths }: Caches, trash: string): Promise<boolean> {
  const list = readPlainFile(join(folder, LIST), { maxBytes: MAX_LIST_BYTES })?.toString('latin1')
  if (list === undefined) return false
  const known = new Map<string, string>()
  for (const line of list.split('\0')) {
    const at = line.indexOf(' ')
    if (at > 0) known.set(line.slice(at + 1), line.slice(0, at))
  }
  const added = new Set<string>()
  for (const path of paths) {
    for (const [name, stamp] of (await stampsBelow(worktree, path)) ?? []) {
      if (known.get(name) === stamp) known.delete(name)
      else if (known.has(name)) return false
      else added.add(name)
    }
  }
  if (known.size) return false
  for (const name of added) if (!added.has(dirname(name))) await throwAway(pathOf(worktree, name), trash)
  return true
}

/**
 * Moves caches from the folder of a warm worktree to their paths. They are left where they are if nobody wants them any
 * more, or if the commit has something at their path, or a link above it.
 */
export async function putCachesIn(
  from: string,
  { worktree, folder }: { worktree: string; folder: string },
  wanted: readonly string[],
): Promise<void> {
  const caches = cachesAt(from)
  if (!caches?.paths.every(path => wanted.includes(path) && hasRoomFor(worktree, path))) return
  for (const [i, path] of caches.paths.entries()) {
    mkdirSync(dirname(join(worktree, path)), { recursive: true })
    renameSync(join(from, KEPT, String(i)), join(worktree, path))
  }
  for (const file of cacheFilesIn(from)) renameSync(file, join(folder, file.slice(from.length + 1)))
}

function hasRoomFor(worktree: string, path: string): boolean {
  const steps = path.split('/')
  for (let i = 1; i <= steps.length; i++) {
    const found = lstatSync(join(worktree, ...steps.slice(0, i)), { throwIfNoEntry: false })
    if (!found) return true
    if (!found.isDirectory()) return false
  }
  return false
}
