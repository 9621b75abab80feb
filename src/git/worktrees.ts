import { readdir, realpath, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { NotAllowed } from '../domain/errors.ts'
import { checkoutsOf, exists, gitDirOf, type Repository, readRef, readText } from './layout.ts'
import { freeLocks } from './locks.ts'
import { GitFailed, git } from './run.ts'
import { fillSubmodules } from './submodules.ts'
import { Bound, Turns } from './turns.ts'

/** `git worktree add` races with itself over the shared folder, so its short metadata step is taken in turns. */
const turns = new Turns()
/** Git keeps this word beside a worktree until it is whole; it is what tells a half-made one from one with work in it. */
const MAKING = 'flotilla: being made'
const LOCK = ['--lock', '--reason', MAKING]
/** Writing files is the long step: side by side, but not all at once. */
const checkouts = new Bound(4)

export interface NewWorktree {
  path: string
  branch: string
  /** A commit, or a branch to start at the tip of. Not needed where `branch` exists already. */
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
export async function addWorktree(repo: Repository, wanted: NewWorktree): Promise<Added> {
  const ref = `refs/heads/${wanted.branch}`
  const found = await stateOf(repo, wanted.path)
  if (found.state === 'ready') {
    if (found.branch !== ref) throw taken(wanted.path, found.branch)
    return { tip: await tipOf(repo, wanted.branch), existed: true, emptySubmodules: [] }
  }
  if (found.state === 'foreign') throw taken(wanted.path)
  if (found.state === 'half-made') await removeWorktree(repo, wanted.path)

  await turns.take(repo.commonDir, () => addMetadata(repo, wanted))
  await checkouts.run(() =>
    git(wanted.path, ['reset', '--hard', '--quiet', '--no-recurse-submodules'], { effect: 'git.worktree-checkout' }),
  )
  const emptySubmodules = await fillSubmodules(repo, wanted.path)
  await markMade(wanted.path)
  return { tip: await tipOf(repo, wanted.branch), existed: false, emptySubmodules }
}

/** `--no-track` keeps git from writing the shared config, which races too. */
async function addMetadata(repo: Repository, { path, branch, from }: NewWorktree): Promise<void> {
  const branchExists = (await readRef(repo, `refs/heads/${branch}`)) !== undefined
  // Twice -f: the folder that git remembers for the branch is gone and may still be marked as being made.
  const where = branchExists ? ['-f', '-f', '--', path, branch] : ['--no-track', '-b', branch, '--', path, from]
  const args = ['worktree', 'add', '--quiet', '--no-checkout', ...LOCK, ...where]
  await whileOthersAdd(() => git(repo.commonDir, args, { effect: 'git.worktree-add' }))
}

/** A detached worktree for checks, made once and kept. */
export async function scratchWorktree(repo: Repository, path: string, commit: string): Promise<void> {
  const found = await stateOf(repo, path)
  if (found.state === 'ready') return
  if (found.state === 'foreign') throw taken(path)
  if (found.state === 'half-made') await removeWorktree(repo, path)
  const args = ['worktree', 'add', '--quiet', '--no-checkout', ...LOCK, '--detach', '-f', '-f', '--', path, commit]
  await turns.take(repo.commonDir, () => whileOthersAdd(() => git(repo.commonDir, args, { effect: 'git.scratch' })))
  await checkoutScratch(path, commit)
  await fillSubmodules(repo, path)
  await markMade(path)
}

/** Exactly the tree of that commit, and whatever it ignores (installed packages) left warm. */
export async function checkoutScratch(path: string, commit: string): Promise<void> {
  await freeLocks(path)
  await checkouts.run(async () => {
    await git(path, ['checkout', '--quiet', '--force', '--detach', commit], { effect: 'git.scratch' })
    await git(path, ['clean', '-ffdq'], { effect: 'git.scratch' })
  })
}

/** Removes a worktree and everything in it, half-made or half-removed ones too. Whoever calls has kept the work. */
export async function removeWorktree(repo: Repository, path: string): Promise<void> {
  // Forced twice: with submodules, locked, or dirty.
  const args = ['worktree', 'remove', '-f', '-f', '--', path]
  await turns.take(repo.commonDir, async () => {
    try {
      await whileOthersAdd(() => git(repo.commonDir, args, { effect: 'git.worktree-remove' }))
    } catch (failure) {
      if (!(failure instanceof GitFailed)) throw failure
      if (await exists(path)) {
        if ((await gitDirOf(path)) || !(await isKnown(repo, path))) throw failure
        await rm(path, { recursive: true, force: true })
      }
      // Fails where nothing is left of it, which is what was wanted.
      await git(repo.commonDir, args, { effect: 'git.worktree-remove', answers: [128] })
    }
  })
}

type Found = { state: 'absent' | 'half-made' | 'foreign' } | { state: 'ready'; branch: string | undefined }

/** Half-made: it holds nothing but what git itself was putting there. Foreign: anything else that is no worktree of ours. */
async function stateOf(repo: Repository, path: string): Promise<Found> {
  const entries = await readdir(path).catch(() => undefined)
  if (!entries) return { state: 'absent' }
  const dirs = await gitDirOf(path)
  if (!dirs) return { state: entries.every(name => name === '.git') ? 'half-made' : 'foreign' }
  if ((await realpath(dirs.commonDir)) !== repo.commonDir) return { state: 'foreign' }
  if ((await readText(join(dirs.gitDir, 'locked')))?.trim() === MAKING) return { state: 'half-made' }
  const head = (await readText(join(dirs.gitDir, 'HEAD')))?.trim()
  return { state: 'ready', branch: head?.startsWith('ref: ') ? head.slice('ref: '.length) : undefined }
}

async function markMade(path: string): Promise<void> {
  const dirs = await gitDirOf(path)
  if (dirs) await rm(join(dirs.gitDir, 'locked'), { force: true })
}

/** A half-removed worktree has lost its link or its record, never both at once; anything else at that path is not ours. */
async function isKnown(repo: Repository, path: string): Promise<boolean> {
  const link = await readText(join(path, '.git'))
  if (link?.startsWith(`gitdir: ${repo.commonDir}/worktrees/`)) return true
  return (await checkoutsOf(repo)).some(checkout => checkout.path === path && checkout.gitDir !== repo.gitDir)
}

/** Someone's own `git worktree add` in the same instant shows up half-written; a moment later it is whole. */
async function whileOthersAdd<T>(run: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await run()
    } catch (failure) {
      const passing =
        failure instanceof GitFailed &&
        /worktrees\/.*(commondir|gitdir)|could not create directory/.test(failure.stderr)
      if (!passing || attempt === 3) throw failure
    }
  }
}

async function tipOf(repo: Repository, branch: string): Promise<string> {
  const tip = await readRef(repo, `refs/heads/${branch}`)
  if (!tip) throw new NotAllowed(`The branch ${branch} is gone from ${repo.path}.`)
  return tip
}

const taken = (path: string, by?: string): NotAllowed =>
  new NotAllowed(`${path} is in the way of a new worktree: ${by ? `it is on ${by}` : 'something else is there'}.`, {
    try: 'Move it elsewhere and try again.',
    facts: { path },
  })
