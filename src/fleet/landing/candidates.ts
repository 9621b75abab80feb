import { existsSync } from 'node:fs'
import { NotAllowed } from '../../domain/errors.ts'
import type { Candidate, Mission, StatusReason } from '../../domain/records/mission.ts'
import type { Project } from '../../domain/records/project.ts'
import { keptRefs, type Session } from '../../domain/records/session.ts'
import { type Included, isExpected, NotShown, requireApproved } from '../../domain/rules/candidate.ts'
import { isKept, requireLandable } from '../../domain/rules/landing.ts'
import { about, step } from '../../domain/rules/life.ts'
import { reasonToReview } from '../../domain/rules/review-reasons.ts'
import { clipped, MAX_REASON_CHARS } from '../../domain/text.ts'
import { branchTip, type Collected, changes, commitLeftovers, commitNamed, mergeBase, treeOf } from '../../git/index.ts'
import { type Fleet, retryOnConflict } from '../fleet.ts'
import { repositoryOf } from '../projects/repositories.ts'
import { current, newestReport, put } from '../records.ts'
import { gitWithin } from '../sessions/sandbox.ts'
import { memberOf } from '../teams/sessions.ts'
import { inPlace, leftIn, sharedWithLater, worktreeTurns } from '../worktrees/retiring.ts'
import { includedIn } from './included.ts'
import { landingMessage } from './trailers.ts'

export const FILES_TOLD = 100

/** The two commits that enclose everything a mission would bring, or has brought. */
export interface Shown {
  from: string
  to: string
  /** The commit that a person approves by letting this land. */
  candidate: string
}

export async function shownOf(project: Project, mission: Mission): Promise<Shown | undefined> {
  const { candidate, landed, result } = mission
  // Work that came along with another mission is still shown by itself.
  if (result === 'landed' && landed && !landed.with)
    return { from: landed.onto, to: landed.commit, candidate: landed.candidate ?? landed.commit }
  if (!candidate) return undefined
  const repository = await repositoryOf(project)
  const base = await branchTip(repository, project.base_branch)
  const from = base && (await mergeBase(repository, base, candidate.commit))
  return from ? { from, to: candidate.commit, candidate: candidate.commit } : undefined
}

export async function includesOf(fleet: Fleet, project: Project, mission: Mission): Promise<Included[]> {
  if (!mission.candidate || mission.result === 'landed') return []
  const repository = await repositoryOf(project)
  const base = await branchTip(repository, project.base_branch)
  if (!base) return []
  return includedIn(fleet, mission, { project, repository, base, candidate: mission.candidate.commit })
}

interface Look {
  mission: Mission
  /** Why its worktree cannot be committed. */
  unfinished: string | null
}

/**
 * Compares finished work with its worktree. A change since then, by a person or by a process that outlived its session,
 * makes a new candidate and an event. A worktree in which somebody works is left alone.
 */
export async function lookAtPlace(fleet: Fleet, mission: Mission): Promise<Look> {
  const asIs = { mission, unfinished: null }
  if (!waitsAlone(mission)) return asIs
  return worktreeTurns.take(mission.id, async () => {
    const { value: now } = await current(fleet, 'missions', mission.id)
    const session = now.session_id ? (await fleet.store.get('sessions', now.session_id))?.value : undefined
    if (!waitsAlone(now) || !session) return { ...asIs, mission: now }
    return inPlace(session, () => compared(fleet, now, session))
  })
}

async function compared(fleet: Fleet, now: Mission, session: Session): Promise<Look> {
  if (!(await isItsOwn(fleet, session))) return { mission: now, unfinished: null }
  const { value: project } = await current(fleet, 'projects', now.project_id)
  const collected = await commitLeftovers({
    worktree: session.worktree!,
    branch: session.branch!,
    message: landingMessage(now, session, (await newestReport(fleet, now.id))?.summary ?? '', {
      member: await memberOf(fleet, session),
    }),
    never: project.copy_files,
    within: await gitWithin(fleet, session, now, project),
  })
  const unfinished = collected.unfinished ? inTheMiddle(session, collected.unfinished) : null
  const isSame = await isUnchanged(project, session, collected.tip, now.candidate!.commit)
  if (isSame) await noteLeft(fleet, session, leftIn(collected, project))
  const found = isSame ? now : await another(fleet, now, session, project, collected)
  return { mission: await tellApart(fleet, found, reasonToReview(session, { apart: collected.apart })), unfinished }
}

/** Whether a worktree has the candidate: that commit, or the one that the candidate copies in order to land again. */
async function isUnchanged(project: Project, session: Session, tip: string, candidate: string): Promise<boolean> {
  if (tip === candidate) return true
  if (tip !== session.end_commit) return false
  const repository = await repositoryOf(project)
  return (await treeOf(repository, tip)) === (await treeOf(repository, candidate))
}

/** Whether its finished work waits, and nobody works on it. */
export const waitsAlone = (mission: Mission): boolean =>
  mission.candidate !== null &&
  !mission.taken_over &&
  !mission.asking &&
  !mission.undo &&
  (mission.status === 'review' || mission.status === 'needs_input' || isKept(mission))

/** Whether the worktree of an ended session is still there, and no other session has it. */
export async function isItsOwn(fleet: Fleet, session: Session): Promise<boolean> {
  const { status, branch, worktree, worktree_kept } = session
  if (status !== 'ended' || !branch || !worktree || !worktree_kept || !existsSync(worktree)) return false
  return !(await sharedWithLater(fleet, session))
}

