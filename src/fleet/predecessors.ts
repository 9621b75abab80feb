import { type Included, standingOf } from '../domain/candidate.ts'
import { effective } from '../domain/effective.ts'
import type { Mission } from '../domain/mission.ts'
import type { Project } from '../domain/project.ts'
import { changes, commitsBeyond, isAncestor, mergeBase, type Repository } from '../git/index.ts'
import { defaultsOf } from './capacity.ts'
import type { Fleet } from './fleet.ts'
import { CONTINUES } from './planning-sessions.ts'
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
  if (!(await beganWithin(fleet, mission, beyond))) return []
  const found: Included[] = []
  const before = await predecessorsOf(fleet, mission)
  for (let at = 0; at < before.length; at += AT_ONCE)
    found.push(
      ...(await Promise.all(before.slice(at, at + AT_ONCE).map(each => included(fleet, each, where, beyond)))).flat(),
    )
  const parents = await snapshotOfParent(fleet, mission, where, beyond)
  return [...found, ...parents]
}

/** Whether any of its branches began with something that is not on the base branch. */
async function beganWithin(fleet: Fleet, mission: Mission, beyond: ReadonlySet<string>): Promise<boolean> {
  for await (const { value } of all(fleet, 'sessions', 'mission', [mission.id]))
    if (!CONTINUES.includes(value.reason) && [value.start_commit, value.branch_from].some(at => at && beyond.has(at)))
      return true
  return false
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
  const last = await lastWithin(fleet, repository, mission, beyond)
  if (!last) return []
  const { start, commit } = last
  const { files, filesOmitted } = await changes(repository, start, commit)
  if (!files.length) return []
  const { landing } = effective(mission, project, defaultsOf(fleet))
  const standing = standingOf(mission, await letLand(repository, mission, commit), landing)
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

/** The newest of its work that is part of what would land. It may have gone on since: a fix, or what a process left. */
async function lastWithin(
  fleet: Fleet,
  repository: Repository,
  mission: Mission,
  beyond: ReadonlySet<string>,
): Promise<{ start: string; commit: string } | undefined> {
  const sessions = (await Array.fromAsync(all(fleet, 'sessions', 'mission', [mission.id]))).map(({ value }) => value)
  for (const { start_commit: start, end_commit: end } of sessions.toReversed()) {
    if (!start || !end) continue
    const own = beyond.has(end) ? [end] : await commitsBeyond(repository, start, end)
    const commit = [...own].find(each => beyond.has(each))
    if (commit) return { start, commit }
  }
  return undefined
}

/** Whether somebody has let this commit land, or something that was built on it by the same mission. */
async function letLand(
  repository: Repository,
  mission: Mission,
  commit: string,
): Promise<'landed' | 'approved' | null> {
  const { landed, past_landings, approval } = mission
  const held = [landed, ...past_landings].flatMap(each => (each?.candidate && !each.undone ? [each.candidate] : []))
  for (const candidate of held) if (await isAncestor(repository, commit, candidate)) return 'landed'
  return approval && (await isAncestor(repository, commit, approval.candidate)) ? 'approved' : null
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
