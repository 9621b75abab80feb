import { unapprovedAmong } from '../domain/candidate.ts'
import { effective } from '../domain/effective.ts'
import * as life from '../domain/life.ts'
import type { LandingCommit, Mission } from '../domain/mission.ts'
import type { Project } from '../domain/project.ts'
import { landsByPullRequest } from '../domain/pull-request.ts'
import { type Advanced, advance, branchTip, contains } from '../git/index.ts'
import type { Change } from '../store/index.ts'
import { bringAlong } from './along.ts'
import { defaultsOf } from './capacity.ts'
import { runChecks } from './checking.ts'
import { movedUnderSession } from './concerns.ts'
import { type Fleet, retryOnConflict } from './fleet.ts'
import {
  decide,
  MAX_ROUNDS,
  noteLanding,
  prepare,
  read,
  refuse,
  since,
  type Work,
  wantsCancel,
  whatIsInTheWay,
} from './landing-steps.ts'
import { objectionToLanding } from './plugin-gate.ts'
import { includedIn } from './predecessors.ts'
import { propose } from './proposing.ts'
import { current, put } from './records.ts'
import { sentence } from './sentences.ts'

/** Brings one mission's work onto the base branch. Every way out is a commit; a crash anywhere is taken up by calling it again. */
export async function landMission(fleet: Fleet, missionId: string, signal: AbortSignal): Promise<void> {
  const work = await read(fleet, missionId, signal)
  if (work.mission.status !== 'landing') return
  try {
    if (await alreadyThere(fleet, work)) return
    if (work.mission.cancel_requested) return await decide(fleet, missionId, life.cancelled)
    const { landing } = effective(work.mission, work.project, defaultsOf(fleet))
    if (landing === 'never' && !work.mission.approval) return await checkKept(fleet, work)
    const objection = work.mission.approval ? undefined : await objectionToLanding(fleet, work)
    if (objection) return await refuse(fleet, missionId, objection)
    if (landsByPullRequest(work.mission, work.project)) await propose(fleet, work)
    else await attempt(fleet, work)
  } catch (error) {
    if (signal.aborted && !(await wantsCancel(fleet, missionId))) return
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

async function attempt(fleet: Fleet, work: Work): Promise<void> {
  const { mission, candidate, project, repository } = work
  for (let round = 1; round <= MAX_ROUNDS; round++) {
    const base = await branchTip(repository, project.base_branch)
    if (!base)
      return refuse(fleet, mission.id, {
        code: 'base_gone',
        text: `The base branch ${project.base_branch} is gone.`,
        try: `fleet project set ${project.id} --base <branch>, then fleet mission land ${mission.id}`,
      })
    if (!mission.approval && (await movedUnderSession({ fleet, project, repository }, base))) {
      return refuse(fleet, mission.id, {
        code: 'base_moved',
        text: `${project.base_branch} was moved to ${base} while agents were at work, not by Flotilla and not in a checkout of it.`,
        try: `git log ${base}, then fleet mission land ${mission.id}`,
      })
    }
    const unapproved = unapprovedAmong(await includedIn(fleet, mission, { project, repository, base, candidate }))
    if (unapproved) return refuse(fleet, mission.id, unapproved)
    const landing = await prepare(fleet, work, base)
    if (!landing) return
    await noteLanding(fleet, mission.id, { ...landing, checked: true })
    const advanced = await advance(repository, { branch: project.base_branch, from: base, to: landing.commit })
    if ('moved' in advanced) return landed(fleet, work, landing)
    if ('blocked' in advanced) return inTheWay(fleet, mission, project, advanced)
  }
  await refuse(fleet, mission.id, {
    code: 'base_busy',
    text: `${project.base_branch} moved ${MAX_ROUNDS} times while this was being landed.`,
    try: `fleet mission land ${mission.id}`,
  })
}

async function inTheWay(
  fleet: Fleet,
  mission: Mission,
  project: Project,
  advanced: Extract<Advanced, { blocked: string }>,
): Promise<void> {
  const text = whatIsInTheWay(project.base_branch, advanced)
  await decide(fleet, mission.id, (m, by) =>
    life.toPerson(
      m,
      { code: 'in_the_way', text, try: `Commit, move or finish that, then fleet mission land ${m.id}` },
      by,
      'landing_waits',
    ),
  )
}

async function landed(fleet: Fleet, work: Work, { checked: _, ...landing }: LandingCommit): Promise<void> {
  const brought = await bringAlong(fleet, work, landing)
  await retryOnConflict(async () => {
    const mission = await current(fleet, 'missions', work.mission.id)
    const project = await current(fleet, 'projects', work.project.id)
    const step = life.landed(mission.value, brought, { actor: 'fleet', now: fleet.now() })
    const changes: Change[] = [
      put('missions', step.mission, mission.version),
      put('projects', { ...project.value, known_tip: landing.commit }, project.version),
    ]
    await fleet.commit('commit.landed', { changes, events: step.events })
  })
}
