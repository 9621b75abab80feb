import type { Mission, StatusReason } from '../../domain/records/mission.ts'
import type { Project } from '../../domain/records/project.ts'
import type { Session } from '../../domain/records/session.ts'
import * as landings from '../../domain/rules/landing.ts'
import type { By, Step } from '../../domain/rules/life.ts'
import * as life from '../../domain/rules/life.ts'
import type { Advanced, Repository } from '../../git/index.ts'
import { type Fleet, retryOnConflict } from '../fleet.ts'
import { repositoryOf } from '../projects/repositories.ts'
import { current, put } from '../records.ts'

/** How long a landing waits between two looks, and how many looks it gets: about an hour in all. */
const ASIDE_MS = [500, 1000, 2000, 4000, 8000, 15_000, 30_000, 60_000]
const MAX_LOOKS = 64

/** Ends the turn while something is in the way that passes by itself. Others can land until the next look. */
export async function stepAside(
  fleet: Fleet,
  missionId: string,
  why: StatusReason,
  otherwise: (mission: Mission, by: By) => Step,
): Promise<number | undefined> {
  const { landing_looks: looks } = (await current(fleet, 'missions', missionId)).value
  if (looks >= MAX_LOOKS) return void (await decide(fleet, missionId, otherwise))
  await decide(fleet, missionId, (mission, by) =>
    mission.cancel_requested ? life.cancelled(mission, by) : landings.stepsAside(mission, why, by),
  )
  return ASIDE_MS[Math.min(looks, ASIDE_MS.length - 1)]!
}

/** What a landing works with. It is read again for each turn. */
export interface Work {
  mission: Mission
  /** The commit that is to land. */
  candidate: string
  session: Session
  project: Project
  repository: Repository
  signal: AbortSignal
}

export async function read(fleet: Fleet, missionId: string, signal: AbortSignal): Promise<Work> {
  const { value: mission } = await current(fleet, 'missions', missionId)
  const { value: session } = await current(fleet, 'sessions', mission.session_id!)
  const { value: project } = await current(fleet, 'projects', mission.project_id)
  const candidate = mission.approval?.candidate ?? mission.candidate?.commit ?? session.end_commit!
  return { mission, candidate, session, project, repository: await repositoryOf(project), signal }
}

/**
 * When this landing began. It dates the commit, so that a landing that continues after a crash makes the same commit.
 */
export const since = (mission: Mission): string => mission.landing_at ?? mission.updated_at

/** Why a branch could not be moved, for a person. */
export const whatIsInTheWay = (branch: string, advanced: Extract<Advanced, { blocked: string }>): string =>
  advanced.blocked === 'files'
    ? `Uncommitted files in ${advanced.where} are in the way: ${advanced.paths.join(', ')}.`
    : `${branch} is busy in ${advanced.where}: ${advanced.blocked === 'busy' ? advanced.doing : 'another git command'} is in progress.`

export const refuse = (fleet: Fleet, missionId: string, why: StatusReason): Promise<void> =>
  decide(fleet, missionId, (mission, by) => life.toReview(mission, why, by))

export const wantsCancel = async (fleet: Fleet, missionId: string): Promise<boolean> =>
  (await current(fleet, 'missions', missionId)).value.cancel_requested

export async function decide(fleet: Fleet, missionId: string, step: (mission: Mission, by: By) => Step): Promise<void> {
  await retryOnConflict(async () => {
    const { value, version } = await current(fleet, 'missions', missionId)
    const { mission, events } = step(value, { actor: 'fleet', now: fleet.now() })
    await fleet.commit('commit.landing-decided', { changes: [put('missions', mission, version)], events })
  })
}
