import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  renameSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { mkdir, realpath, rename, rmdir } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import * as z from 'zod'
import { Unfit } from '../../domain/errors.ts'
import { effect } from '../../platform/effects.ts'
import { runProgram } from '../../spawning/index.ts'
import { exists, type Repository } from '../layout.ts'
import { readPlainFile } from '../plain-files.ts'
import { byteFields, git } from '../run.ts'
import { spread } from '../spreading.ts'
import { pathOf } from '../status.ts'
import { throwAway } from '../trash.ts'
import { cacheFilesIn, cachesAt, putCachesIn, takeCachesOut } from './caches.ts'
import { checkoutAt, strangersIn } from './exact.ts'
import { lfsStore } from './lfs.ts'
import { makeOurs, NOTHING, recordOf } from './making.ts'
import { dropRecord, linkTo, type Place, projectOf, START_INDEX, tipOf } from './place.ts'
import { fileEnvironment, runsPrograms } from './programs.ts'
import { dropRef } from './project-refs.ts'
import { readRecord } from './records.ts'
import { settingsOf } from './settings.ts'
import { attributesIn, noteShape, sameAttributes, shapeAt, shapeOf } from './shape.ts'

/**
 * A warm worktree waits for its next mission, at `<home>/warm/<project>/<id>`:
 *
 * - `tree`: the files of one commit and nothing else.
 * - `ours`: our git directory, whose index has the stat data of the files as we wrote them.
 * - `caches`, `caches.json`, `caches.list`: see caches.ts.
 * - `ready.json`: written last. Without it the worktree is not handed out.
 */
export interface Warm {
  folder: string
  trash: string
}

const Ready = z.object({
  version: z.literal(1),
  /** The project's own repository, which its index belongs to. */
  commonDir: z.string(),
  commit: z.string(),
  files: z.number(),
  sparse: z.array(z.string()),
  since: z.string(),
})
export type Ready = z.infer<typeof Ready>

/** The folders that a warm worktree has, if it is sparse. */
export const sparseAt = (folder: string): string[] | undefined => readRecord(z.array(z.string()), join(folder, SPARSE))
const SPARSE = 'sparse.json'

/** Whether an unready one has what is needed to make it ready. */
export const canBecomeReady = (folder: string): boolean =>
  existsSync(treeOf(folder)) && ['index', START_INDEX].some(name => existsSync(join(oursOf(folder), name)))

const READY = 'ready.json'
export const treeOf = (folder: string): string => join(folder, 'tree')
const oursOf = (folder: string): string => join(folder, 'ours')

/** The key of the caches that a warm worktree has; undefined: it has none. */
export const cacheKeyIn = (folder: string): string | undefined => cachesAt(folder)?.key

/** What is known about a warm worktree; undefined: it cannot be handed out. */
export function readyAt(folder: string): Ready | undefined {
  return readRecord(Ready, join(folder, READY))
}

/**
 * Whether a place may be used again after its last session. Its index from before the first session must be there, and
 * the project must name no programs that write files: they would run outside of the sandbox of a mission.
 */
export async function isReusable(place: Place, fewest: number): Promise<boolean> {
  const count = entriesIn(join(place.ours, START_INDEX))
  const isFolder = lstatSync(place.worktree, { throwIfNoEntry: false })?.isDirectory()
  if (count === undefined || count < fewest || !isFolder) return false
  const settings = await settingsOf(projectOf(place))
  // With Git LFS, a file is a pointer until somebody fetches it, and git would take the pointer for the file.
  return !runsPrograms(settings) && !(await exists(lfsStore(projectOf(place), settings)))
}

/** The number of files in an index, from its first bytes. */
export function entriesIn(index: string): number | undefined {
  const header = readPlainFile(index, { maxBytes: MAX_INDEX_BYTES, first: 12 })
  return header?.length === 12 && header.toString('latin1', 0, 4) === 'DIRC' ? header.readUInt32BE(8) : undefined
}
const MAX_INDEX_BYTES = 2 ** 32

