import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { usesOf } from '../checkouts.ts'
import { isAncestor } from '../commits.ts'
import { readRef } from '../layout.ts'
import { readPlainFile } from '../plain-files.ts'
import { GitFailed, git, type Within } from '../run.ts'
import { writes } from '../writes/index.ts'
import { fillModules } from './modules.ts'
import { ourEnvironment, type Place, projectOf, tipOf } from './place.ts'
import { writeRef } from './project-refs.ts'

/** Written by `git reset`. */
const BEFORE = 'ORIG_HEAD'

/**
 * Where we left the project's branch: at the last commit we knew. An interrupted collection knows the next commit
 * already, and git noted the one before.
 */
export function leftAt(place: Place): string[] {
  const before = readPlainFile(join(place.ours, BEFORE))?.toString('latin1').trim()
  return [tipOf(place), ...(before ? [before] : [])]
}

/**
 * Moves the project's branch to the work, unless it is checked out somewhere, because its files would no longer match.
 * A branch that somebody moved is theirs: the result is its tip, if the work does not include it.
 */
export async function moveBranch(place: Place, tip: string, left: readonly string[]): Promise<string | undefined> {
  const { branch } = place.record
  if (!branch) return undefined
  const repo = projectOf(place)
  const ref = `refs/heads/${branch}`
  const now = await readRef(repo, ref)
  if (now !== tip) {
    if (now && !left.includes(now) && !(await isAncestor(repo, now, tip))) return now
    if ((await usesOf(repo, branch)).length) return undefined
    await writeRef(repo, ref, tip)
  }
  rmSync(join(place.ours, BEFORE), { force: true })
  return undefined
}

/**
 * Follows what somebody committed on the project's branch, if it descends from the work and no file of the worktree is
 * in the way. The result is the new tip of the place.
 */
export async function followBranch(
  place: Place,
  left: readonly string[],
  { env, within }: { env: Record<string, string>; within?: Within },
): Promise<string> {
  const tip = tipOf(place)
  const repo = projectOf(place)
  const now = place.record.branch ? await readRef(repo, `refs/heads/${place.record.branch}`) : undefined
  if (!now || now === tip || left.includes(now) || !(await isAncestor(repo, tip, now))) return tip
  const args = ['read-tree', '-m', '-u', '--no-recurse-submodules', tip, now]
  try {
    await git(place.worktree, args, { effect: 'git.worktree-checkout', env })
  } catch (failure) {
    if (failure instanceof GitFailed) return tip
    throw failure
  }
  await writes().head(place.ours, { commit: now }, ourEnvironment(place))
  await fillModules(place, now, within)
  return now
}
