import { InvalidInput, NotAllowed, NotFound } from '../../domain/errors.ts'
import type { Mission } from '../../domain/records/mission.ts'
import type { Project } from '../../domain/records/project.ts'
import type { Session } from '../../domain/records/session.ts'
import type { Included } from '../../domain/rules/candidate.ts'
import type { SizedFile } from '../../domain/rules/risk.ts'
import { type Difference, differenceOf, fileIn, fileOf, liveDifferenceOf, mergeBase } from '../../git/index.ts'
import type { Fleet } from '../fleet.ts'
import { includesOf, lookAtPlace, shownOf } from '../landing/candidates.ts'
import { repositoryOf } from '../projects/repositories.ts'
import { current } from '../records.ts'
import { gitWithin } from '../sessions/sandbox.ts'

/** The most bytes of a whole diff, and of one file. */
const MAX_BYTES = 1024 * 1024
const MAX_FILE_BYTES = 8 * 1024 * 1024

export interface DiffWish {
  /** Only this file. */
  path?: string
  context?: number
  /** False: only the list of files. */
  text?: boolean
}

export interface Diff {
  text: string
  truncated: boolean
  files: SizedFile[]
  files_omitted: number
  /** The lines of all files. */
  added: number
  deleted: number
}

/** What a session changed so far, with its uncommitted changes while it runs. */
export async function sessionDiff(fleet: Fleet, session: Session, wish: DiffWish = {}): Promise<Diff> {
  const { worktree, from } = comparable(session)
  const project = (await current(fleet, 'projects', session.project_id)).value
  if (session.status !== 'ended' || !session.end_commit) {
    const mission = (await current(fleet, 'missions', session.mission_id)).value
    try {
      const within = await gitWithin(fleet, session, mission, project)
      return diffOf(await liveDifferenceOf(worktree, from, bounded(wish), within), wish)
    } catch (error) {
      if (wish.path === undefined && session.status === 'starting' && error instanceof NotFound)
        return diffOf(NOTHING, wish)
      throw error
    }
  }
  return commitsDiff(project, await partedFrom(project, session), session.end_commit, wish)
}

/** Where its work starts. A base branch that it should have merged but did not is no part of its history. */
async function partedFrom(project: Project, { start_commit, end_commit }: Session): Promise<string> {
  return (await mergeBase(await repositoryOf(project), start_commit!, end_commit!)) ?? start_commit!
}

export async function commitsDiff(project: Project, from: string, to: string, wish: DiffWish = {}): Promise<Diff> {
  return diffOf(await differenceOf(await repositoryOf(project), from, to, bounded(wish)), wish)
}

const NOTHING: Difference = { text: '', truncated: false, files: [], filesOmitted: 0, added: 0, deleted: 0 }

export interface MissionDiff extends Diff {
  /** The commit that would land, or has landed; null while its agent works. */
  candidate: string | null
  /** The missions whose work is part of it. */
  includes: Included[]
}

/**
 * Everything a mission would bring onto the base branch, or has brought. While an agent works: what it changed so far.
 */
export async function missionDiff(fleet: Fleet, mission: Mission, wish: DiffWish = {}): Promise<MissionDiff> {
  const session = await newestSession(fleet, mission)
  // A request for one file already has the list.
  const now = wish.path === undefined ? (await lookAtPlace(fleet, mission)).mission : mission
  const project = (await current(fleet, 'projects', mission.project_id)).value
  const shown = session.status === 'ended' ? await shownOf(project, now) : undefined
  if (shown)
    return {
      ...(await commitsDiff(project, shown.from, shown.to, wish)),
      candidate: shown.candidate,
      includes: await includesOf(fleet, project, now),
    }
  try {
    return { ...(await sessionDiff(fleet, session, wish)), candidate: null, includes: [] }
  } catch (error) {
    if (session.status === 'ended') throw error
    // Its worktree may have been taken away because the session ended while it was read.
    const { value } = await current(fleet, 'missions', mission.id)
    const { id, status } = await newestSession(fleet, value)
    if (id === session.id && status === session.status) throw error
    return missionDiff(fleet, value, wish)
  }
}

export async function newestSession(fleet: Fleet, mission: Mission): Promise<Session> {
  if (!mission.session_id)
    throw new NotAllowed(`Mission ${mission.id} has not run yet.`, { try: `fleet mission dispatch ${mission.id}` })
  return (await current(fleet, 'sessions', mission.session_id)).value
}

function comparable({ id, worktree, start_commit: from }: Session): { worktree: string; from: string } {
  if (worktree && from) return { worktree, from }
  throw new NotAllowed(`Session ${id} has no worktree, so there is nothing to compare.`)
}

const bounded = (wish: DiffWish) => ({ ...wish, maxBytes: wish.path === undefined ? MAX_BYTES : MAX_FILE_BYTES })

function diffOf(difference: Difference | undefined, { path }: DiffWish): Diff {
  if (!difference) throw new NotFound('changed file', path!, { try: 'Leave "path" out to see which files changed.' })
  const { filesOmitted: files_omitted, ...rest } = difference
  return { ...rest, files_omitted }
}

export interface FileSide {
  /** Null where the file is not text. */
  lines: string[] | null
  first_line: number
  total_lines: number
}

/** The commits on both sides of a diff; null for the worktree as it is. */
interface Sides {
  base: string
  work: string | null
}

async function sidesOf(project: Project, session: Session, mission: Mission | undefined): Promise<Sides> {
  const ended = session.status === 'ended' && session.end_commit !== null
  const shown = ended && mission ? await shownOf(project, mission) : undefined
  if (shown) return { base: shown.from, work: shown.to }
  if (ended) return { base: await partedFrom(project, session), work: session.end_commit }
  return { base: comparable(session).from, work: null }
}

/** Lines of a file on one side of a diff, for the context that the diff leaves out. */
export async function fileAt(
  fleet: Fleet,
  { session, mission }: { session: Session; mission?: Mission },
  { path, side, from, count }: { path: string; side: 'base' | 'work'; from: number; count: number },
): Promise<FileSide> {
  requireInside(path)
  const { worktree } = comparable(session)
  const project = (await current(fleet, 'projects', session.project_id)).value
  const commit = (await sidesOf(project, session, mission))[side]
  const bytes = commit
    ? await fileOf(await repositoryOf(project), commit, path, MAX_FILE_BYTES)
    : await fileIn(worktree, path, MAX_FILE_BYTES)
  if (!bytes) throw new NotFound('file', path, { try: 'Links, folders and what is larger than 8 MiB are not shown.' })
  if (bytes.length > MAX_FILE_BYTES) throw new NotAllowed(`${path} is larger than 8 MiB.`)
  if (bytes.includes(0)) return { lines: null, first_line: from, total_lines: 0 }
  const all = bytes.toString('utf8').split('\n')
  if (all.at(-1) === '') all.pop()
  return { lines: all.slice(from - 1, from - 1 + count), first_line: from, total_lines: all.length }
}

function requireInside(path: string): void {
  const steps = path.split('/')
  if (path.includes('\0') || steps[0] === '.git' || steps.some(step => step === '' || step === '.' || step === '..'))
    throw new InvalidInput('path', 'it must be the path of a file inside the worktree', {
      try: 'Write it as the list of changed files does, such as src/main.ts.',
    })
}
