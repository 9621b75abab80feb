import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { usesOf } from '../checkouts.ts'
import { isAncestor } from '../commits.ts'
import { readRef } from '../layout.ts'
import { readPlainFile } from '../plain-files.ts'
import { GitFailed, git, type Within } from '../run.ts'
import { tipOf } from './making.ts'
import { fillModules } from './modules.ts'
import { type Place, projectOf } from './place.ts'
import { writeRef } from './refs.ts'

/** Written by `git reset`. */
const BEFORE = 'ORIG_HEAD'

/**
 * Where we left the branch of the project: at the last commit that we knew. A collection cut short in its middle knows
 * the next one already, and git noted there which it had before.
 */
export function leftAt(place: Place): string[] {
  const before = readPlainFile(join(place.ours, BEFORE))?.toString('latin1').trim()
  return [tipOf(place), ...(before ? [before] : [])]
}

/**
 * Moves the branch of the project to the work, unless it is checked out somewhere: the files there would no longer be
 * those of its commit. One that somebody moved is theirs; the answer is its tip, where that is no part of the work.
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
 * Goes on to what somebody committed on the branch of the project, if that goes on from the work and no file of the
 * worktree is in its way. The answer is where the place is then.
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
  writeFileSync(join(place.ours, 'HEAD'), `${now}\n`)
  await fillModules(place, now, within)
  return now
}
