import { setTimeout as pause } from 'node:timers/promises'
import { InvalidInput, NotAllowed, Refusal, Unreachable } from '../../domain/errors.ts'
import type { LandingCommit, PullRequest } from '../../domain/records/mission.ts'
import type { Project } from '../../domain/records/project.ts'
import { unapprovedAmong } from '../../domain/rules/candidate.ts'
import * as life from '../../domain/rules/life.ts'
import * as pulls from '../../domain/rules/pull-request.ts'
import { GitFailed, pushCommit, type Remote, remoteTip } from '../../git/index.ts'
import type { Fleet } from '../fleet.ts'
import { includedIn } from '../landing/included.ts'
import { mergeRound } from '../landing/merge-round.ts'
import { prepare } from '../landing/rounds.ts'
import { refuse, type Work } from '../landing/steps.ts'
import { followBase, requireRemote } from '../landing/upstream.ts'
import { repositoryOf } from '../projects/repositories.ts'
import { newestReport } from '../records.ts'
import { sentence } from '../sentences.ts'
import { openPullRequest, pullRequestsOf, requireGh, type Seen, seePullRequest } from './github.ts'
import { changeWithPullRequest, heed, nextLook, remains, standingOf } from './pull-requests.ts'

/** The network may fail for a moment. A person is told when it does not come back soon. */
const PAUSES_MS = [1000, 4000]

/** Refuses early where no pull request can be made, before any work is done. */
export async function requirePullRequests(fleet: Fleet, project: Project): Promise<void> {
  if (project.worktree === 'none')
    throw new InvalidInput('landing', `${project.path} is not a repository, so no pull request can be made there`)
  await requireRemote(await repositoryOf(project), project)
  await requireGh(fleet)
}

/**
 * Lands by a pull request: pushes the work to a branch of the remote, where others decide. The intent is written down
 * before the push. After a crash the remote is asked whether the push and the pull request are there already.
 */
export async function landByPullRequest(fleet: Fleet, work: Work): Promise<void> {
  const { mission, project, repository, signal } = work
  await requireGh(fleet)
  const remote = await requireRemote(repository, project)
  const open = mission.pull_request?.state === 'open' ? mission.pull_request : undefined
  if (open?.work === work.candidate) return askAtOnce(fleet, work, remote, open)
  const seen = open && (await seenNow(fleet, work, remote, open))
  const base = await tried(signal, () => followBase(fleet, project, repository, remote.name))
  if (!base.tip)
    return refuse(fleet, mission.id, {
      code: 'base_gone',
      text: `${remote.name} has no branch ${project.base_branch}, so no pull request can be made for it.`,
      try: `git push ${remote.name} ${project.base_branch}, then fleet land ${mission.id}`,
    })
  if (base.ahead)
    return refuse(fleet, mission.id, {
      code: 'base_unpushed',
      text: `${project.base_branch} has commits that ${remote.name} does not have; they would be part of the pull request.`,
      try: `Push them, or take them off ${project.base_branch}, then fleet land ${mission.id}`,
    })
  const where = { project, repository, base: base.tip, candidate: work.candidate }
  const unapproved = unapprovedAmong(await includedIn(fleet, mission, where))
  if (unapproved) return refuse(fleet, mission.id, unapproved)
  const landing = await prepare(fleet, mergeRound(fleet, work), base.tip)
  if (!landing) return
  const pr = await push(fleet, work, { remote, landing, update: seen?.state === 'OPEN' })
  const there = await tried(signal, () => theirs(fleet, work, remote, pr))
  await changeWithPullRequest(fleet, mission.id, (m, by) => {
    const made = { ...pr, state: 'open' as const, url: there.url, number: there.number }
    if (m.cancel_requested) return life.cancelled({ ...m, pull_request: made }, by)
    // It may have been merged or closed since, so GitHub is asked at once.
    const look_at = there.state === 'OPEN' ? nextLook(fleet, by) : by.now
    return pulls.opened(m, { ...made, look_at }, standingOf(there), by)
  })
}

