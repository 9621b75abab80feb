import { existsSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { NotAllowed, NotFound } from '../../domain/errors.ts'
import { moreToCome, operationIn, usesOf } from '../checkouts.ts'
import { commitTree, isAncestor } from '../commits.ts'
import { readRef } from '../layout.ts'
import { GitFailed, git, gitText, type Within } from '../run.ts'
import { sift, stage } from '../status.ts'
import { writes } from '../writes/index.ts'
import { placeStatus } from './below.ts'
import { leftAt, moveBranch } from './branch.ts'
import { fillModules } from './modules.ts'
import { ourEnvironment, type Place, placeAt, projectOf, tipOf } from './place.ts'
import { fileEnvironment } from './programs.ts'
import { writeRef } from './project-refs.ts'
import { seal, setSession } from './sealing.ts'
import { keptUnder } from './taking-in.ts'

export interface MoveOn {
  worktree: string
  /** The commit that the worktree gets. It continues the work that is there. */
  to: string
  /** Files, or folders, that must not be committed: copied secrets. */
  never?: readonly string[]
  /** The sandbox of the agent that works there. */
  within?: Within
}

const SET_ASIDE = 'Set aside\n\nThe files of the worktree before a person’s edit replaced them.\n'

/**
 * Puts a worktree and its branch at a commit that a person made from its work. A merge under way there is given up.
 * Files that no commit has are kept under a ref, which is the result.
 */
export async function moveOn(wanted: MoveOn): Promise<string | undefined> {
  const { worktree, to, within } = wanted
  const place = placeAt(worktree)
  if (!place)
    throw new NotAllowed('This mission works in a linked worktree, which only its own git may change.', {
      try: `Make the change in ${worktree}`,
    })
  if (!existsSync(worktree)) throw new NotFound('worktree', worktree)
  await requireFree(place, to)
  const env = await fileEnvironment(place, { within })
  rmSync(join(place.ours, 'index.lock'), { force: true })
  const { tree, kept } = await setAside(place, wanted, env)
  try {
    const args = ['read-tree', '-m', '-u', '--no-recurse-submodules', tree, to]
    await git(worktree, args, { effect: 'git.worktree-checkout', env })
  } catch (failure) {
    if (!(failure instanceof GitFailed)) throw failure
    throw new NotAllowed(`Files in ${worktree} are in the way of this change.`, {
      try: 'Move or commit them there',
      cause: failure,
    })
  }
  const left = leftAt(place)
  await writes().head(place.ours, { commit: to }, ourEnvironment(place))
  await fillModules(place, to, within)
  await moveBranch(place, to, left)
  await seal(place, { walled: within !== undefined })
  await setSession(place, to)
  return kept
}

async function requireFree(place: Place, to: string): Promise<void> {
  const { worktree, git: gitDir, record } = place
  const doing = (await moreToCome(gitDir)) ?? (await operationIn(gitDir))
  if (doing && doing !== 'merge')
    throw new NotAllowed(`A ${doing} is under way in ${worktree}.`, { try: 'Finish it or abort it there' })
  if (!record.branch) return
  const repo = projectOf(place)
  const [use] = await usesOf(repo, record.branch)
  if (use)
    throw new NotAllowed(`The branch ${record.branch} is checked out in ${use.path}.`, {
      try: 'Commit the change there, or check out another branch there',
    })
  const now = await readRef(repo, `refs/heads/${record.branch}`)
  if (now && !leftAt(place).includes(now) && !(await isAncestor(repo, now, to)))
    throw new NotAllowed(
      `The branch ${record.branch} was moved to ${now.slice(0, 12)}, which is not part of this work.`,
    )
}

/** The files as a tree, with the ref that keeps those which differ from the last commit. */
async function setAside(
  place: Place,
  { worktree, never }: MoveOn,
  env: Record<string, string>,
): Promise<{ tree: string; kept?: string }> {
  const { changed } = await placeStatus(place, env)
  const { take } = await sift({ worktree, never }, changed)
  if (take.length) await stage(worktree, take, env)
  const tree = await gitText(worktree, ['write-tree'], { env })
  if (!take.length) return { tree }
  const repo = projectOf(place)
  const oid = await commitTree(repo, { tree, parents: [tipOf(place)], message: SET_ASIDE })
  const kept = `${keptUnder(place.record.session)}/set-aside/${oid.slice(0, 12)}`
  await writeRef(repo, kept, oid)
  return { tree, kept }
}
