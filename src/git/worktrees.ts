import { mkdir, readdir, realpath, rename, rm, unlink, writeFile } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { NotAllowed } from '../domain/errors.ts'
import { effect } from '../platform/effects.ts'
import { slug } from './branch-names.ts'
import {
  type Checkout,
  checkoutsOf,
  exists,
  gitDirOf,
  type Repository,
  readRef,
  readText,
  requireWorktree,
} from './layout.ts'
import { freeLocks } from './locks.ts'
import { removeFolder } from './removing.ts'
import { git } from './run.ts'
import { inTheWay, startOf } from './starting.ts'
import { fillSubmodules } from './submodules.ts'
import { Bound, Turns } from './turns.ts'

/** Kept beside a worktree until it is whole: what tells a half-made one from one with work in it. */
const MAKING = 'flotilla: being made'
const making = (path: string): string => `${MAKING} at ${path}`
const recordName = (path: string): string => slug(basename(path), 'worktree')
/** Writing files is the long step: side by side, but not all at once. */
const checkouts = new Bound(4)
/** `git worktree add` races with itself. */
const turns = new Turns()

export interface NewWorktree {
  path: string
  branch: string
  /** A commit, or a branch to start at the tip of. Not looked at where `branch` exists already. */
  from: string
}

export interface Added {
  /** What the branch points to: the commit it started from, unless it existed. */
  tip: string
  existed: boolean
  /** Submodules that could not be filled without the network. */
  emptySubmodules: string[]
}

/** Makes a worktree on a branch, or finds it made: calling it again after a crash ends in the same place. */
export async function addWorktree(repo: Repository, { path, branch, from }: NewWorktree): Promise<Added> {
  const ref = `refs/heads/${branch}`
  const [found, tip] = await Promise.all([stateOf(repo, path), readRef(repo, ref)])
  if (found.state === 'ready') {
    if (!tip || found.head !== `ref: ${ref}`) throw inTheWay(path, found.head)
    return { tip, existed: true, emptySubmodules: [] }
  }
  const start = tip ?? (await startOf(repo, from))
  if (found.state !== 'absent' || tip) await clear(repo, path)
  const emptySubmodules = await make(repo, path, `ref: ${ref}`, start)
  return { tip: start, existed: false, emptySubmodules }
}

/** A detached worktree for checks, made once and kept. */
export async function scratchWorktree(repo: Repository, path: string, commit: string): Promise<void> {
  if ((await stateOf(repo, path)).state === 'ready') return
  await clear(repo, path)
  await make(repo, path, commit, commit)
}

/** Exactly the tree of that commit, and whatever it ignores (installed packages) left warm. */
export async function checkoutScratch(path: string, commit: string): Promise<void> {
  await requireWorktree(path)
  await freeLocks(path)
  await checkouts.run(async () => {
    await git(path, ['checkout', '--quiet', '--force', '--detach', commit], { effect: 'git.scratch' })
    await git(path, ['clean', '-ffdq'], { effect: 'git.scratch' })
  })
}

/**
 * Removes a worktree and everything in it, half-made or half-removed ones too. Whoever calls has kept the work.
 * The record goes last: as long as anything is there, it is known to be ours.
 */
export async function removeWorktree(repo: Repository, path: string): Promise<void> {
  const records = (await checkoutsOf(repo)).filter(checkout => checkout.path === path)
  const ours =
    records.every(record => record.gitDir !== repo.commonDir) && (records.length > 0 || (await linksHere(repo, path)))
  if (!ours) {
    if (!(await exists(path))) return dropHalfRecords(repo, path)
    throw new NotAllowed(`${path} is not a worktree that Flotilla made, so it is not removed.`, { facts: { path } })
  }
  await effect('git.worktree-remove', async () => {
    // Out of the way first, at one stroke: half of it would look like a worktree in which files were deleted.
    const gone = `${path}.removing`
    await removeFolder(gone)
    await rename(path, gone).catch(failure => {
      if (failure.code !== 'ENOENT') throw failure
    })
    await removeFolder(gone)
    await dropRecords(records)
    await dropHalfRecords(repo, path)
  })
}

/** What a repository has on record of linked worktrees at a path: one, or none. */
export const recordsOf = async (repo: Repository, path: string): Promise<Checkout[]> =>
  (await checkoutsOf(repo)).filter(checkout => checkout.path === path && checkout.gitDir !== repo.commonDir)

export async function dropRecords(records: readonly Checkout[]): Promise<void> {
  for (const { gitDir } of records) {
    // Git passes over a record without this file, so nobody meets a half-removed one.
    await rm(join(gitDir, 'gitdir'), { force: true })
    await rm(gitDir, { recursive: true, force: true })
  }
}

/** Takes away what an interrupted making or removing left at a path: files nobody worked on, or a record without its folder. */
async function clear(repo: Repository, path: string): Promise<void> {
  if ((await stateOf(repo, path)).state === 'foreign') throw inTheWay(path)
  // A git that outlived the server that started it may still be writing there.
  await freeLocks(path)
  await removeWorktree(repo, path)
}

/**
 * Records of a path that are not linked to it, yet or any more: neither git nor we would find them otherwise. A git
 * that outlived its server even makes one anew, to log what it did.
 */
