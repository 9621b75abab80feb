import type { LandingCommit, Mission, StatusReason } from '../../domain/records/mission.ts'
import type { Project } from '../../domain/records/project.ts'
import { unapprovedAmong } from '../../domain/rules/candidate.ts'
import { effective } from '../../domain/rules/effective.ts'
import * as landings from '../../domain/rules/landing.ts'
import * as life from '../../domain/rules/life.ts'
import { landsByPullRequest } from '../../domain/rules/pull-request.ts'
import { type Advanced, advanceWhenFree, branchTip, contains, placeAt, tellBase } from '../../git/index.ts'
import type { Change } from '../../store/index.ts'
import { defaultsOf, liveSessions } from '../dispatch/capacity.ts'
import { type Fleet, retryOnConflict } from '../fleet.ts'
import { objectionToLanding } from '../plugins/gate.ts'
import { propose } from '../pull-requests/open-pull-request.ts'
import { current, put } from '../records.ts'
import { sentence } from '../sentences.ts'
import { bringAlong } from './brought-along.ts'
import { runChecks } from './checks.ts'
import { includedIn } from './included.ts'
import { movedUnderSession } from './review-reasons.ts'
import {
  decide,
  noteLanding,
  prepare,
  read,
  refuse,
  roundsOf,
  since,
  stepAside,
  type Work,
  wantsCancel,
  whatIsInTheWay,
} from './steps.ts'

/**
 * Brings one mission's work onto the base branch. Every way out is a commit; a crash anywhere is taken up by calling it
 * again. A number: it waits for something that passes, and wants another look after so many milliseconds.
 */
export async function landMission(fleet: Fleet, missionId: string, signal: AbortSignal): Promise<number | undefined> {
  const work = await read(fleet, missionId, signal)
  if (work.mission.status !== 'landing') return undefined
  try {
    if (await alreadyThere(fleet, work)) return undefined
    if (work.mission.cancel_requested) return void (await decide(fleet, missionId, life.cancelled))
    const { landing } = effective(work.mission, work.project, defaultsOf(fleet))
    if (landing === 'never' && !work.mission.approval) return void (await checkKept(fleet, work))
    const objection = work.mission.approval ? undefined : await objectionToLanding(fleet, work)
    if (objection) return void (await refuse(fleet, missionId, objection))
    if (!landsByPullRequest(work.mission, work.project)) return await attempt(fleet, work)
    await propose(fleet, work)
  } catch (error) {
    if (signal.aborted && !(await wantsCancel(fleet, missionId))) return undefined
    await decide(fleet, missionId, (mission, by) => {
      if (mission.cancel_requested) return life.cancelled(mission, by)
      const text = `Landing failed: ${sentence(error)}`
      return life.toReview(mission, { code: 'landing_failed', text, try: `fleet mission land ${mission.id}` }, by)
    })
  }
}

/** Work that stays on its branch, and is done only if the checks pass there. */
async function checkKept(fleet: Fleet, work: Work): Promise<void> {
  const { mission, candidate, project, repository, signal } = work
  const subject = { mission, project, repository, commit: candidate, candidate, since: since(mission), signal }
  const failure = await runChecks(fleet, { ...subject, purpose: 'landing' })
  if (signal.aborted && !(await wantsCancel(fleet, mission.id))) return
  await decide(fleet, mission.id, (m, by) => {
    if (m.cancel_requested) return life.cancelled(m, by)
    if (!failure) return life.done(m, 'kept', by)
    return life.failed(m, { code: 'checks_failed', text: failure.text, try: `fleet mission resume ${m.id}` }, by)
  })
}

/** After a crash: the branch may have moved although nobody wrote down that it did. */
async function alreadyThere(fleet: Fleet, work: Work): Promise<boolean> {
  const { landing_commit: landing } = work.mission
  if (!landing?.checked || !(await contains(work.repository, landing.branch, landing.commit))) return false
  await landed(fleet, work, landing)
  return true
}

async function attempt(fleet: Fleet, work: Work): Promise<number | undefined> {
  const { mission, candidate, project, repository } = work
  const branch = project.base_branch
  const no = (why: StatusReason): Promise<undefined> => refuse(fleet, mission.id, why).then(() => undefined)
  for (let round = 1; round <= roundsOf(project); round++) {
    const base = await branchTip(repository, branch)
    if (!base)
      return no({
        code: 'base_gone',
        text: `The base branch ${branch} is gone.`,
        try: `fleet project set ${project.id} --base <branch>, then fleet mission land ${mission.id}`,
      })
    if (!mission.approval && (await movedUnderSession({ fleet, project, repository }, base)))
      return no({
        code: 'base_moved',
        text: `${branch} was moved to ${base} while agents were at work, not by Flotilla and not in a checkout of it.`,
        try: `git log ${base}, then fleet mission land ${mission.id}`,
      })
    const unapproved = unapprovedAmong(await includedIn(fleet, mission, { project, repository, base, candidate }))
    if (unapproved) return no(unapproved)
    const landing = await prepare(fleet, work, base)
    if (!landing) return undefined
    await noteLanding(fleet, mission.id, { ...landing, checked: true })
    const advanced = await advanceWhenFree(repository, { branch, from: base, to: landing.commit })
    if ('moved' in advanced) return landed(fleet, work, landing).then(() => undefined)
    if ('blocked' in advanced) return inTheWay(fleet, mission, project, advanced)
  }
  const why = {
    code: 'base_busy',
    text: `${branch} keeps moving while this is being landed; it is tried again when that rests.`,
    try: `fleet mission land ${mission.id}`,
  }
  return stepAside(fleet, mission.id, why, (m, by) => life.toReview(m, why, by))
}

async function inTheWay(
  fleet: Fleet,
  mission: Mission,
  project: Project,
  advanced: Extract<Advanced, { blocked: string }>,
): Promise<number | undefined> {
  const text = whatIsInTheWay(project.base_branch, advanced)
  const why = { code: 'in_the_way', text, try: `Commit, move or finish that, then fleet mission land ${mission.id}` }
  const wait = (m: Mission, by: life.By) => life.toPerson(m, why, by, 'landing_waits')
  if (advanced.blocked === 'locked') return stepAside(fleet, mission.id, why, wait)
  await decide(fleet, mission.id, wait)
  return undefined
}

async function landed(fleet: Fleet, work: Work, { checked: _, ...landing }: LandingCommit): Promise<void> {
  const brought = await bringAlong(fleet, work, landing)
  await retryOnConflict(async () => {
    const mission = await current(fleet, 'missions', work.mission.id)
    const project = await current(fleet, 'projects', work.project.id)
    const step = landings.landed(mission.value, brought, { actor: 'fleet', now: fleet.now() })
    const changes: Change[] = [
      put('missions', step.mission, mission.version),
      put('projects', { ...project.value, known_tip: landing.commit }, project.version),
    ]
    await fleet.commit('commit.landed', { changes, events: step.events })
  })
  await tellSessions(fleet, work)
}

/** Agents at work see the base branch as it is now. One that cannot be told knows no less than before. */
async function tellSessions(fleet: Fleet, { project, repository }: Work): Promise<void> {
  const places = (await liveSessions(fleet))
    .filter(({ project_id, worktree }) => project_id === project.id && worktree)
    .flatMap(({ worktree }) => placeAt(worktree!) ?? [])
  await Promise.allSettled(places.map(place => tellBase(place, repository)))
}