/**
 * The work is unchanged, so the person wants the state of the pull request. If GitHub does not answer, it is asked
 * later.
 */
async function askAtOnce(fleet: Fleet, work: Work, remote: Remote, pr: PullRequest): Promise<void> {
  let seen: Seen
  try {
    seen = await seenNow(fleet, work, remote, pr)
  } catch (error) {
    if (!(error instanceof Refusal)) throw error
    return remains(fleet, work.mission, { ...pulls.JUST_OPEN, notAnswered: sentence(error) })
  }
  return heed(fleet, work, remote, seen)
}

const seenNow = (fleet: Fleet, { signal }: Work, remote: Remote, pr: PullRequest): Promise<Seen> =>
  tried(signal, () => seePullRequest(fleet, remote.address, pr.number!))

interface Push {
  remote: Remote
  landing: LandingCommit
  /** The pull request is open and gets the new work. */
  update: boolean
}

async function push(fleet: Fleet, work: Work, { remote, landing, update }: Push): Promise<PullRequest> {
  const { mission, session, repository, signal } = work
  const earlier = mission.pull_request
  const goesOn = update || earlier?.state === 'opening'
  const branch = earlier && goesOn ? earlier.branch : session.branch!
  const { commit } = landing
  const seen = await tried(signal, () => remoteTip(repository, remote.name, branch))
  const before = mission.pushed?.branch === branch ? [mission.pushed.commit] : []
  const ours = [commit, ...before, ...(earlier?.branch === branch ? [earlier.commit, earlier.pushed] : [])]
  if (seen && !ours.includes(seen))
    throw new NotAllowed(`The branch ${branch} of ${remote.name} was changed by someone else, to ${seen}.`, {
      try: `Take what is there into ${mission.branch}, or delete it there`,
    })
  const pr: PullRequest = {
    state: 'opening',
    url: earlier?.url ?? null,
    number: earlier?.number ?? null,
    branch,
    commit,
    pushed: seen ?? null,
    work: work.candidate,
    merge_commit: null,
    look_at: null,
    unanswered: 0,
    checks: [],
  }
  await changeWithPullRequest(fleet, mission.id, m => ({ mission: { ...m, pull_request: pr }, events: [] }))
  await tried(signal, async () => {
    // A push that failed or was cut off may still have arrived.
    if ((await remoteTip(repository, remote.name, branch)) === commit) return
    await pushCommit(repository, { remote: remote.name, branch, commit, seen })
  })
  return { ...pr, pushed: commit }
}

/** The pull request of what was pushed: an existing one, even if a crash followed its making, or a new one. */
async function theirs(fleet: Fleet, { mission, project }: Work, remote: Remote, pr: PullRequest): Promise<Seen> {
  const all = await pullRequestsOf(fleet, remote.address, pr.branch)
  const open = all.find(each => each.state === 'OPEN')
  // A known number belongs to a pull request that was closed or merged before.
  const there = open ?? all.find(each => each.headRefOid === pr.commit && each.number > (pr.number ?? 0))
  if (there) return there
  const checks = mission.forced ? [] : project.checks.map(check => check.name)
  const text = pulls.proposalOf(mission, await newestReport(fleet, mission.id), checks)
  const proposal = { head: pr.branch, base: project.base_branch, ...text }
  return seePullRequest(fleet, remote.address, await openPullRequest(fleet, remote.address, proposal))
}

/** Tries again a few times where the network may fail. */
async function tried<T>(signal: AbortSignal, act: () => Promise<T>): Promise<T> {
  for (const ms of PAUSES_MS) {
    try {
      return await act()
    } catch (error) {
      if (!(error instanceof Unreachable || error instanceof GitFailed)) throw error
      await pause(ms, undefined, { signal })
    }
  }
  return act()
}
