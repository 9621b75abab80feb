import { Unfit } from '../../domain/errors.ts'
import type { Project } from '../../domain/records/project.ts'
import {
  advance,
  branchTip,
  contains,
  fetchTip,
  isAncestor,
  type Remote,
  type Repository,
  remoteOf,
} from '../../git/index.ts'
import { type Fleet, retryOnConflict } from '../fleet.ts'
import { current, put } from '../records.ts'
import { whatIsInTheWay } from './steps.ts'

/** The remote that a project's pull requests are made on. */
export async function requireRemote(repository: Repository, { path, base_branch }: Project): Promise<Remote> {
  const remote = await remoteOf(repository, base_branch)
  if (remote) return remote
  throw new Unfit(`${path} has no remote for a pull request.`, {
    try: 'git remote add origin <address>; of several, name the right one in branch.<base branch>.remote',
  })
}

export interface Followed {
  /** The tip of the remote's base branch; undefined if the remote has no such branch. */
  tip: string | undefined
  /** Why the local base branch did not follow; null if it did. */
  behind: string | null
  /** The local base branch has commits that the remote does not have. */
  ahead: boolean
}

/**
 * Fetches the remote's base branch and moves the local one forward to it, as a landing would. It leaves the uncommitted
 * files of a person alone.
 */
export async function followBase(
  fleet: Fleet,
  project: Project,
  repository: Repository,
  remote: string,
): Promise<Followed> {
  const branch = project.base_branch
  const tip = await fetchTip(repository, remote, branch)
  const here = await branchTip(repository, branch)
  if (!tip || here === tip) return { tip, behind: null, ahead: false }
  if (!here) return { tip, behind: `The base branch ${branch} is gone here.`, ahead: false }
  if (await contains(repository, branch, tip)) return { tip, behind: null, ahead: true }
  if (!(await isAncestor(repository, here, tip)))
    return { tip, behind: `${branch} has commits here that ${remote} does not have.`, ahead: true }
  // Stored first, so that a session that ends at the same time does not blame its agent for the move.
  await retryOnConflict(async () => {
    const { value, version } = await current(fleet, 'projects', project.id)
    await fleet.commit('commit.base-followed', { changes: [put('projects', { ...value, known_tip: tip }, version)] })
  })
  const advanced = await advance(repository, { branch, from: here, to: tip })
  if ('moved' in advanced) return { tip, behind: null, ahead: false }
  const behind = 'blocked' in advanced ? whatIsInTheWay(branch, advanced) : `${branch} was moved here meanwhile.`
  return { tip, behind, ahead: false }
}
