import type { LandingCommit, Mission } from '../../domain/records/mission.ts'
import type { Session } from '../../domain/records/session.ts'
import { conflictAdvice, MAX_CONFLICT_ROUNDS } from '../../domain/rules/ending.ts'
import * as life from '../../domain/rules/life.ts'
import { clipped, MAX_REASON_CHARS } from '../../domain/text.ts'
import { commitTree, type Conflict as FileConflict, mergeTrees, treeOf } from '../../git/index.ts'
import { type Fleet, retryOnConflict } from '../fleet.ts'
import { nameOfActor } from '../people/principals.ts'
import { current, newestReport, put } from '../records.ts'
import { memberOf } from '../teams/sessions.ts'
import type { Failure } from './checking.ts'
import type { Round } from './rounds.ts'
import { decide, since, type Work, wantsCancel } from './steps.ts'
import { landingMessage } from './trailers.ts'

/** A landing: the candidate merged with the branch, as one commit. */
export function mergeRound(fleet: Fleet, work: Work): Round {
  const { mission, project, candidate } = work
  return {
    work,
    branch: project.base_branch,
    purpose: 'landing',
    candidate,
    since: since(mission),
    make: base => merged(fleet, work, base),
    judge: failure => judged(fleet, work, failure),
    note: commit => noteLanding(fleet, mission.id, commit),
  }
}

/** The commit that lands. It is the session's only commit itself, if the tip of the branch is already its parent. */
async function merged(fleet: Fleet, work: Work, base: string): Promise<string | undefined> {
  const { mission, candidate, repository } = work
  const session = asItEnded(work)
  const merge = await mergeTrees(repository, base, candidate, session.descends_from ?? undefined)
  if ('conflicts' in merge) return void (await inConflict(fleet, mission, merge.conflicts))
  const isNothing = session.descends_from !== base && merge.tree === (await treeOf(repository, base))
  if (isNothing) return void (await decide(fleet, mission.id, (m, by) => life.done(m, 'no_changes', by)))
  if (session.landable && session.descends_from === base) return session.end_commit!
  const summary = (await newestReport(fleet, mission.id))?.summary ?? ''
  return commitTree(repository, {
    tree: merge.tree,
    parents: [base],
    message: landingMessage(mission, session, summary, {
      member: await memberOf(fleet, session),
      landedBy: await nameOfActor(fleet, mission.approval?.by),
    }),
    at: since(mission),
  })
}

/** What a session's record says of its end is true only of the commit that it ended with. */
const asItEnded = ({ session, candidate }: Work): Session =>
  session.end_commit === candidate ? session : { ...session, landable: false, descends_from: null }

async function inConflict(fleet: Fleet, mission: Mission, conflicts: FileConflict[]): Promise<void> {
  const files = conflicts.map(conflict => conflict.path).join(', ')
  const text = `Its work is in conflict with the base branch: ${files}.`
  await decide(fleet, mission.id, (m, by) => {
    if (m.cancel_requested) return life.cancelled(m, by)
    if (m.conflicts < MAX_CONFLICT_ROUNDS)
      return life.requeued(m, { reason: 'conflict', ready: true }, { code: 'conflict', text }, by, {
        conflicts: m.conflicts + 1,
      })
    const why = { code: 'conflict', text: `${text} The agent could not resolve it.`, try: conflictAdvice(m.id) }
    return life.toPerson(m, why, by, 'conflict')
  })
}

async function judged(
  fleet: Fleet,
  { mission, signal }: Work,
  failure: Failure,
): Promise<Pick<LandingCommit, 'past'> | undefined> {
  if (await wantsCancel(fleet, mission.id)) return void (await decide(fleet, mission.id, life.cancelled))
  if (signal.aborted) return undefined
  if (!failure) return {}
  // The text of a failed setup includes all that it printed.
  if (mission.forced) return { past: clipped(failure.text.split('\n', 1)[0]!, MAX_REASON_CHARS) }
  const hint = `fleet show ${mission.id}, then resume it, or land it with --force`
  await decide(fleet, mission.id, (m, by) =>
    life.toReview(m, { code: 'checks_failed', text: failure.text, try: hint }, by),
  )
}

async function noteLanding(fleet: Fleet, missionId: string, landing_commit: LandingCommit): Promise<void> {
  await retryOnConflict(async () => {
    const { value, version } = await current(fleet, 'missions', missionId)
    await fleet.commit('commit.landing-commit', { changes: [put('missions', { ...value, landing_commit }, version)] })
  })
}