/** Lays the worktree of a place aside and drops its repository. The caller has kept the work. */
export async function layAside(place: Place, { folder, trash }: Warm): Promise<void> {
  await effect('warm.lay-aside', async () => {
    mkdirSync(folder, { recursive: true, mode: 0o700 })
    if (!lstatSync(place.worktree).isDirectory()) throw new Unfit(`${place.worktree} is not a folder.`)
    writeFileSync(join(folder, SPARSE), JSON.stringify(place.record.sparse))
    dropRecord(place.folder)
    await rename(place.worktree, treeOf(folder))
    renameSync(place.ours, oursOf(folder))
    for (const file of cacheFilesIn(place.folder)) if (await exists(file)) renameSync(file, join(folder, nameOf(file)))
    await dropRef(projectOf(place), place.record.ref)
    await throwAway(place.folder, trash)
  })
}

const nameOf = (path: string): string => path.slice(path.lastIndexOf('/') + 1)

/** Begins a new one, without files. */
export async function beginWarm(repo: Repository, { folder }: Warm, commit: string, sparse: string[]): Promise<void> {
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  void spread([dirname(folder)])
  mkdirSync(treeOf(folder))
  writeFileSync(join(folder, SPARSE), JSON.stringify(sparse))
  await makeOurs(asPlace(repo, folder, sparse), commit)
}

const asPlace = (repo: Repository, folder: string, sparse: string[]): Place => ({
  worktree: treeOf(folder),
  folder,
  git: join(folder, 'git'),
  ours: oursOf(folder),
  record: recordOf(repo, treeOf(folder), null, { ...NOTHING, sparse }),
})

/**
 * Brings the files to exactly those of a commit, whatever the last session left. Only our index from before any session
 * counts. What it does not know is removed; what was touched is written again.
 */
export async function makeReady(
  repo: Repository,
  warm: Warm,
  { commit, sparse, now }: { commit: string; sparse: string[]; now: string },
): Promise<Ready> {
  const { folder, trash } = warm
  const place = asPlace(repo, folder, sparse)
  const { worktree, ours } = place
  const ready = await effect('warm.reset', async () => {
    rmSync(join(ours, 'index.lock'), { force: true })
    if (await exists(join(ours, START_INDEX))) renameSync(join(ours, START_INDEX), join(ours, 'index'))
    const env = await fileEnvironment(place)
    await throwAway(join(worktree, '.git'), trash)
    await takeCachesOut(worktree, folder, trash)
    await removeStrangers(place, env, trash)
    await straighten(place)
    const shape = await shapeOf(place)
    // Under other rules every file is written again.
    if (shapeAt(ours) !== shape) rmSync(join(ours, 'index'), { force: true })
    const attributes = existsSync(join(ours, 'index')) ? await attributesIn(place) : ''
    await checkoutAt(place, commit, env)
    if (attributes !== (await attributesIn(place))) {
      rmSync(join(ours, 'index'))
      await checkoutAt(place, commit, env)
    }
    noteShape(ours, shape)
    await emptyModules(place, env, trash)
    for (let round = 0; (await removeStrangers(place, env, trash)) > 0; round++)
      if (round === MOST_ROUNDS) throw new Unfit(`The files of ${worktree} change while they are cleaned up.`)
    trustTimes(join(ours, 'index'))
    return {
      version: 1 as const,
      commonDir: repo.commonDir,
      commit,
      files: entriesIn(join(ours, 'index')) ?? 0,
      sparse,
      since: now,
    }
  })
  await effect('warm.ready', () => {
    writeFileSync(join(folder, `${READY}.new`), JSON.stringify(ready))
    renameSync(join(folder, `${READY}.new`), join(folder, READY))
  })
  return ready
}
const MOST_ROUNDS = 3

/**
 * Git reads files again that have the time of their index, because they may have changed after it. Nobody has been here
 * since, so a later time of the index saves that.
 */
function trustTimes(index: string): void {
  const later = statSync(index).mtimeMs / 1000 + 1
  utimesSync(index, later, later)
}

async function removeStrangers(place: Place, env: Record<string, string>, trash: string): Promise<number> {
  const names = await strangersIn(place, env)
  for (const name of names) await throwAway(pathOf(place.worktree, name.replace(/\/$/, '')), trash)
  return names.length
}

/**
 * Removes what git does not see in folders that it knows: pipes, sockets, devices, anything called `.git`, and files
 * that were touched after our index was written, because git compares whole seconds only. Gives folders the mode that
 * a new one has. It comes before git looks, because git skips folders that it cannot read.
 */
