import { isOfTheStore } from '../../domain/errors.ts'
import type { LandingCommit, Mission, StatusReason } from '../../domain/records/mission.ts'
import type { Project } from '../../domain/records/project.ts'
import { unapprovedAmong } from '../../domain/rules/candidate.ts'
import * as landings from '../../domain/rules/landing.ts'
import * as life from '../../domain/rules/life.ts'
import { type Advanced, placeAt, tellBase } from '../../git/index.ts'
import { secondsBetween } from '../../platform/measurements.ts'
import type { Change } from '../../store/index.ts'
import { liveSessions } from '../dispatch/capacity.ts'
import { type Fleet, retryOnConflict } from '../fleet.ts'
import { objectionToLanding } from '../plugins/gate.ts'
import { landByPullRequest } from '../pull-requests/open-pull-request.ts'
import { current, put } from '../records.ts'
import { sentence } from '../sentences.ts'
import { bringAlong } from './brought-along.ts'
import { runChecks } from './checks.ts'
import { includedIn } from './included.ts'
import { mergeRound } from './merge-round.ts'
import { movedUnderSession } from './review-reasons.ts'
import { hasMoved, moveBranch, type Round } from './rounds.ts'
import { decide, read, refuse, since, stepAside, type Work, wantsCancel, whatIsInTheWay } from './steps.ts'

/**
 * Brings one mission's work onto the base branch. Every way out is a commit, so after a crash it is called again. If it
 * waits for something that passes by itself, it returns after how many milliseconds to look again.
 */
export async function landMission(fleet: Fleet, missionId: string, signal: AbortSignal): Promise<number | undefined> {
  const work = await read(fleet, missionId, signal)
  if (work.mission.status !== 'landing') return undefined
  try {
    const { landing_commit: noted } = work.mission
    if (await hasMoved(work, noted)) return void (await landed(fleet, work, noted!))
    if (work.mission.cancel_requested) return void (await decide(fleet, missionId, life.cancelled))
    const way = landings.landingWay(work.mission, work.project)
    if (way === 'keep') return void (await checkKept(fleet, work))
    const objection = work.mission.approval ? undefined : await objectionToLanding(fleet, work)
    if (objection) return void (await refuse(fleet, missionId, objection))
    if (way === 'merge') return await attempt(fleet, work)
    await landByPullRequest(fleet, work)
  } catch (error) {
    if (isOfTheStore(error)) throw error
    if (signal.aborted && !(await wantsCancel(fleet, missionId))) return undefined
    await decide(fleet, missionId, (mission, by) => {
      if (mission.cancel_requested) return life.cancelled(mission, by)
      const text = `Landing failed: ${sentence(error)}`
      return life.toReview(mission, { code: 'landing_failed', text, try: `fleet land ${mission.id}` }, by)
    })
  }
}

/** Checks work that stays on its branch. The mission is done only if they pass. */
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

async function attempt(fleet: Fleet, work: Work): Promise<number | undefined> {
  const { mission, project } = work
  const branch = project.base_branch
  const outcome = await moveBranch(fleet, landingRound(fleet, work))
  if (outcome === 'decided') return undefined
  if (outcome === 'branch gone')
    return void (await refuse(fleet, mission.id, {
      code: 'base_gone',
      text: `The base branch ${branch} is gone.`,
      try: `fleet project set ${project.id} --base <branch>, then fleet land ${mission.id}`,
    }))
  if (outcome === 'branch busy') {
    const why = {
      code: 'base_busy',
      text: `${branch} moved each time this was about to land. Flotilla tries again later.`,
      try: `fleet land ${mission.id}`,
    }
    return stepAside(fleet, mission.id, why, (m, by) => life.toReview(m, why, by))
  }
  if ('blocked' in outcome) return inTheWay(fleet, mission, project, outcome)
  await landed(fleet, work, outcome.moved)
}

/** Refuses unapproved work of others, and a branch that an agent at work may have moved. */
function landingRound(fleet: Fleet, work: Work): Round {
  const round = mergeRound(fleet, work)
  return {
    ...round,
    async make(base) {
      const objection = await objectionTo(fleet, work, base)
      return objection ? void (await refuse(fleet, work.mission.id, objection)) : round.make(base)
    },
  }
}

async function objectionTo(fleet: Fleet, work: Work, base: string): Promise<StatusReason | undefined> {
  const { mission, candidate, project, repository } = work
  if (!mission.approval && (await movedUnderSession({ fleet, project, repository }, base)))
    return {
      code: 'base_moved',
      text: `${project.base_branch} was moved to ${base} while agents were at work, not by Flotilla and not in a checkout of it.`,
      try: `git log ${base}, then fleet land ${mission.id}`,
    }
  return unapprovedAmong(await includedIn(fleet, mission, { project, repository, base, candidate }))
}

async function inTheWay(
  fleet: Fleet,
  mission: Mission,
  project: Project,
  advanced: Extract<Advanced, { blocked: string }>,
): Promise<number | undefined> {
  const text = whatIsInTheWay(project.base_branch, advanced)
  const why = { code: 'in_the_way', text, try: `Commit, move or finish that, then fleet land ${mission.id}` }
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
  fleet.measurements.landingSeconds.add(secondsBetween(since(work.mission), fleet.now()))
  await tellSessions(fleet, work)
}

/** Tells live sessions that the base branch moved. One that cannot be told now is told at its next start. */
async function tellSessions(fleet: Fleet, { project, repository }: Work): Promise<void> {
  const places = (await liveSessions(fleet))
    .filter(({ project_id, worktree }) => project_id === project.id && worktree)
    .flatMap(({ worktree }) => placeAt(worktree!) ?? [])
  await Promise.allSettled(places.map(place => tellBase(place, repository)))
}
