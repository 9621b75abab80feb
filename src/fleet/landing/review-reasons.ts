import type { StatusReason } from '../../domain/records/mission.ts'
import type { Project } from '../../domain/records/project.ts'
import type { Session } from '../../domain/records/session.ts'
import * as rule from '../../domain/rules/review-reasons.ts'
import {
  branchTip,
  type Collected,
  changedAmong,
  explainsTip,
  guardDifference,
  guardMark,
  largeFiles,
  MAX_FILE_BYTES,
  placeAt,
  type Repository,
  strandedSubmodules,
} from '../../git/index.ts'
import { liveSessions } from '../dispatch/capacity.ts'
import type { Fleet } from '../fleet.ts'
import { all, current } from '../records.ts'

interface ProjectContext {
  fleet: Fleet
  project: Project
  repository: Repository
}

interface Subject extends ProjectContext {
  session: Session
  collected: Collected
  /** The commit from which its changes are counted. */
  from: string
}

/** The first reason that applies to a finished session. It looks further only if the collected work shows none. */
export async function reasonToReview(subject: Subject): Promise<StatusReason | null> {
  const { session, collected } = subject
  return rule.reasonToReview(session, collected) ?? rule.reasonToReview(session, await findings(subject))
}

async function findings(subject: Subject): Promise<rule.Findings> {
  const { session, project, repository, collected, from } = subject
  // A linked worktree shares configuration, hooks and refs with the person's checkout. A private repository shares nothing.
  const isShared = !placeAt(session.worktree!)
  return {
    secrets: await changedAmong(repository, from, collected.tip, project.copy_files),
    large: { files: await largeCommitted(subject), limitBytes: MAX_FILE_BYTES },
    sharedGit: isShared ? await sharedGitChanges(subject) : [],
    baseMoved: isShared ? await baseMoved(subject) : null,
    stranded: await strandedSubmodules(repository, session.worktree!, from, collected.tip),
  }
}

/**
 * Uncommitted files were checked one by one when they were collected. Files that the agent committed itself were not.
 */
const largeCommitted = async ({ from, repository, collected }: Subject) =>
  collected.changes || from === collected.tip ? [] : largeFiles(repository, from, collected.tip)

async function sharedGitChanges({ session, repository }: Subject): Promise<string[]> {
  const now = await guardMark(repository)
  return guardDifference(session.guard_mark ?? now, now)
}

/** Landings move the base branch all the time. Only a tip that stays, and that nothing explains, is reported. */
async function baseMoved(subject: Subject): Promise<rule.Findings['baseMoved']> {
  const { session, project, repository } = subject
  let seen: string | undefined
  for (;;) {
    const tip = await branchTip(repository, project.base_branch)
    if (!tip || tip === session.base_tip || (await isExplained(subject, tip))) return null
    if (tip === seen) return { branch: project.base_branch, from: session.base_tip, to: tip }
    seen = tip
  }
}

/**
 * Whether a session at work may have moved the base to this tip. A landing on it would make it a known tip, and nobody
 * would notice.
 */
export async function movedUnderSession(subject: ProjectContext, tip: string): Promise<boolean> {
  if (subject.project.isolation === 'private') return false
  if (await isExplained(subject, tip)) return false
  const live = await liveSessions(subject.fleet)
  return live.some(
    session => session.project_id === subject.project.id && session.base_tip !== null && session.base_tip !== tip,
  )
}

async function isExplained({ fleet, project, repository }: ProjectContext, tip: string): Promise<boolean> {
  // A landing is noted before the branch moves and becomes the known tip after it, so look in that order.
  for await (const { value } of all(fleet, 'missions', 'landing', [project.id])) {
    if (value.landing_commit?.commit === tip || value.undo?.landing_commit?.commit === tip) return true
  }
  const { known_tip } = (await current(fleet, 'projects', project.id)).value
  return tip === known_tip || explainsTip(repository, project.base_branch, tip, fleet.home.worktrees)
}
