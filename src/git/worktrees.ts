import { readdir, realpath, rename, rm, unlink } from 'node:fs/promises'
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
import { Bound } from './turns.ts'
import { writes } from './writes/index.ts'

/** Kept beside a worktree until it is complete. It tells a half-made one from one with work in it. */
const MAKING = 'flotilla: being made'
const making = (path: string): string => `${MAKING} at ${path}`
const recordName = (path: string): string => slug(basename(path), 'worktree')
/** Writing files takes longest, so a few run at the same time. */
const checkouts = new Bound(4)

export interface NewWorktree {
  path: string
  branch: string
  /** A commit, or a branch whose tip to start from. Ignored if `branch` exists already. */
  from: string
}

export interface Added {
  /** What the branch points to: the commit it started from, unless it existed. */
  tip: string
  existed: boolean
  /** Submodules that could not be filled without the network. */
  emptySubmodules: string[]
}

/** Makes a worktree on a branch, or finds it. Calling it again after a crash gives the same result. */
export async function addWorktree(repo: Repository, { path, branch, from }: NewWorktree): Promise<Added> {
  const ref = `refs/heads/${branch}`
  const [found, tip] = await Promise.all([stateOf(repo, path), readRef(repo, ref)])
  if (found.state === 'ready') {
    if (!tip || found.head !== `ref: ${ref}`) throw inTheWay(path, found.head)
    return { tip, existed: true, emptySubmodules: [] }
  }
  const start = tip ?? (await startOf(repo, from))
  if (found.state !== 'absent' || tip) await clear(repo, path)
  const emptySubmodules = await make(repo, path, branch, start)
  return { tip: start, existed: false, emptySubmodules }
}

/** A detached worktree for checks, made once and kept. */
export async function scratchWorktree(repo: Repository, path: string, commit: string): Promise<void> {
  if ((await stateOf(repo, path)).state === 'ready') return
  await clear(repo, path)
  await make(repo, path, undefined, commit)
}

/** Checks out exactly the tree of that commit and keeps ignored files, such as installed packages, warm. */
export async function checkoutScratch(path: string, commit: string): Promise<void> {
  await requireWorktree(path)
  await freeLocks(path)
  await checkouts.run(async () => {
    await git(path, ['checkout', '--quiet', '--force', '--detach', commit], { effect: 'git.scratch' })
    await git(path, ['clean', '-ffdq'], { effect: 'git.scratch' })
  })
}

/**
 * Removes a worktree and everything in it, even half-made or half-removed ones. The caller has kept the work. The
 * record goes last: as long as anything is there, it is known to be ours.
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
    // It is moved away first in one step: half of it would look like a worktree with deleted files.
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

/** The record of a linked worktree at a path, if there is one. */
export const recordsOf = async (repo: Repository, path: string): Promise<Checkout[]> =>
  (await checkoutsOf(repo)).filter(checkout => checkout.path === path && checkout.gitDir !== repo.commonDir)

export async function dropRecords(records: readonly Checkout[]): Promise<void> {
  for (const { gitDir } of records) {
    // Git ignores a record without this file, so nobody meets a half-removed one.
    await rm(join(gitDir, 'gitdir'), { force: true })
    await rm(gitDir, { recursive: true, force: true })
  }
}

/**
 * Removes what an interrupted making or removing left at a path: files that nobody worked on, or a record without its
 * folder.
 */
async function clear(repo: Repository, path: string): Promise<void> {
  if ((await stateOf(repo, path)).state === 'foreign') throw inTheWay(path)
  // A git that outlived the server that started it may still be writing there.
  await freeLocks(path)
  await removeWorktree(repo, path)
}

/**
 * Removes records of a path that are not linked to it, which neither git nor we would find otherwise. A git that
 * outlived its server even makes a new one for its log.
 */
async function dropHalfRecords(repo: Repository, path: string): Promise<void> {
  const folder = join(repo.commonDir, 'worktrees')
  const names = (await readdir(folder).catch(() => [])).filter(name => name.startsWith(recordName(path)))
  for (const name of names) {
    const record = join(folder, name)
    // If it was interrupted before it could say what it is for, it has only its name.
    const begunFor = (await readText(join(record, 'locked')))?.trim() || making(path)
    // If it was interrupted while the link was written, the link exists and is empty.
    if (begunFor === making(path) && !(await readText(join(record, 'gitdir')))?.trim())
      await rm(record, { recursive: true, force: true })
  }
}

/**
 * Records a worktree on a branch, or on none, and writes the files of `start` into it. If it fails, nothing is left.
 */
async function make(repo: Repository, path: string, branch: string | undefined, start: string): Promise<string[]> {
  try {
    const gitDir = await writes().worktree(repo, { path, name: recordName(path), lock: making(path), branch, start })
    // This one process makes the branch and writes the files.
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

type Found = { state: 'absent' | 'half-made' | 'foreign' } | { state: 'ready'; head: string }

/**
 * Half-made: it holds only what git itself was putting there. Foreign: anything else that is not one of our worktrees.
 */
async function stateOf(repo: Repository, path: string): Promise<Found> {
  const entries = await readdir(path).catch(() => undefined)
  if (!entries) return { state: 'absent' }
  const dirs = await gitDirOf(path)
  if (!dirs) return { state: entries.every(name => name === '.git') ? 'half-made' : 'foreign' }
  if ((await realpath(dirs.commonDir)) !== repo.commonDir) return { state: 'foreign' }
  if (await isBeingMade(dirs.gitDir)) return { state: 'half-made' }
  return { state: 'ready', head: (await readText(join(dirs.gitDir, 'HEAD')))?.trim() ?? '' }
}

/** Whether nobody can have worked in the worktree of this record yet. */
export const isBeingMade = async (gitDir: string): Promise<boolean> =>
  (await readText(join(gitDir, 'locked')))?.startsWith(MAKING) === true

/** Whether a folder belongs to this repository, or does not say: it is empty, or its link was not fully written. */
async function linksHere(repo: Repository, path: string): Promise<boolean> {
  const link = (await readText(join(path, '.git')))?.trim()
  if (link) return link.startsWith(`gitdir: ${repo.commonDir}/worktrees/`)
  return (await readdir(path).catch(() => ['unreadable'])).every(name => name === '.git')
}
