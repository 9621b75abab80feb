import type { StatusReason } from '../records/mission.ts'
import type { Session } from '../records/session.ts'
import { conflictAdvice } from './ending.ts'

/** Findings about the work of a finished session. An absent field was not checked. */
export interface Findings {
  /** A merge or the like that the agent left half done in its worktree, and the files involved. */
  unfinished?: { doing: string; paths: readonly string[] } | null
  /** Why some of its commits could not be taken in. */
  problem?: string | null
  /** The commit to which somebody moved the mission's branch in the project. */
  apart?: string | null
  /** What was not committed. */
  skipped?: readonly { path: string; why: string }[]
  /** Committed files that were only copied in for it. */
  secrets?: readonly string[]
  /** Committed files that are larger than allowed. */
  large?: { files: readonly { path: string; bytes: number }[]; limitBytes: number }
  /** What changed in the git folder that it shares with the person's checkout. */
  sharedGit?: readonly string[]
  /** Someone we do not know of moved the base branch. */
  baseMoved?: { branch: string; from: string | null; to: string } | null
  /** Submodules whose new commit only its worktree has. */
  stranded?: readonly string[]
}

type Found = Required<{ [K in keyof Findings]: NonNullable<Findings[K]> }>
type Work = Pick<Session, 'reason' | 'mission_id' | 'worktree' | 'branch'>
type Reasons = { [K in keyof Found]: (found: Found[K], session: Work) => StatusReason | null }

/** In order of precedence: a person is told the first that applies. */
const REASONS: Reasons = {
  unfinished: ({ doing, paths }, { reason, mission_id }) => {
    const files = paths.join(', ')
    if (reason === 'conflict' && doing === 'merge')
      return {
        code: 'conflict',
        text: `Its work is still in conflict with the base branch: ${files}. The agent did not resolve it; its worktree is left as it was.`,
        try: conflictAdvice(mission_id),
      }
    const what = doing === 'work on another branch' ? doing : `a ${doing}`
    return {
      code: 'unfinished',
      text: `The agent stopped in the middle of ${what}${files && ` (${files})`}; its worktree is left as it was.`,
      try: `Finish or abort it in its worktree, then fleet land ${mission_id}`,
    }
  },
  problem: (problem, { worktree }) => ({
    code: 'not_taken_in',
    text: `Some commits of the agent could not be taken in: ${problem}. Its files were committed as they are; its own commits are in ${worktree}.`,
  }),
  apart: (apart, { branch, worktree }) => ({
    code: 'branch_apart',
    text: `The branch ${branch} is at ${apart.slice(0, 12)} in the project, which is not part of this work; it stays there. To make it a part: git merge ${apart.slice(0, 12)} in ${worktree}.`,
  }),
  skipped: skipped =>
    skipped.length
      ? { code: 'left_out', text: `Not committed: ${skipped.map(({ path, why }) => `${path} (${why})`).join(', ')}.` }
      : null,
  secrets: secrets =>
    secrets.length
      ? {
          code: 'secret_committed',
          text: `The agent committed files that were only copied in for it: ${secrets.join(', ')}.`,
        }
      : null,
  large: ({ files, limitBytes }) => {
    if (!files.length) return null
    const named = files.map(({ path, bytes }) => `${path} (${Math.round(bytes / MB)} MB)`).join(', ')
    return { code: 'large_file', text: `The agent committed files larger than ${limitBytes / MB} MB: ${named}.` }
  },
  sharedGit: changed =>
    changed.length
      ? {
          code: 'shared_git_changed',
          text: `During the session something changed ${changed.join(', ')} of the shared git folder, which can make git run programs.`,
        }
      : null,
  baseMoved: ({ branch, from, to }) => ({
    code: 'base_moved',
    text: `During the session ${branch} was moved from ${from} to ${to}, not by Flotilla and not in a checkout of it.`,
  }),
  stranded: (paths, { worktree }) =>
    paths.length
      ? {
          code: 'submodule_commit',
          text: `The work points to a commit of ${paths.join(', ')} that only ${worktree} has, and that goes away with it. Push that commit from there, or fetch it into your own copy of the submodule, before you land.`,
        }
      : null,
}

const MB = 1024 * 1024

/** Why a person must review a session's work before it lands, whatever the policy is. */
export function reasonToReview(session: Work, findings: Findings): StatusReason | null {
  for (const kind of Object.keys(REASONS) as (keyof Found)[]) {
    const reason = reasonIn(kind, session, findings)
    if (reason) return reason
  }
  return null
}

function reasonIn<K extends keyof Found>(kind: K, session: Work, findings: Findings): StatusReason | null {
  const found = findings[kind]
  return found ? REASONS[kind](found as Found[K], session) : null
}
