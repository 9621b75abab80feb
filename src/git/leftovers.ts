import { NotFound } from '../domain/errors.ts'
import { moreToCome, type Operation, operationIn } from './checkouts.ts'
import { COMMIT, type Collected, conflictsMet, knownChanges, type Leftovers, withMarkers } from './collected.ts'
import { asSomeone, isAncestor } from './commits.ts'
import { type Repository, readRef, requireWorktree } from './layout.ts'
import { freeLocks } from './locks.ts'
import { shownName } from './names.ts'
import { collectPlace } from './private/collecting.ts'
import { placeAt } from './private/place.ts'
import { git } from './run.ts'
import { readStatus, sift, stage, unstage, type WorktreeStatus } from './status.ts'

/**
 * Commits what an agent left uncommitted. A merge, cherry-pick or revert without conflict markers is concluded. One
 * with markers, or one that needs more than that commit, is left alone. Work on another branch or a detached HEAD is
 * brought onto our branch if it descends from it.
 */
export async function commitLeftovers(wanted: Leftovers): Promise<Collected> {
  const place = placeAt(wanted.worktree)
  return place ? collectPlace(place, wanted) : collectLinked(wanted)
}

async function collectLinked(wanted: Leftovers): Promise<Collected> {
  const { worktree, branch } = wanted
  const dirs = await requireWorktree(worktree)
  await freeLocks(worktree, branch)
  const [status, doing] = await Promise.all([readStatus(worktree), operationIn(dirs.gitDir)])
  const left = (operation: Operation | 'work on another branch', paths: string[]) =>
    leftAlone(dirs, branch, { doing: operation, paths: paths.map(shownName) })

  const midway = await moreToCome(dirs.gitDir)
  if (midway) return left(midway, status.unmerged)
  const marked = withMarkers(worktree, [...new Set([...status.unmerged, ...conflictsMet(dirs.gitDir)])])
  if (marked.length) return left(doing ?? 'merge', marked)
  if (status.head !== branch && !(await bringHome(worktree, dirs, branch, status)))
    return left(
      'work on another branch',
      status.changed.map(change => change.path),
    )

  const { take, skipped: sifted, left: leftOut } = await sift(wanted, status.changed)
  const staged = status.changed.some(change => change.staged)
  const conclude = doing !== undefined
  if (!take.length && !staged && !conclude) return { tip: status.oid, committed: false, skipped: sifted }

  await unstage(worktree, leftOut, status.changed)
  const { taken, skipped: unread } = await stage(worktree, take)
  const skipped = [...sifted, ...unread]
  if (!conclude && !taken.length && !(await hasStaged(worktree))) return { tip: status.oid, committed: false, skipped }
  await asSomeone(worktree, COMMIT, { effect: 'git.commit', input: wanted.message })
  const tip = (await readRef(dirs, `refs/heads/${branch}`)) ?? status.oid
  const changes = status.oid === wanted.start && !conclude ? knownChanges(taken, tip, wanted.message) : undefined
  return { tip, committed: true, skipped, ...(changes ? { changes } : {}) }
}

async function hasStaged(worktree: string): Promise<boolean> {
  return (await git(worktree, ['diff-index', '--cached', '--quiet', 'HEAD'], { answers: [1] })).exit === 1
}

type Dirs = Pick<Repository, 'gitDir' | 'commonDir'>

/**
 * Moves our branch to the agent's HEAD if that descends from it, and puts HEAD on our branch. The agent's own branch
 * stays where it is: it may not be ours to move.
 */
async function bringHome(worktree: string, dirs: Dirs, branch: string, status: WorktreeStatus): Promise<boolean> {
  const ref = `refs/heads/${branch}`
  const ours = await readRef(dirs, ref)
  if (status.oid === '(initial)') return false
  const repo = { path: worktree, bare: false, ...dirs }
  if (ours && !(await isAncestor(repo, ours, status.oid))) return false
  await git(worktree, ['update-ref', ref, status.oid, ours ?? ''], { effect: 'git.update-ref' })
  await git(worktree, ['symbolic-ref', 'HEAD', ref], { effect: 'git.update-ref' })
  return true
}

async function leftAlone(
  dirs: Dirs,
  branch: string,
  unfinished: NonNullable<Collected['unfinished']>,
): Promise<Collected> {
  const tip = await readRef(dirs, `refs/heads/${branch}`)
  if (!tip) throw new NotFound('branch', branch)
  return { tip, committed: false, skipped: [], unfinished }
}
