import { NotAllowed } from '../domain/errors.ts'
import type { Mission } from '../domain/mission.ts'
import type { Project } from '../domain/project.ts'
import type { ChangedFile } from '../domain/report.ts'
import type { Session } from '../domain/session.ts'
import { changes, diffText, liveChanges, liveDiffText } from '../git/index.ts'
import type { Fleet } from './fleet.ts'
import { current } from './records.ts'
import { repositoryOf } from './repositories.ts'

const MAX_BYTES = 1024 * 1024

export interface Diff {
  text: string
  truncated: boolean
  files: ChangedFile[]
}

/** What a session changed so far; while it runs, also what it has not committed. */
export async function sessionDiff(fleet: Fleet, session: Session): Promise<Diff> {
  if (!session.worktree || !session.start_commit)
    throw new NotAllowed(`Session ${session.id} has no worktree, so there is nothing to compare.`)
  const project = (await current(fleet, 'projects', session.project_id)).value
  if (session.status === 'ended' && session.end_commit)
    return commitsDiff(project, session.start_commit, session.end_commit)
  const [text, changed] = await Promise.all([
    liveDiffText(session.worktree, session.start_commit, { maxBytes: MAX_BYTES }),
    liveChanges(session.worktree, session.start_commit),
  ])
  return { ...text, files: changed.files }
}

export async function commitsDiff(project: Project, from: string, to: string): Promise<Diff> {
  const repository = await repositoryOf(project)
  const [text, changed] = await Promise.all([
    diffText(repository, from, to, { maxBytes: MAX_BYTES }),
    changes(repository, from, to),
  ])
  return { ...text, files: changed.files }
}

export async function missionDiff(fleet: Fleet, mission: Mission): Promise<Diff> {
  if (!mission.session_id)
    throw new NotAllowed(`Mission ${mission.id} has not run yet.`, { try: `fleet mission dispatch ${mission.id}` })
  return sessionDiff(fleet, (await current(fleet, 'sessions', mission.session_id)).value)
}
