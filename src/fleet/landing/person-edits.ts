import { NotAllowed } from '../../domain/errors.ts'
import type { Candidate, Mission } from '../../domain/records/mission.ts'
import type { Project } from '../../domain/records/project.ts'
import { keptRefs, type Session } from '../../domain/records/session.ts'
import { about, type By, type Step } from '../../domain/rules/life.ts'
import { changes as changesBetween, moveOn, type Repository } from '../../git/index.ts'
import type { Change, Version } from '../../store/index.ts'
import { type Ask, by, oncePerKey } from '../commands.ts'
import type { Fleet } from '../fleet.ts'
import { repositoryOf } from '../projects/repositories.ts'
import { current, put } from '../records.ts'
import { gitWithin } from '../sessions/sandbox.ts'
import { inPlace, worktreeTurns } from '../worktrees/retiring.ts'
import { FILES_TOLD, isItsOwn, lookAtPlace, requireExpected, waitsAlone } from './candidates.ts'

/** What a person's edit starts from. */
export interface Edited {
  mission: Mission & { candidate: Candidate }
  session: Session
  project: Project
  repository: Repository
  by: By
}

export interface Edit {
  /** A commit that continues the candidate. */
  commit: string
  /** Why the candidate changed, as a sentence. */
  cause: string
  /** The mission after it, if more than its candidate changes. */
  step?: (mission: Mission) => Step
  /** Other records that change with it. */
  changes?: Change[]
}

/**
 * Makes a commit of a person the candidate of a mission, in its worktree and on its branch. The person names the
 * candidate they were shown. The new one needs an approval of its own, as any other work.
 */
export async function editWork(
  fleet: Fleet,
  ask: Ask,
  { mission: asked, expected }: { mission: Mission; expected: string },
  make: (start: Edited) => Promise<Edit>,
): Promise<Mission> {
  await lookAtPlace(fleet, asked)
  const edit = () =>
    oncePerKey(fleet, ask, async () => {
      const { value, version } = await current(fleet, 'missions', asked.id)
      const start = await editable(fleet, value, expected, by(fleet, ask))
      return { subject: asked.id, ...(await moved(fleet, start, await make(start), version)) }
    })
  await worktreeTurns.take(asked.id, async () => {
    const { session_id } = (await current(fleet, 'missions', asked.id)).value
    const session = session_id ? (await fleet.store.get('sessions', session_id))?.value : undefined
    return session ? inPlace(session, edit) : edit()
  })
  return (await current(fleet, 'missions', asked.id)).value
}

async function editable(fleet: Fleet, mission: Mission, expected: string, when: By): Promise<Edited> {
  const { id, candidate, session_id, deleting } = mission
  if (deleting) throw new NotAllowed(`Mission ${id} is being deleted.`)
  if (!candidate || !session_id || !waitsAlone(mission))
    throw new NotAllowed(
      `Mission ${id} is ${mission.status}; its work can be changed only while it waits for review.`,
      {
        try: `fleet mission show ${id}`,
      },
    )
  const { value: project } = await current(fleet, 'projects', mission.project_id)
  await requireExpected(project, { ...mission, candidate }, expected)
  const { value: session } = await current(fleet, 'sessions', session_id)
  if (!(await isItsOwn(fleet, session)))
    throw new NotAllowed('Its worktree was removed, or another mission works there.', {
      try: 'Request the change from the agent instead',
    })
  return { mission: { ...mission, candidate }, session, project, repository: await repositoryOf(project), by: when }
}

async function moved(
  fleet: Fleet,
  { mission, session, project, repository, by }: Edited,
  edit: Edit,
  version: Version,
) {
  const { commit } = edit
  const kept = await moveOn({
    worktree: session.worktree!,
    to: commit,
    never: project.copy_files,
    within: await gitWithin(fleet, session, mission, project),
  })
  const candidate: Candidate = { commit, session_id: session.id, at: by.now }
  const { mission: stepped, events } = edit.step?.(mission) ?? { mission, events: [] }
  const next: Mission = { ...stepped, candidate, approval: null, updated_at: by.now }
  const { version: read } = await current(fleet, 'sessions', session.id)
  const ended: Session = {
    ...session,
    end_commit: commit,
    descends_from: null,
    landable: false,
    kept_refs: keptRefs(session, kept ? [kept] : undefined),
  }
  const differs = await changesBetween(repository, mission.candidate.commit, commit)
  const files = differs.files.map(({ path }) => path).slice(0, FILES_TOLD)
  const told = about(next, 'candidate_changed', by, {
    session_id: session.id,
    cause: edit.cause,
    data: { candidate: commit, before: mission.candidate.commit, files },
  })
  return {
    changes: [put('missions', next, version), put('sessions', ended, read), ...(edit.changes ?? [])],
    events: [told, ...events],
  }
}