const inTheMiddle = ({ worktree }: Session, { doing, paths }: NonNullable<Collected['unfinished']>): string =>
  `There is still a ${doing} under way in ${worktree}${paths.length ? `: ${paths.join(', ')}` : ''}.`

async function another(
  fleet: Fleet,
  { id, candidate: before }: Mission,
  { id: sessionId }: Session,
  project: Project,
  collected: Collected,
): Promise<Mission> {
  const { tip } = collected
  const differs = await changes(await repositoryOf(project), before!.commit, tip)
  const files = differs.files.map(({ path }) => path).slice(0, FILES_TOLD)
  return retryOnConflict(async () => {
    const { value: mission, version } = await current(fleet, 'missions', id)
    const { value: session, version: read } = await current(fleet, 'sessions', sessionId)
    if (!waitsAlone(mission) || mission.candidate?.commit !== before!.commit) return mission
    const by = { actor: 'fleet', now: fleet.now() }
    const candidate: Candidate = { commit: tip, session_id: sessionId, at: by.now }
    const next: Mission = { ...mission, candidate, approval: null, updated_at: by.now }
    const ended: Session = {
      ...session,
      end_commit: tip,
      descends_from: null,
      landable: false,
      left_behind: leftIn(collected, project),
      kept_refs: keptRefs(session, collected.kept),
    }
    await fleet.commit('commit.end-moved', {
      changes: [put('missions', next, version), put('sessions', ended, read)],
      events: [
        about(next, 'candidate_changed', by, {
          session_id: sessionId,
          cause: `${collected.followed ? 'Somebody committed on its branch' : 'Its worktree has changed'} since the session ended: ${files.join(', ')}.`,
          data: { candidate: tip, before: before!.commit, files },
        }),
      ],
    })
    return next
  })
}

/** A person may have tidied up what the session left behind, without changing the work. */
async function noteLeft(fleet: Fleet, { id }: Session, left_behind: string | null): Promise<void> {
  await retryOnConflict(async () => {
    const { value, version } = await current(fleet, 'sessions', id)
    if (value.left_behind === left_behind) return
    await fleet.commit('commit.session-noted', { changes: [put('sessions', { ...value, left_behind }, version)] })
  })
}

/** Adds to the status reason of a waiting mission that somebody moved its branch elsewhere. */
async function tellApart(fleet: Fleet, { id }: Mission, apart: StatusReason | null): Promise<Mission> {
  return retryOnConflict(async () => {
    const { value: mission, version } = await current(fleet, 'missions', id)
    const reason = mission.status_reason
    if (!apart || !waitsAlone(mission) || reason?.text.includes(apart.text)) return mission
    const status_reason =
      reason && reason.code !== 'policy' && reason.code !== apart.code
        ? { ...reason, text: `${apart.text} ${reason.text}` }
        : apart
    const next = step(mission, { status_reason }, { actor: 'fleet', now: fleet.now() }, 'mission_updated', {
      cause: apart.text,
    })
    await fleet.commit('commit.end-moved', { changes: [put('missions', next.mission, version)], events: next.events })
    return next.mission
  })
}

/** A request to land names the candidate that the person was shown. It must be the current one. */
export async function requireShown(fleet: Fleet, asked: Mission, expected: string | undefined): Promise<Mission> {
  requireLandable(asked)
  const { mission, unfinished } = await lookAtPlace(fleet, asked)
  requireLandable(mission)
  if (unfinished) throw new NotAllowed(unfinished, { try: `Finish it there, then fleet land ${mission.id}` })
  const { value: project } = await current(fleet, 'projects', mission.project_id)
  await requireExpected(project, mission, expected)
  requireApproved(mission.id, await includesOf(fleet, project, mission))
  return mission
}

/** The candidate must be the one that the person was shown. */
export async function requireExpected(
  project: Project,
  mission: Mission & { candidate: Candidate },
  expected: string | undefined,
): Promise<void> {
  if (!isExpected(mission.candidate, expected)) throw await notShown(project, mission, mission.candidate, expected)
}

async function notShown(
  project: Project,
  mission: Mission,
  { commit }: Candidate,
  expected: string | undefined,
): Promise<NotShown> {
  const repository = await repositoryOf(project)
  // Only the files that changed since the commit they were shown, or all files if that commit is unknown.
  const known = expected && (await commitNamed(repository, expected))
  const from = known && known !== (await branchTip(repository, project.base_branch)) ? known : undefined
  const since = from ?? (await shownOf(project, mission))?.from ?? commit
  const files = (await changes(repository, since, commit)).files.map(({ path }) => path).slice(0, FILES_TOLD)
  const look = `Look at it with fleet diff ${mission.id}, then send expected: ${commit} (fleet land ${mission.id} --commit ${commit.slice(0, 12)})`
  const text =
    expected && !known
      ? `${expected} is not a commit of this repository; the work of mission ${mission.id} is ${commit} now.`
      : expected
        ? `The work of mission ${mission.id} is ${commit} now, not ${expected}: ${files.join(', ') || 'no file differs'}.`
        : `Name the commit of mission ${mission.id} that you reviewed; it is ${commit} now: ${files.join(', ')}.`
  return new NotShown(clipped(text, MAX_REASON_CHARS), { try: look, facts: { candidate: commit, expected, files } })
}
