import type { Evidence, LandingCommit } from '../../domain/records/mission.ts'
import type { Project } from '../../domain/records/project.ts'
import { type Advanced, advanceWhenFree, branchTip, contains } from '../../git/index.ts'
import type { Fleet } from '../fleet.ts'
import type { Failure } from './checking.ts'
import { runChecks } from './checks.ts'
import type { Work } from './steps.ts'

/** The branch may move while a commit is checked. Then the commit is made and checked again, this many times in one turn. */
export const MAX_ROUNDS = 3
/** Without checks, a round takes no longer than a person's commit. */
const MAX_QUICK_ROUNDS = 10
const roundsOf = ({ checks }: Project): number => (checks.length ? MAX_ROUNDS : MAX_QUICK_ROUNDS)

/** How one commit is made and judged on the tip of a branch. A landing and an undo differ in this alone. */
export interface Round {
  work: Work
  branch: string
  purpose: Evidence['purpose']
  /** The work that the commit is made of. */
  candidate?: string
  /** When it was requested. */
  since: string
  /** The commit that follows `base`. Undefined: there is none, and the mission says why. */
  make(base: string): Promise<string | undefined>
  /** Whether the commit may go on after its checks, and past which failure. Undefined: it may not, and the mission says why. */
  judge(failure: Failure): Promise<Pick<LandingCommit, 'past'> | undefined>
  note(commit: LandingCommit): Promise<void>
}

/** The commit that would follow `base`, made and checked. Undefined: it must not, or nobody waits for it any more. */
export async function prepare(fleet: Fleet, round: Round, base: string): Promise<LandingCommit | undefined> {
  const { work, branch, candidate, purpose, since } = round
  const { mission, project, repository, signal } = work
  const commit = await round.make(base)
  if (!commit) return undefined
  const made: LandingCommit = { commit, onto: base, branch, checked: false }
  if (project.checks.length) await round.note(made)
  const failure = await runChecks(fleet, { mission, project, repository, commit, candidate, purpose, since, signal })
  const verdict = await round.judge(failure)
  return verdict && { ...made, ...verdict }
}

export type Outcome =
  | { moved: LandingCommit }
  | Extract<Advanced, { blocked: string }>
  /** `decided`: the round itself said what becomes of the mission. */
  | 'decided'
  | 'branch gone'
  | 'branch busy'

/** Moves the branch to a commit that was made on its tip, checked and written down, in that order. */
export async function moveBranch(fleet: Fleet, round: Round): Promise<Outcome> {
  const { repository, project } = round.work
  for (let tries = 1; tries <= roundsOf(project); tries++) {
    const base = await branchTip(repository, round.branch)
    if (!base) return 'branch gone'
    const prepared = await prepare(fleet, round, base)
    if (!prepared) return 'decided'
    const moved = { ...prepared, checked: true }
    await round.note(moved)
    const advanced = await advanceWhenFree(repository, { branch: round.branch, from: base, to: moved.commit })
    if ('moved' in advanced) return { moved }
    if ('blocked' in advanced) return advanced
  }
  return 'branch busy'
}

/** After a crash the branch may have moved although nobody wrote down that it did. */
export const hasMoved = async ({ repository }: Work, noted: LandingCommit | null): Promise<boolean> =>
  noted?.checked === true && (await contains(repository, noted.branch, noted.commit))