async function dropHalfRecords(repo: Repository, path: string): Promise<void> {
  const folder = join(repo.commonDir, 'worktrees')
  const names = (await readdir(folder).catch(() => [])).filter(name => name.startsWith(recordName(path)))
  for (const name of names) {
    const record = join(folder, name)
    // Cut short even before it could say what it is for, it has only its name.
    const begunFor = (await readText(join(record, 'locked')))?.trim() || making(path)
    // Cut short in the very write of the link, it is there and empty.
    if (begunFor === making(path) && !(await readText(join(record, 'gitdir')))?.trim())
      await rm(record, { recursive: true, force: true })
  }
}

/** Registers a worktree whose HEAD is `head` and writes the files of `start` into it; on failure nothing is left of it. */
async function make(repo: Repository, path: string, head: string, start: string): Promise<string[]> {
  try {
    const gitDir = (await isPlain(repo))
      ? await register(repo, path, head)
      : await registerWithGit(repo, path, head, start)
    // On a branch without a commit this makes the branch, and it writes the files: one process for both.
    const reset = ['reset', '--hard', '--quiet', '--no-recurse-submodules', start]
    await checkouts.run(() => git(path, reset, { effect: 'git.worktree-checkout' }))
    const emptySubmodules = await fillSubmodules(repo, path)
    await effect('git.worktree-ready', () => unlink(join(gitDir, 'locked')))
    return emptySubmodules
  } catch (failure) {
    await removeWorktree(repo, path).catch(() => {})
    throw failure
  }
}

/**
 * What `git worktree add` writes (gitrepository-layout, "worktrees"), written directly: git takes three processes for
 * it, and races with itself where this does not. The mark comes first, so that nobody prunes the record, and `gitdir`
 * last, since git passes over a record without it.
 */
async function register(repo: Repository, path: string, head: string): Promise<string> {
  const gitDir = await effect('git.worktree-record', async () => {
    await mkdir(path, { recursive: true })
    const record = await freshRecord(join(repo.commonDir, 'worktrees'), recordName(path))
    await writeFile(join(record, 'locked'), `${making(path)}\n`)
    await writeFile(join(record, 'commondir'), '../..\n')
    await writeFile(join(record, 'HEAD'), `${head}\n`)
    return record
  })
  await effect('git.worktree-add', async () => {
    const link = join(await realpath(path), '.git')
    await writeFile(link, `gitdir: ${gitDir}\n`)
    await writeFile(join(gitDir, 'gitdir'), `${link}\n`)
  })
  return gitDir
}

async function freshRecord(folder: string, name: string): Promise<string> {
  await mkdir(folder, { recursive: true })
  for (let n = 1; ; n++) {
    const record = join(folder, n === 1 ? name : `${name}-${n}`)
    const made = await mkdir(record).then(
      () => true,
      failure => failure.code,
    )
    if (made === true) return record
    // Git removes the folder with its last record: make it again.
    if (made === 'ENOENT') await mkdir(folder, { recursive: true })
    else if (made !== 'EEXIST') throw new NotAllowed(`A worktree cannot be made in ${folder}: ${made}.`)
  }
}

/** Repositories whose worktrees hold more than that: other ref storage, or config per worktree (sparse checkouts). */
async function isPlain(repo: Repository): Promise<boolean> {
  const more = await Promise.all(['reftable', 'config.worktree'].map(name => exists(join(repo.commonDir, name))))
  return !more.includes(true)
}

async function registerWithGit(repo: Repository, path: string, head: string, start: string): Promise<string> {
  const branch = head.startsWith('ref: refs/heads/') ? head.slice('ref: refs/heads/'.length) : undefined
  const on = branch ? ['--no-track', '-B', branch] : ['--detach']
  const args = [
    'worktree',
    'add',
    '--quiet',
    '--no-checkout',
    '--lock',
    '--reason',
    making(path),
    ...on,
    '--',
    path,
    start,
  ]
  await turns.take(repo.commonDir, () => git(repo.commonDir, args, { effect: 'git.worktree-add' }))
  const dirs = await gitDirOf(path)
  if (!dirs) throw new NotAllowed(`git made no worktree at ${path}.`)
  return dirs.gitDir
}

type Found = { state: 'absent' | 'half-made' | 'foreign' } | { state: 'ready'; head: string }

/** Half-made: it holds nothing but what git itself was putting there. Foreign: anything else that is no worktree of ours. */
async function stateOf(repo: Repository, path: string): Promise<Found> {
  const entries = await readdir(path).catch(() => undefined)
  if (!entries) return { state: 'absent' }
  const dirs = await gitDirOf(path)
  if (!dirs) return { state: entries.every(name => name === '.git') ? 'half-made' : 'foreign' }
  if ((await realpath(dirs.commonDir)) !== repo.commonDir) return { state: 'foreign' }
  if (await isBeingMade(dirs.gitDir)) return { state: 'half-made' }
  return { state: 'ready', head: (await readText(join(dirs.gitDir, 'HEAD')))?.trim() ?? '' }
}

/** By the record of a worktree: whether nobody can have worked there yet. */
export const isBeingMade = async (gitDir: string): Promise<boolean> =>
  (await readText(join(gitDir, 'locked')))?.startsWith(MAKING) === true

/** A folder that says it belongs to this repository, or one that says nothing: empty, or cut short in the write of its link. */
async function linksHere(repo: Repository, path: string): Promise<boolean> {
  const link = (await readText(join(path, '.git')))?.trim()
  if (link) return link.startsWith(`gitdir: ${repo.commonDir}/worktrees/`)
  return (await readdir(path).catch(() => ['unreadable'])).every(name => name === '.git')
}
