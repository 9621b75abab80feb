import type { Mission } from '../../domain/records/mission.ts'
import type { Project } from '../../domain/records/project.ts'
import type { Session } from '../../domain/records/session.ts'
import { type Included, standingOf } from '../../domain/rules/candidate.ts'
import { effective } from '../../domain/rules/effective.ts'
import { changes, commitsBeyond, commitsOf, isAncestor, mergeBase, type Repository } from '../../git/index.ts'
import { defaultsOf } from '../dispatch/capacity.ts'
import { CONTINUES } from '../dispatch/next-session.ts'
import type { Fleet } from '../fleet.ts'
import { all, sessionsOf } from '../records.ts'

/** The most missions that are compared. A workflow may have a thousand stages. */
const MOST_LOOKED_AT = 1000
const AT_ONCE = 8

interface Where {
  project: Project
  repository: Repository
  /** The tip of the base branch. */
  base: string
  candidate: string
}

/** The work of other missions that a candidate holds and that is not on the base branch yet. */
export async function includedIn(fleet: Fleet, mission: Mission, where: Where): Promise<Included[]> {
  const isRelated = mission.depends_on.length > 0 || mission.fork_of || (mission.base_ref && mission.parent_mission_id)
  if (!isRelated && (await isOneOfItsOwn(fleet, mission, where.candidate))) return []
  const beyond = await commitsBeyond(where.repository, where.base, where.candidate)
  const found: Included[] = []
  const related = isRelated && (await beganWithin(fleet, mission, beyond)) ? await predecessorsOf(fleet, mission) : []
  const before = [...related, ...(await strangersWithin(fleet, mission, where, beyond, related))]
  for (let at = 0; at < before.length; at += AT_ONCE)
    found.push(
      ...(await Promise.all(before.slice(at, at + AT_ONCE).map(each => included(fleet, each, where, beyond)))).flat(),
    )
  const parents = isRelated ? await snapshotOfParent(fleet, mission, where, beyond) : []
  return [...found, ...parents]
}

/** Whether the candidate is one commit that we made on the base branch. Then it holds nobody else's work. */
async function isOneOfItsOwn(fleet: Fleet, { session_id }: Mission, candidate: string): Promise<boolean> {
  const session = session_id ? (await fleet.store.get('sessions', session_id))?.value : undefined
  return session?.landable === true && session.end_commit === candidate && session.start_commit === session.base_tip
}

/**
 * Missions without a declared relation to this one whose commits it holds: it was started from their branch, or its
 * agent merged them. Their newer versions count too, because nobody approved those. The work of its own sub-missions is
 * its to merge.
 */
async function strangersWithin(
  fleet: Fleet,
  { id, parent_mission_id }: Mission,
  { project, repository, base }: Where,
  beyond: ReadonlySet<string>,
  known: readonly Predecessor[],
): Promise<Predecessor[]> {
  if (!beyond.size) return []
  const unlanded: Mission[] = []
  for await (const { value } of all(fleet, 'missions', 'project', [project.id])) {
    const isKnown =
      value.id === id || value.parent_mission_id === id || known.some(each => each.mission.id === value.id)
    // A parent at work has handed on what it had: see snapshotOfParent.
    const handsOn = value.id === parent_mission_id && !value.candidate
    if (value.sessions > 0 && value.result !== 'landed' && !isKnown && !handsOn) unlanded.push(value)
  }
  const others: Other[] = []
  for (const mission of unlanded.slice(-MOST_LOOKED_AT))
    others.push({ mission, tips: (await sessionsOf(fleet, mission.id)).flatMap(({ value }) => tipsOf(value)) })
  const within = await holders(others, async tips =>
    [...(await commitsOf(repository, tips, [base]))].some(commit => beyond.has(commit)),
  )
  if (!within.length) return []
  const own = (await sessionsOf(fleet, id)).map(({ value }) => value)
  return within.map(({ mission }) => ({ mission, forked: false, strangerTo: own }))
}

interface Other {
  mission: Mission
  tips: readonly string[]
}

/**
 * The missions that hold something. It halves the list instead of asking about each, because nearly always none does.
 */
async function holders(
  others: readonly Other[],
  found: (tips: readonly string[]) => Promise<boolean>,
): Promise<readonly Other[]> {
  if (!(await found(others.flatMap(({ tips }) => tips)))) return []
  if (others.length === 1) return others
  const middle = Math.ceil(others.length / 2)
  return [...(await holders(others.slice(0, middle), found)), ...(await holders(others.slice(middle), found))]
}

/** Everything that a session left in the repository. */
const tipsOf = ({ end_commit, kept_refs }: Session): string[] => [...(end_commit ? [end_commit] : []), ...kept_refs]

/** Whether one of its branches started from a commit that is not on the base branch. */
async function beganWithin(fleet: Fleet, mission: Mission, beyond: ReadonlySet<string>): Promise<boolean> {
  for (const { value } of await sessionsOf(fleet, mission.id))
    if (!CONTINUES.includes(value.reason) && [value.start_commit, value.branch_from].some(at => at && beyond.has(at)))
      return true
  return false
}

interface Predecessor {
  mission: Mission
  /** A fork is made to continue this work. */
  forked: boolean
  /**
   * Set if no relation is declared: the sessions of the mission that would land. Then only commits that this mission
   * had first count as its own.
   */
  strangerTo?: readonly Session[]
}

/** The missions that a mission was to start from, those that they were to start from, and so on. */
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
  { mission, forked, strangerTo }: Predecessor,
  { project, repository }: Where,
  beyond: ReadonlySet<string>,
): Promise<Included[]> {
  const last = await lastWithin(fleet, repository, { mission, strangerTo }, beyond)
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

/** Its newest work that is part of what would land. It may have gone on since, by a fix or a leftover process. */
async function lastWithin(
  fleet: Fleet,
  repository: Repository,
  { mission, strangerTo }: Pick<Predecessor, 'mission' | 'strangerTo'>,
  beyond: ReadonlySet<string>,
): Promise<{ start: string; commit: string } | undefined> {
  for (const { value: session } of (await sessionsOf(fleet, mission.id)).toReversed()) {
    const { start_commit: start, end_commit: end } = session
    if (!start) continue
    const own = strangerTo
      ? await hadFirst(repository, session, strangerTo)
      : await madeBy(repository, start, end, beyond)
    const commit = [...own].find(each => beyond.has(each))
    if (commit) return { start, commit }
  }
  return undefined
}

async function madeBy(
  repository: Repository,
  start: string,
  end: string | null,
  beyond: ReadonlySet<string>,
): Promise<Iterable<string>> {
  if (!end || beyond.has(end)) return end ? [end] : []
  return commitsBeyond(repository, start, end)
}

/** The commits of a session that none of the others had when it ended. */
async function hadFirst(
  repository: Repository,
  session: Session,
  others: readonly Session[],
): Promise<ReadonlySet<string>> {
  const { start_commit, branch_from, ended_at } = session
  const before = others.filter(each => each.ended_at && ended_at && each.ended_at < ended_at)
  const not = [start_commit, branch_from, ...before.map(each => each.end_commit)].filter(commit => commit !== null)
  return commitsOf(repository, tipsOf(session), not)
}

/** Whether somebody approved this commit, or a commit of the same mission that was built on it. */
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

/** A sub-mission may start from a snapshot of its parent's files while the parent still works. */
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
