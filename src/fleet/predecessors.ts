import { type Included, standingOf } from '../domain/candidate.ts'
import { effective } from '../domain/effective.ts'
import type { Mission } from '../domain/mission.ts'
import type { Project } from '../domain/project.ts'
import type { Session } from '../domain/session.ts'
import { changes, commitsBeyond, mergeBase, type Repository } from '../git/index.ts'
import { defaultsOf } from './capacity.ts'
import type { Fleet } from './fleet.ts'
import { all } from './records.ts'

/** More than anybody looks through; a workflow may have a thousand stages. */
const MOST_LOOKED_AT = 1000
const AT_ONCE = 8

interface Where {
  project: Project
  repository: Repository
  /** Where the base branch is. */
  base: string
  candidate: string
}

/** Whose work a candidate holds beside that of its own mission, as far as it is not on the base branch by itself. */
export async function includedIn(fleet: Fleet, mission: Mission, where: Where): Promise<Included[]> {
  if (!mission.depends_on.length && !mission.fork_of && !(mission.base_ref && mission.parent_mission_id)) return []
  const beyond = await commitsBeyond(where.repository, where.base, where.candidate)
  const found: Included[] = []
  const before = await predecessorsOf(fleet, mission)
  for (let at = 0; at < before.length; at += AT_ONCE)
    found.push(
      ...(await Promise.all(before.slice(at, at + AT_ONCE).map(each => included(fleet, each, where, beyond)))).flat(),
    )
  const parents = await snapshotOfParent(fleet, mission, where, beyond)
  return [...found, ...parents]
}

interface Predecessor {
  mission: Mission
  /** A fork is made to go on with this work. */
  forked: boolean
}

/** What a mission was to begin with, and what that was to begin with, and so on. */
async function predecessorsOf(fleet: Fleet, mission: Mission): Promise<Predecessor[]> {
  const found = new Map<string, Predecessor>()
  const wanted = [mission]
  for (let next = wanted.shift(); next && found.size < MOST_LOOKED_AT; next = wanted.shift()) {
    const forkOf = next.fork_of?.mission_id
    for (const id of [...next.depends_on, ...(forkOf ? [forkOf] : [])]) {
      if (found.has(id) || id === mission.id) continue
      const stored = await fleet.store.get('missions', id)
      if (!stored) continue
      found.set(id, { mission: stored.value, forked: id === forkOf })
      wanted.push(stored.value)
    }
  }
  return [...found.values()]
}

async function included(
  fleet: Fleet,
  { mission, forked }: Predecessor,
  { project, repository }: Where,
  beyond: ReadonlySet<string>,
): Promise<Included[]> {
  const session = await lastWithin(fleet, mission, beyond)
  if (!session) return []
  const commit = session.end_commit!
  const { files, filesOmitted } = await changes(repository, session.start_commit!, commit)
  if (!files.length) return []
  const { landing } = effective(mission, project, defaultsOf(fleet))
  const standing = standingOf(mission, commit, landing)
  return [
    {
      mission_id: mission.id,
      title: mission.title,
      commit,
      files: files.map(({ path }) => path),
      files_omitted: filesOmitted,
      standing: forked && standing === 'unapproved' ? 'handed_on' : standing,
    },
  ]
}

/** The newest session whose end is part of what would land. */
async function lastWithin(fleet: Fleet, mission: Mission, beyond: ReadonlySet<string>): Promise<Session | undefined> {
  const sessions = (await Array.fromAsync(all(fleet, 'sessions', 'mission', [mission.id]))).map(({ value }) => value)
  return sessions.findLast(({ start_commit, end_commit }) => start_commit && end_commit && beyond.has(end_commit))
}

/** A part that was made from the files of its parent as they were then; the parent may be at work still. */
async function snapshotOfParent(
  fleet: Fleet,
  { base_ref, parent_mission_id }: Mission,
  { repository, base }: Where,
  beyond: ReadonlySet<string>,
): Promise<Included[]> {
  const parent = base_ref && parent_mission_id ? await fleet.store.get('missions', parent_mission_id) : undefined
  if (!parent || !beyond.has(base_ref!)) return []
  const { files, filesOmitted } = await changes(
    repository,
    (await mergeBase(repository, base, base_ref!)) ?? base,
    base_ref!,
  )
  if (!files.length) return []
  return [
    {
      mission_id: parent.value.id,
      title: parent.value.title,
      commit: base_ref!,
      files: files.map(({ path }) => path),
      files_omitted: filesOmitted,
      standing: 'handed_on',
    },
  ]
}
