import { InvalidInput, NotAllowed, NotFound } from '../domain/errors.ts'
import type { Mission } from '../domain/mission.ts'
import type { Project } from '../domain/project.ts'
import type { SizedFile } from '../domain/risk.ts'
import type { Session } from '../domain/session.ts'
import { type Difference, differenceOf, fileIn, fileOf, liveDifferenceOf } from '../git/index.ts'
import type { Fleet } from './fleet.ts'
import { current } from './records.ts'
import { repositoryOf } from './repositories.ts'

/** Of a whole diff, and of that of one file. */
const MAX_BYTES = 1024 * 1024
const MAX_FILE_BYTES = 8 * 1024 * 1024

export interface DiffWish {
  /** Only this file. */
  path?: string
  context?: number
  /** false: only which files differ. */
  text?: boolean
}

export interface Diff {
  text: string
  truncated: boolean
  files: SizedFile[]
  files_omitted: number
  /** Lines, of all files. */
  added: number
  deleted: number
}

/** What a session changed so far; while it runs, also what it has not committed. */
export async function sessionDiff(fleet: Fleet, session: Session, wish: DiffWish = {}): Promise<Diff> {
  const { worktree, from } = comparable(session)
  const project = (await current(fleet, 'projects', session.project_id)).value
  if (session.status === 'ended' && session.end_commit) return commitsDiff(project, from, session.end_commit, wish)
  return diffOf(await liveDifferenceOf(worktree, from, bounded(wish)), wish)
}

export async function commitsDiff(project: Project, from: string, to: string, wish: DiffWish = {}): Promise<Diff> {
  return diffOf(await differenceOf(await repositoryOf(project), from, to, bounded(wish)), wish)
}

export async function missionDiff(fleet: Fleet, mission: Mission, wish: DiffWish = {}): Promise<Diff> {
  return sessionDiff(fleet, await newestSession(fleet, mission), wish)
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
  /** Empty: it is no text. */
  lines: string[] | null
  first_line: number
  total_lines: number
}

/** Lines of a file as it was before the session, or as the session has it: what a diff leaves out around its changes. */
export async function fileAt(
  fleet: Fleet,
  session: Session,
  { path, side, from, count }: { path: string; side: 'base' | 'work'; from: number; count: number },
): Promise<FileSide> {
  requireInside(path)
  const { worktree, from: start } = comparable(session)
  const project = (await current(fleet, 'projects', session.project_id)).value
  const commit = side === 'base' ? start : session.status === 'ended' ? session.end_commit : null
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
