import { setTimeout as pause } from 'node:timers/promises'
import { usesOf } from './checkouts.ts'
import { exists, type Repository, readRef } from './layout.ts'
import { configEnvironment } from './private/settings.ts'
import { GitFailed, git } from './run.ts'
import { Turns } from './turns.ts'

/**
 * Git reads the index of a checkout before it locks it. Two moves at once could each mistake the other's files for the
 * person's.
 */
const turns = new Turns()

export type Advanced =
  | { moved: true }
  /** The branch has moved from `from`; undefined: it was deleted. */
  | { raced: string | undefined }
  /** Uncommitted files of the person are in the way. None was touched. */
  | { blocked: 'files'; where: string; paths: string[] }
  | { blocked: 'busy'; where: string; doing: string }
  /** Another git command holds a lock. That passes, unless the command was killed. */
  | { blocked: 'locked'; where: string }

export interface Step {
  branch: string
  from: string
  to: string
}

/**
 * Moves a branch forward. If it is checked out, git does it inside that checkout, so that files and branch move
 * together and uncommitted files stay. Only a branch that is not checked out is moved alone.
 */
export function advance(repo: Repository, step: Step): Promise<Advanced> {
  return turns.take(repo.commonDir, () => advanceNow(repo, step))
}

/** A git command of the person's takes some milliseconds, one with hooks a second or two. */
const LOCK_PAUSES_MS = [30, 60, 120, 250, 500, 1000, 1500]

/** Does the same, but waits a few seconds for another git command. */
export async function advanceWhenFree(repo: Repository, step: Step): Promise<Advanced> {
  for (const ms of LOCK_PAUSES_MS) {
    const advanced = await advance(repo, step)
    if (!('blocked' in advanced) || advanced.blocked !== 'locked') return advanced
    await pause(ms)
  }
  return advance(repo, step)
}

async function advanceNow(repo: Repository, step: Step): Promise<Advanced> {
  const ref = `refs/heads/${step.branch}`
  const [tip, uses] = await Promise.all([readRef(repo, ref), usesOf(repo, step.branch)])
  if (tip === step.to) return { moved: true }
  if (tip !== step.from) return { raced: tip }
  const busy = uses.find(use => use.doing)
  if (busy?.doing) return { blocked: 'busy', where: busy.path, doing: busy.doing }
  const [checkout] = uses
  if (checkout && !(await exists(checkout.path))) return { blocked: 'busy', where: checkout.path, doing: 'away' }
  if (checkout) return fastForward(repo, ref, checkout.path, step)
  try {
    await git(repo.commonDir, ['update-ref', '-m', 'flotilla: land', ref, step.to, step.from], {
      effect: 'git.update-ref',
    })
    return { moved: true }
  } catch (failure) {
    if (isLocked(failure)) return { blocked: 'locked', where: repo.path }
    return racedOr(failure, repo, ref, step)
  }
}

const isLocked = (failure: unknown): boolean =>
  failure instanceof GitFailed && /\.lock': File exists/.test(failure.stderr)

// Without --no-overwrite-ignore git replaces an ignored file silently, and autostash would move the person's edits.
const FAST_FORWARD = ['merge', '--ff-only', '--no-overwrite-ignore', '--no-autostash', '--no-stat', '--quiet']

async function fastForward(repo: Repository, ref: string, where: string, step: Step): Promise<Advanced> {
  try {
    // The person's settings for their own merges. Not every option can be turned off by another.
    const env = configEnvironment([[`branch.${step.branch}.mergeOptions`, '']])
    await git(where, [...FAST_FORWARD, step.to], { effect: 'git.fast-forward', env })
    return { moved: true }
  } catch (failure) {
    if (!(failure instanceof GitFailed)) throw failure
    if (isLocked(failure)) return { blocked: 'locked', where }
    const paths = failure.stderr.split('\n').flatMap(line => (line.startsWith('\t') ? [line.slice(1)] : []))
    if (paths.length && (await readRef(repo, ref)) === step.from) return { blocked: 'files', where, paths }
    return racedOr(failure, repo, ref, step)
  }
}

async function racedOr(failure: unknown, repo: Repository, ref: string, step: Step): Promise<Advanced> {
  const tip = await readRef(repo, ref)
  if (tip === step.to) return { moved: true }
  if (tip !== step.from) return { raced: tip }
  throw failure
}
