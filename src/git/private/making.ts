import { existsSync, linkSync, lstatSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { readdir, realpath } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { NotAllowed } from '../../domain/errors.ts'
import { effect } from '../../platform/effects.ts'
import { exists, type Repository, readRef } from '../layout.ts'
import { readPlainFile } from '../plain-files.ts'
import { git } from '../run.ts'
import { spread } from '../spreading.ts'
import { inTheWay, startOf } from '../starting.ts'
import { throwAway } from '../trash.ts'
import { Bound } from '../turns.ts'
import { dropRecords, recordsOf } from '../worktrees.ts'
import { writes } from '../writes/index.ts'
import { isByGit } from '../writes/mode.ts'
import { checkoutAt, strangersIn } from './exact.ts'
import { type Given, giveRefs, placeRef } from './giving.ts'
import { fillModules } from './modules.ts'
import {
  dropRecord,
  linkTo,
  ourEnvironment,
  type Place,
  type PlaceRecord,
  partsOf,
  placeAt,
  projectOf,
  START_INDEX,
  tipOf,
  trashOf,
  writeRecord,
} from './place.ts'
import { fileEnvironment } from './programs.ts'
import { dropRef, writeRef } from './project-refs.ts'
import { seal, sealRepository, setSession } from './sealing.ts'
import { noteShape, shapeOf } from './shape.ts'
import { SPARSE_FILE, sparsePatterns } from './sparse.ts'

/** Writing files takes longest, so a few run at the same time. */
const checkouts = new Bound(4)
/** Git follows a chain of at most five alternates. */
const MOST_ALTERNATES = 4

export interface NewPlace extends Given {
  path: string
  branch: string
  /** A commit, or a branch whose tip to start from. Ignored if `branch` exists already. */
  from: string
  /** Moves a warm worktree to the place, if there is one. */
  warm?: (place: Place) => Promise<boolean>
}

export interface AddedPlace {
  tip: string
  existed: boolean
  emptySubmodules: string[]
}

/** Makes a worktree with its own repository. If it exists, updates its record and its refs. */
export async function addPlace(repo: Repository, wanted: NewPlace): Promise<AddedPlace> {
  const { path, branch, from } = wanted
  const found = placeAt(path)
  if (found && (await exists(path))) {
    if (found.record.branch !== branch) throw inTheWay(path, found.record.branch ?? 'no branch')
    const place = refreshed(found, wanted)
    // Git will run in it, and its last user may have left anything there.
    if (isByGit()) await seal(place, { walled: wanted.within !== undefined, files: false })
    await giveRefs(place, repo, { start: tipOf(place), named: wanted.named })
    return { tip: tipOf(place), existed: true, emptySubmodules: [] }
  }
  const tip = await readRef(repo, `refs/heads/${branch}`)
  const start = tip ?? (await startOf(repo, from))
  await clear(repo, path)
  const emptySubmodules = await make(repo, path, recordOf(repo, path, branch, wanted), start, wanted)
  return { tip: start, existed: false, emptySubmodules }
}

/**
 * A place for checks, on no branch. An existing one is used again: exactly the tree of that commit, with its ignored
 * files kept warm.
 */
export async function checkoutPlace(repo: Repository, path: string, commit: string, given: Given): Promise<void> {
  const found = placeAt(path)
  const isSame = JSON.stringify(found?.record.sparse) === JSON.stringify(given.sparse ?? [])
  if (found && !isSame) await removePlace(path, repo)
  if (!found || !isSame || !(await exists(path))) {
    await clear(repo, path)
    await make(repo, path, recordOf(repo, path, null, given), commit, given)
    return
  }
  const place = refreshed(found, given)
  const env = await fileEnvironment(place, given)
  rmSync(join(place.ours, 'index.lock'), { force: true })
  await checkouts.run(async () => {
    await git(path, ['reset', '--hard', '--quiet', '--no-recurse-submodules', commit], { effect: 'git.scratch', env })
    await git(path, ['clean', '-ffdq'], { effect: 'git.scratch', env })
  })
  // What an earlier check did to its repository is removed with it.
  rmSync(place.git, { recursive: true, force: true })
  await seal(place, { walled: given.within !== undefined, files: false })
  await giveRefs(place, repo, { start: commit })
  await setSession(place, commit)
  await fillModules(place, commit, given.within)
}

function refreshed(found: Place, given: Given): Place {
  const { base, session, allowPush, hooks } = given
  const record: PlaceRecord = { ...found.record, base, session, allowPush, hooks }
  if (JSON.stringify(record) !== JSON.stringify(found.record)) writeRecord(found.folder, record)
  return { ...found, record }
}

export function recordOf(repo: Repository, path: string, branch: string | null, given: Given): PlaceRecord {
  const { base, session, allowPush, hooks, sparse = [] } = given
  const name = `${basename(dirname(path))}/${basename(path)}`.replace(/[^A-Za-z0-9/_-]/g, '-')
  const { path: top, gitDir, commonDir, bare } = repo
  return {
    version: 1,
    worktree: path,
    path: top,
    gitDir,
    commonDir,
    bare,
    branch,
    base,
    session,
    allowPush,
    hooks,
    sparse: [...sparse],
    ref: placeRef(name),
  }
}

async function make(
  repo: Repository,
  path: string,
  record: PlaceRecord,
  start: string,
  { named, within, warm }: Given & Pick<NewPlace, 'warm'>,
): Promise<string[]> {
  requireShortChain(repo)
  const parts = partsOf(path)
  const place: Place = { ...parts, record }
  try {
    await effect('git.worktree-record', () => makeOurs(place, start))
    await effect('git.worktree-add', async () => {
      await sealRepository(place, { walled: within !== undefined, files: false })
      await giveRefs(place, repo, { start, named })
    })
    if (record.branch) await writeRef(repo, `refs/heads/${record.branch}`, start)
    await writeFiles(place, start, { within, warm })
    void spread([dirname(path), dirname(parts.folder)])
    await noteStart(place)
    await setSession(place, start)
    const empty = await fillModules(place, start, within)
    await effect('git.worktree-ready', () => writeRecord(parts.folder, record))
    return empty
  } catch (failure) {
    await removePlace(path, repo, record.ref).catch(() => {})
    throw failure
  }
}

/** Writes the files of a commit into a new folder, or what differs into a warm worktree. */
async function writeFiles(
  place: Place,
  start: string,
  { within, warm }: Pick<NewPlace, 'within' | 'warm'>,
): Promise<void> {
  const { worktree, ours, folder } = place
  const env = await fileEnvironment(place, { within })
  const checkout = () => checkouts.run(() => checkoutAt(place, start, env))
  if (await warm?.(place)) {
    const isExact = await checkout().then(
      async () => (await strangersIn(place, env)).length === 0,
      () => false,
    )
    if (isExact) return
    await throwAway(worktree, trashOf(worktree))
  }
  for (const name of ['index', 'index.lock']) rmSync(join(ours, name), { force: true })
  mkdirSync(worktree, { recursive: true })
  writeFileSync(join(worktree, '.git'), linkTo(await realpath(folder)))
  await checkout()
}

/** Keeps our index as it is before the first session. Git replaces the file, so a second name of it is enough. */
async function noteStart(place: Place): Promise<void> {
  const { ours } = place
  noteShape(ours, await shapeOf(place))
  try {
    linkSync(join(ours, 'index'), join(ours, START_INDEX))
  } catch {
    // A disk without second names: the worktree is used once.
  }
}

/** Whether files are being written for a start, or were a moment ago: the next start is likely to be near. */
export const isCheckingOut = (): boolean => checkouts.quietMs < QUIET_MS
const QUIET_MS = 2000

/** Makes our git directory of a place, with the project's settings that hold for one worktree only. */
export async function makeOurs(place: Place, commit: string): Promise<void> {
  const { ours, record } = place
  mkdirSync(ours, { recursive: true, mode: 0o700 })
  await writes().gitDir(ours, commit)
  await writes().head(ours, { commit }, ourEnvironment(place))
  for (const name of ['config.worktree', SPARSE_FILE]) {
    const content = name === SPARSE_FILE ? sparsePatterns(record) : readPlainFile(join(record.gitDir, name))
    if (!content) continue
    mkdirSync(dirname(join(ours, name)), { recursive: true })
    writeFileSync(join(ours, name), content)
  }
}

/** Removes a worktree and its repository, even half-made or half-removed ones. The caller has kept the work. */
export async function removePlace(path: string, repo: Repository, ref?: string): Promise<void> {
  const found = placeAt(path)
  const { folder } = partsOf(path)
  await effect('git.worktree-remove', async () => {
    dropRecord(folder)
    await throwAway(path, trashOf(path))
    const held = found?.record.ref ?? ref
    if (held) await dropRef(found ? projectOf(found) : repo, held)
    await throwAway(folder, trashOf(path))
    // An interrupted conversion left the record of a linked worktree.
    await dropRecords(await recordsOf(repo, path))
  })
}

/** Removes what an interrupted making or removing left: files that nobody worked on. */
async function clear(repo: Repository, path: string): Promise<void> {
  const { folder } = partsOf(path)
  const entries = await readdir(path).catch(() => undefined)
  const begun = lstatSync(folder, { throwIfNoEntry: false })?.isDirectory() === true
  const isNobodys = entries?.every(name => name === '.git') ?? true
  // If the project has a record of a linked worktree, somebody worked in it.
  const isWorkedIn = !begun || (await recordsOf(repo, path)).length > 0
  if (entries && isWorkedIn && !isNobodys) throw inTheWay(path)
  if (entries || begun) await removePlace(path, repo, recordOf(repo, path, null, NOTHING).ref)
}

/** What is given to a place that nobody works in. */
export const NOTHING: Given = { base: '', session: '', allowPush: false, hooks: false }

/** Git gives up on more, and then nothing works in the session. */
function requireShortChain(repo: Repository): void {
  const chain = alternatesBehind(join(repo.commonDir, 'objects'))
  if (chain.depth <= MOST_ALTERNATES) return
  throw new NotAllowed(
    `${repo.path} borrows objects through ${chain.depth} other repositories; git follows five at most.`,
    {
      try: 'Run git repack -a -d there, or let the project use isolation linked.',
    },
  )
}

/** The alternates of an object folder, and how deep they are nested. */
export function alternatesBehind(objects: string, seen = new Set<string>()): { folders: string[]; depth: number } {
  const text = readPlainFile(join(objects, 'info/alternates'))?.toString('utf8') ?? ''
  const named = text.split('\n').filter(line => line && !line.startsWith('#'))
  let depth = 0
  for (const line of named) {
    const folder = line.startsWith('/') ? line : join(objects, line)
    if (seen.has(folder)) continue
    seen.add(folder)
    depth = Math.max(depth, 1 + alternatesBehind(folder, seen).depth)
  }
  return { folders: [...seen], depth }
}

/** Every worktree below the folder that a home has them in. */
export function placesIn(worktrees: string): string[] {
  const names = (folder: string): string[] => (existsSync(folder) ? readdirSync(folder) : [])
  return names(worktrees).flatMap(project => {
    const folder = join(worktrees, project)
    return lstatSync(folder).isDirectory() ? names(folder).map(name => join(folder, name)) : []
  })
}