async function straighten({ worktree, folder, ours }: Place): Promise<void> {
  const mode = await modeOfNew(folder)
  for (let round = 0; ; round++) {
    const { odd, complete } = await oddIn(worktree, { mode, since: join(ours, 'index') })
    for (const name of odd) {
      const path = pathOf(worktree, name)
      const isFolder = lstatSync(path).isDirectory()
      if (isFolder && !isDotGit(name)) chmodSync(path, mode)
      else rmSync(path, { recursive: true, force: true })
    }
    if (complete && !odd.length) return
    // A folder that could not be read is looked into in the next round.
    if (round === DEEPEST) throw new Unfit(`${worktree} cannot be read to its end.`)
  }
}
const DEEPEST = 100
const isDotGit = (name: string): boolean => /(^|\/)\.git$/i.test(name)

/** Byte names below a folder. The system's own `find` looks, because the server would be busy for long. */
async function oddIn(
  worktree: string,
  { mode, since }: { mode: number; since: string },
): Promise<{ odd: string[]; complete: boolean }> {
  const touched = existsSync(since) ? ['-o', '!', '-type', 'd', '-cnewer', since] : []
  const isOdd = [
    ...['-iname', '.git', '-prune', '-o', '-type', 'd', '!', '-perm', mode.toString(8)],
    ...['-o', '!', '-type', 'f', '!', '-type', 'd', '!', '-type', 'l', ...touched],
  ]
  const found = await runProgram({
    command: 'find',
    args: ['.', '(', ...isOdd, ')', '-print0'],
    cwd: worktree,
    env: { PATH: process.env.PATH ?? '', LC_ALL: 'C' },
    maxBytes: MAX_FOUND_BYTES,
    timeoutMs: FIND_MS,
  })
  if (found.failure !== undefined || found.stopped) throw new Unfit(`find did not look through ${worktree}.`)
  return { odd: byteFields(found.stdout).map(name => name.replace(/^\.\//, '')), complete: found.code === 0 }
}
const MAX_FOUND_BYTES = 16 * 1024 * 1024
const FIND_MS = 10 * 60_000

async function modeOfNew(folder: string): Promise<number> {
  const probe = join(folder, 'probe')
  await mkdir(probe)
  const { mode } = statSync(probe)
  await rmdir(probe)
  return mode & 0o7777
}

/** The files of submodules are in no index of ours. They are filled again when the worktree is taken. */
async function emptyModules(place: Place, env: Record<string, string>, trash: string): Promise<void> {
  if (!(await exists(join(place.worktree, '.gitmodules')))) return
  const listed = byteFields((await git(place.worktree, ['ls-files', '--stage', '-z'], { env })).stdout)
  for (const line of listed) {
    if (!line.startsWith('160000 ')) continue
    const path = pathOf(place.worktree, line.slice(line.indexOf('\t') + 1))
    await throwAway(path, trash)
    await mkdir(path)
  }
}

/** Whether its files were written under the rules that hold for a place at this commit. */
async function fits({ folder }: Warm, place: Place): Promise<boolean> {
  const ready = readyAt(folder)
  if (!ready || shapeAt(oursOf(folder)) !== (await shapeOf(place))) return false
  return sameAttributes(place, ready.commit, tipOf(place))
}

/**
 * Moves a warm worktree to a place that is being made; false: it does not fit. From now on it is nobody else's, whatever
 * happens. The caller brings it to its commit and looks whether it is exact.
 */
export async function moveIn(warm: Warm, place: Place): Promise<boolean> {
  const { folder } = warm
  if (!(await fits(warm, place))) return false
  await effect('warm.take', async () => {
    rmSync(join(folder, READY))
    writeFileSync(join(treeOf(folder), '.git'), linkTo(await realpath(place.folder)))
    renameSync(join(oursOf(folder), 'index'), join(place.ours, 'index'))
    await rename(treeOf(folder), place.worktree)
  })
  return true
}

/** Gives a new place the caches that came with its worktree, and drops the rest. */
export async function moveCachesIn({ folder, trash }: Warm, place: Place, wanted: readonly string[]): Promise<void> {
  await putCachesIn(folder, place, wanted)
  await throwAway(folder, trash)
}
