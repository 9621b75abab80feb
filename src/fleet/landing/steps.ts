import type { LandingCommit, Mission, StatusReason } from '../../domain/records/mission.ts'
import type { Project } from '../../domain/records/project.ts'
import type { Session } from '../../domain/records/session.ts'
import { conflictAdvice, MAX_CONFLICT_ROUNDS } from '../../domain/rules/ending.ts'
import * as landings from '../../domain/rules/landing.ts'
import type { By, Step } from '../../domain/rules/life.ts'
import * as life from '../../domain/rules/life.ts'
import { clipped, MAX_REASON_CHARS } from '../../domain/text.ts'
import {
  type Advanced,
  commitTree,
  type Conflict as FileConflict,
  mergeTrees,
  type Repository,
  treeOf,
} from '../../git/index.ts'
import { type Fleet, retryOnConflict } from '../fleet.ts'
import { repositoryOf } from '../projects/repositories.ts'
import { current, newestReport, put } from '../records.ts'
import { runChecks } from './checks.ts'
import { landingMessage } from './trailers.ts'

/** The base may move while a landing is checked; then it is merged and checked again, this many times in one turn. */
export const MAX_ROUNDS = 3
/** Where nothing is checked, a round takes no longer than a person's commit. */
const MAX_QUICK_ROUNDS = 10
export const roundsOf = ({ checks }: Project): number => (checks.length ? MAX_ROUNDS : MAX_QUICK_ROUNDS)

/** For how long a landing steps aside until it is looked at again, and how often that goes on: for about an hour. */
const ASIDE_MS = [500, 1000, 2000, 4000, 8000, 15_000, 30_000, 60_000]
const MAX_LOOKS = 64

/** Something is in the way that passes by itself: others have their turn, and this one another look. */
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

/** What a landing works with, read anew at its beginning. */
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

/** The one commit that would land on `base`, and has passed the checks; undefined: it does not, and what follows is decided. */
export async function prepare(fleet: Fleet, work: Work, base: string): Promise<LandingCommit | undefined> {
  const { mission, candidate, project, repository } = work
  const session = asItEnded(work)
  const merged = await mergeTrees(repository, base, candidate, session.descends_from ?? undefined)
  if ('conflicts' in merged) return void (await inConflict(fleet, work, merged.conflicts))
  const isNothing = session.descends_from !== base && merged.tree === (await treeOf(repository, base))
  if (isNothing) return void (await decide(fleet, mission.id, (m, by) => life.done(m, 'no_changes', by)))
  const summary = (await newestReport(fleet, mission.id))?.summary ?? ''
  const landing: LandingCommit = {
    commit: await landingCommit(repository, mission, session, { tree: merged.tree, base, summary }),
    onto: base,
    branch: project.base_branch,
    checked: false,
  }
  const checked = await check(fleet, work, landing)
  if (!checked) return undefined
  if (await wantsCancel(fleet, mission.id)) return void (await decide(fleet, mission.id, life.cancelled))
  return { ...landing, ...checked }
}

/** What is known of the end of a session holds for that commit only. */
const asItEnded = ({ session, candidate }: Work): Session =>
  session.end_commit === candidate ? session : { ...session, landable: false, descends_from: null }

/** When this landing began. It dates the commit, so that a landing taken up after a crash is the same one. */
export const since = (mission: Mission): string => mission.landing_at ?? mission.updated_at

/** One commit with one parent. Where the session's only commit is already just that, it is the landing. */
function landingCommit(
  repository: Repository,
  mission: Mission,
  session: Session,
  { tree, base, summary }: { tree: string; base: string; summary: string },
): Promise<string> | string {
  if (session.landable && session.descends_from === base) return session.end_commit!
  return commitTree(repository, {
    tree,
    parents: [base],
    message: landingMessage(mission, session, summary),
    at: since(mission),
  })
}

/** It may land: nothing to check, all passed, or a person insists, `past` what failed. */
async function check(
  fleet: Fleet,
  { mission, candidate, project, repository, signal }: Work,
  landing: LandingCommit,
): Promise<Pick<LandingCommit, 'past'> | undefined> {
  if (project.checks.length === 0) return {}
  await noteLanding(fleet, mission.id, landing)
  const failure = await runChecks(fleet, {
    mission,
    project,
    repository,
    commit: landing.commit,
    candidate,
    purpose: 'landing',
    since: since(mission),
    signal,
  })
  if (signal.aborted) {
    if (await wantsCancel(fleet, mission.id)) await decide(fleet, mission.id, life.cancelled)
    return undefined
  }
  if (!failure) return {}
  // A setup that failed is told with all that it printed.
  if (mission.forced) return { past: clipped(failure.text.split('\n', 1)[0]!, MAX_REASON_CHARS) }
  await decide(fleet, mission.id, (m, by) =>
    life.toReview(
      m,
      {
        code: 'checks_failed',
        text: failure.text,
        try: `fleet mission show ${m.id}, then resume it, or land it with --force`,
      },
      by,
    ),
  )
  return undefined
}

async function inConflict(fleet: Fleet, { mission }: Work, conflicts: FileConflict[]): Promise<void> {
  const files = conflicts.map(conflict => conflict.path).join(', ')
  await decide(fleet, mission.id, (m, by) => {
    if (m.cancel_requested) return life.cancelled(m, by)
    const text = `Its work is in conflict with the base branch: ${files}.`
    if (m.conflicts >= MAX_CONFLICT_ROUNDS) {
      return life.toPerson(
        m,
        {
          code: 'conflict',
          text: `${text} The agent could not resolve it.`,
          try: conflictAdvice(m.id),
        },
        by,
        'conflict',
      )
    }
    return life.requeued(m, { reason: 'conflict', ready: true }, { code: 'conflict', text }, by, {
      conflicts: m.conflicts + 1,
    })
  })
}

export async function noteLanding(fleet: Fleet, missionId: string, landing_commit: LandingCommit): Promise<void> {
  await retryOnConflict(async () => {
    const { value, version } = await current(fleet, 'missions', missionId)
    await fleet.commit('commit.landing-commit', { changes: [put('missions', { ...value, landing_commit }, version)] })
  })
}

/** Why a branch could not be moved, for a person. */
export const whatIsInTheWay = (branch: string, advanced: Extract<Advanced, { blocked: string }>): string =>
  advanced.blocked === 'files'
    ? `Uncommitted files in ${advanced.where} are in the way: ${advanced.paths.join(', ')}.`
    : `${branch} is busy in ${advanced.where}: ${advanced.blocked === 'busy' ? advanced.doing : 'another git command'} is under way.`

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
