import type { StatusReason } from '../../domain/records/mission.ts'
import type { Project } from '../../domain/records/project.ts'
import type { Session } from '../../domain/records/session.ts'
import { conflictAdvice } from '../../domain/rules/ending.ts'
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

/** Why a person must look before a session's work lands, whatever the policy says. */
export type Concern = StatusReason

interface Place {
  fleet: Fleet
  project: Project
  repository: Repository
}

interface Subject extends Place {
  session: Session
  collected: Collected
  /** What its changes are counted from. */
  from: string
}

/** The first thing about a finished session that is not as it should be. */
export async function concernAbout(subject: Subject): Promise<Concern | null> {
  return (
    unfinished(subject) ??
    notTakenIn(subject) ??
    branchApart(subject) ??
    leftOut(subject) ??
    (await secretCommitted(subject)) ??
    (await largeCommitted(subject)) ??
    (await sharedThingsChanged(subject)) ??
    (await submoduleCommitLost(subject))
  )
}

function unfinished({ session, collected }: Subject): Concern | null {
  if (!collected.unfinished) return null
  const { doing, paths } = collected.unfinished
  const files = paths.join(', ')
  if (session.reason === 'conflict' && doing === 'merge') {
    return {
      code: 'conflict',
      text: `Its work is still in conflict with the base branch: ${files}. The agent did not resolve it; its worktree is left as it was.`,
      try: conflictAdvice(session.mission_id),
    }
  }
  const what = doing === 'work on another branch' ? doing : `a ${doing}`
  return {
    code: 'unfinished',
    text: `The agent stopped in the middle of ${what}${files && ` (${files})`}; its worktree is left as it was.`,
    try: `Finish it in its worktree or give it up there, then fleet mission land ${session.mission_id}`,
  }
}

function leftOut({ collected: { skipped } }: Subject): Concern | null {
  if (!skipped.length) return null
  return { code: 'left_out', text: `Not committed: ${skipped.map(({ path, why }) => `${path} (${why})`).join(', ')}.` }
}

function notTakenIn({ collected: { problem }, session }: Subject): Concern | null {
  if (!problem) return null
  const text = `Not everything that the agent committed could be taken in: ${problem}. Its files were committed as they are; its own commits are in ${session.worktree}.`
  return { code: 'not_taken_in', text }
}

/** Somebody moved its branch in the project elsewhere, and that stays as it is. */
export function branchApart({ collected: { apart }, session }: Pick<Subject, 'collected' | 'session'>): Concern | null {
  if (!apart) return null
  const text = `The branch ${session.branch} is at ${apart.slice(0, 12)} in the project, which is not part of this work; it stays there. To make it a part: git merge ${apart.slice(0, 12)} in ${session.worktree}.`
  return { code: 'branch_apart', text }
}

/** A linked worktree shares them with the person's checkout; a private repository shares nothing. */
async function sharedThingsChanged(subject: Subject): Promise<Concern | null> {
  if (placeAt(subject.session.worktree!)) return null
  return (await sharedGitChanged(subject)) ?? (await baseMoved(subject))
}

async function secretCommitted({ from, project, repository, collected }: Subject): Promise<Concern | null> {
  const secrets = await changedAmong(repository, from, collected.tip, project.copy_files)
  return secrets.length
    ? { code: 'secret_committed', text: `The agent committed what was only copied in for it: ${secrets.join(', ')}.` }
    : null
}

/** What it left uncommitted was looked at file by file; what it committed itself was not. */
async function largeCommitted({ from, repository, collected }: Subject): Promise<Concern | null> {
  const large = collected.changes || from === collected.tip ? [] : await largeFiles(repository, from, collected.tip)
  if (!large.length) return null
  const files = large.map(({ path, bytes }) => `${path} (${Math.round(bytes / MB)} MB)`).join(', ')
  return { code: 'large_file', text: `The agent committed what is larger than ${MAX_FILE_BYTES / MB} MB: ${files}.` }
}
const MB = 1024 * 1024

async function sharedGitChanged({ session, repository }: Subject): Promise<Concern | null> {
  const now = await guardMark(repository)
  const changed = guardDifference(session.guard_mark ?? now, now)
  if (!changed.length) return null
  return {
    code: 'shared_git_changed',
    text: `During the session something changed ${changed.join(', ')} of the shared git folder, which can make git run programs.`,
  }
}

/** Landings move the base all the time: only a tip that stays, and that nobody we know put there, is an alarm. */
async function baseMoved(subject: Subject): Promise<Concern | null> {
  const { session, project, repository } = subject
  let seen: string | undefined
  for (;;) {
    const tip = await branchTip(repository, project.base_branch)
    if (!tip || tip === session.base_tip || (await isExplained(subject, tip))) return null
    if (tip === seen) {
      return {
        code: 'base_moved',
        text: `During the session ${project.base_branch} was moved from ${session.base_tip} to ${tip}, not by Flotilla and not in a checkout of it.`,
      }
    }
    seen = tip
  }
}

async function submoduleCommitLost({ session, from, repository, collected }: Subject): Promise<Concern | null> {
  const paths = await strandedSubmodules(repository, session.worktree!, from, collected.tip)
  if (!paths.length) return null
  return {
    code: 'submodule_commit',
    text: `The work points to a commit of ${paths.join(', ')} that only ${session.worktree} has, and that goes away with it. Push that commit from there, or fetch it into your own copy of the submodule, before you land.`,
  }
}

/**
 * Whether a session that is still at work may have moved the base to this tip. Landing on it would make the tip one we
 * know, and nobody would ever see what happened.
 */
export async function movedUnderSession(subject: Place, tip: string): Promise<boolean> {
  if (subject.project.isolation === 'private') return false
  if (await isExplained(subject, tip)) return false
  const live = await liveSessions(subject.fleet)
  return live.some(
    session => session.project_id === subject.project.id && session.base_tip !== null && session.base_tip !== tip,
  )
}

async function isExplained({ fleet, project, repository }: Place, tip: string): Promise<boolean> {
  // A landing is written down before the branch moves, and becomes the known tip when it is over: look in that order.
  for await (const { value } of all(fleet, 'missions', 'landing', [project.id])) {
    if (value.landing_commit?.commit === tip || value.undo?.landing_commit?.commit === tip) return true
  }
  const { known_tip } = (await current(fleet, 'projects', project.id)).value
  return tip === known_tip || explainsTip(repository, project.base_branch, tip, fleet.home.worktrees)
}
