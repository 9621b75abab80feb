import { Ambiguous, NotFound } from '../domain/errors.ts'
import { FLEET, FleetState } from '../domain/records/fleet.ts'
import type { Mission } from '../domain/records/mission.ts'
import type { Project } from '../domain/records/project.ts'
import type { Report } from '../domain/records/report.ts'
import type { Session } from '../domain/records/session.ts'
import {
  type Change,
  type Collection,
  Damaged,
  type RecordOf,
  type Store,
  type Stored,
  type Version,
} from '../store/index.ts'
import type { Fleet } from './fleet.ts'

export { derivedId } from './derived-id.ts'

/** A write whose value is known to fit its collection. */
export const put = <C extends Collection>(collection: C, value: RecordOf<C>, expects: Version | 'absent'): Change =>
  ({ put: collection, value, expects }) as Change

const NOUNS: Record<Collection, string> = {
  projects: 'project',
  missions: 'mission',
  sessions: 'session',
  reports: 'report',
  comments: 'comment',
  evidence: 'evidence',
  check_runs: 'check run',
  messages: 'message',
  questions: 'question',
  approval_rules: 'approval rule',
  workflows: 'workflow',
  schedules: 'schedule',
  processes: 'process',
  plans: 'plan',
  loops: 'loop',
  teams: 'team',
  members: 'member',
  swarms: 'swarm',
  posts: 'post',
  checkpoints: 'checkpoint',
  reservations: 'reservation',
  spawns: 'request for a member',
  mail: 'message',
  deliveries: 'delivery',
  plugins: 'plugin',
  templates: 'template',
  devices: 'device',
  principals: 'person or service',
  tokens: 'token',
  audit: 'entry of the audit log',
  notification_settings: 'notification settings',
  notifications: 'notification',
  receipts: 'receipt',
  fleet: 'fleet',
  counts: 'count',
  providers: 'provider',
  faults: 'fault',
  lease: 'lease',
  migrations: 'migration',
  spending: 'spending',
}

/** The command that lists the records of a collection. */
const LISTS: Partial<Record<Collection, string>> = {
  projects: 'fleet project list',
  missions: 'fleet list',
  questions: 'fleet inbox',
  approval_rules: 'fleet approvals list',
  workflows: 'fleet workflow list',
  schedules: 'fleet schedule list',
  plans: 'fleet plan list',
  teams: 'fleet team list',
  members: 'fleet team show <team>',
  swarms: 'fleet swarm list',
  posts: 'fleet blackboard read',
  checkpoints: 'fleet checkpoint list',
  mail: 'fleet mail list',
  plugins: 'fleet plugin list',
  devices: 'fleet device list',
  principals: 'fleet user list',
  tokens: 'fleet token list',
}

/** So many that begin alike are named; of so many, those that do not exist for somebody are left out. */
const MOST_ALIKE = 6
const MOST_LEFT_OUT = 500

/**
 * The record with this id, the project with this name, or the only record whose id begins with this text. A record
 * that is not `theirs` does not exist, so it makes no beginning ambiguous either.
 */
export async function lookUp<C extends Collection>(
  fleet: Fleet,
  collection: C,
  ref: string,
  isTheirs?: (value: RecordOf<C>) => boolean,
): Promise<Stored<RecordOf<C>>> {
  const exact = await fleet.store.get(collection, ref)
  if (exact && (!isTheirs || isTheirs(exact.value))) return exact
  const named = collection === 'projects' ? await projectCalled(fleet, ref) : undefined
  if (named) return current(fleet, collection, named.id)
  const noun = NOUNS[collection]
  const limit = isTheirs ? MOST_LEFT_OUT : MOST_ALIKE
  const { items } = await fleet.store.find(collection, { index: 'id', prefix: ref, limit })
  const theirs = isTheirs ? items.filter(({ value }) => isTheirs(value)).slice(0, MOST_ALIKE) : items
  const ids = theirs.map(item => ({ id: (item.value as { id: string }).id }))
  if (ids.length > 1) throw new Ambiguous(noun, ref, ids)
  const found = ids[0] && (await fleet.store.get(collection, ids[0].id))
  if (!found) throw new NotFound(noun, ref, { try: LISTS[collection] })
  return found
}

/** The projects with this name in any case. Only homes from before names had to be unique have more than one. */
export async function projectsCalled(fleet: Fleet, name: string): Promise<Project[]> {
  const { items } = await fleet.store.find('projects', { index: 'name', equals: [name.toLowerCase()], limit: 20 })
  return items.map(({ value }) => value).filter(({ deleting }) => !deleting)
}

async function projectCalled(fleet: Fleet, name: string): Promise<Project | undefined> {
  const alike = await projectsCalled(fleet, name)
  const exact = alike.filter(project => project.name === name)
  const meant = exact.length ? exact : alike
  if (meant.length > 1)
    throw new Ambiguous(
      'project',
      name,
      meant.map(({ id, path }) => ({ id, path })),
    )
  return meant[0]
}

export async function current<C extends Collection>(
  fleet: Fleet,
  collection: C,
  id: string,
): Promise<Stored<RecordOf<C>>> {
  const found = await fleet.store.get(collection, id)
  if (!found) throw new NotFound(NOUNS[collection], id)
  return found
}

/** For lists: a damaged record counts as absent, so that it hides nothing but itself. `fleet status` names it. */
export async function readable<C extends Collection>(
  fleet: Fleet,
  collection: C,
  id: string,
): Promise<Stored<RecordOf<C>> | undefined> {
  try {
    return await fleet.store.get(collection, id)
  } catch (error) {
    if (error instanceof Damaged) return undefined
    throw error
  }
}

export async function fleetState(fleet: Fleet): Promise<{ value: FleetState; expects: Version | 'absent' }> {
  const { value, expects } = await ownRecord(fleet.store, 'fleet', FLEET)
  return { value: value ?? FleetState.parse({ id: FLEET, updated_at: fleet.now() }), expects }
}

/**
 * A record that the fleet keeps for itself. A damaged one is overwritten, so that no work waits for a person's repair.
 */
export async function ownRecord<C extends 'fleet' | 'counts' | 'providers' | 'faults' | 'notification_settings'>(
  store: Store,
  collection: C,
  id: string,
): Promise<{ value: RecordOf<C> | undefined; expects: Version | 'absent' }> {
  try {
    const stored = await store.get(collection, id)
    return { value: stored?.value, expects: stored?.version ?? 'absent' }
  } catch (error) {
    if (!(error instanceof Damaged)) throw error
    return { value: undefined, expects: error.version }
  }
}

/** The dependencies of a mission as they are now, without deleted ones. */
export async function dependenciesOf(fleet: Fleet, mission: Pick<Mission, 'depends_on'>): Promise<Stored<Mission>[]> {
  const found = await Promise.all(mission.depends_on.map(id => fleet.store.get('missions', id)))
  return found.filter(d => d !== undefined)
}

/** Every record of an index range, page by page. */
export async function* all<C extends Collection>(
  fleet: Fleet,
  collection: C,
  index: string,
  equals: readonly (string | number)[] = [],
): AsyncGenerator<Stored<RecordOf<C>>> {
  let cursor: string | undefined
  do {
    const page = await fleet.store.find(collection, { index, equals, limit: 100, cursor })
    yield* page.items
    cursor = page.cursor
  } while (cursor)
}

/** The newest report of a mission. */
export async function newestReport(fleet: Fleet, missionId: string): Promise<Report | undefined> {
  const query = { index: 'mission', equals: [missionId], newestFirst: true, limit: 1 }
  return (await fleet.store.find('reports', query)).items[0]?.value
}

/**
 * The records in a list and those that `names` names, each read as it is now: lists may lag behind, so no decision
 * rests on a list alone. A record that is over for good is taken from the list.
 */
export async function asTheyAre<C extends Collection>(
  fleet: Fleet,
  collection: C,
  { index, equals }: { index: string; equals: readonly string[] },
  names: readonly string[],
  isForGood: (value: RecordOf<C>) => boolean = () => false,
): Promise<Stored<RecordOf<C>>[]> {
  const idOf = ({ value }: Stored<RecordOf<C>>) => (value as { id: string }).id
  const listed = await Array.fromAsync(all(fleet, collection, index, equals))
  const over = listed.filter(({ value }) => isForGood(value))
  const done = new Set(over.map(idOf))
  const ids = new Set([...listed.map(idOf), ...names])
  const now = await Promise.all([...ids].filter(id => !done.has(id)).map(id => fleet.store.get(collection, id)))
  return [...over, ...now.filter(each => each !== undefined)]
}

/** Sorts the oldest first, the order that a list by an index already has. */
export const inOrder = <T extends { created_at: string }>(found: Stored<T>[]): Stored<T>[] =>
  found.toSorted((one, other) => one.value.created_at.localeCompare(other.value.created_at))

/** The sessions of a mission, the oldest first. */
export async function sessionsOf(
  fleet: Fleet,
  missionId: string,
  isForGood?: (session: Session) => boolean,
): Promise<Stored<Session>[]> {
  const names = (await fleet.store.get('missions', missionId))?.value.session_ids ?? []
  return inOrder(await asTheyAre(fleet, 'sessions', { index: 'mission', equals: [missionId] }, names, isForGood))
}

/** What the sessions of a mission cost. The cost of an ended session is final. */
export async function costsOf(fleet: Fleet, missionId: string): Promise<{ ended: number; live: number }> {
  const costs = { ended: 0, live: 0 }
  for (const { value } of await sessionsOf(fleet, missionId, ({ status }) => status === 'ended'))
    costs[value.status === 'ended' ? 'ended' : 'live'] += value.usage.cost_usd
  return costs
}

/**
 * The missions that depend on this one. Adding another writes this record too, so its version shows that these are all.
 */
export async function dependentsOf(
  fleet: Fleet,
  { id, dependents, parts }: Pick<Mission, 'id' | 'dependents' | 'parts'>,
): Promise<Mission[]> {
  const found = await asTheyAre(fleet, 'missions', { index: 'dependency', equals: [id] }, [...dependents, ...parts])
  return found.map(({ value }) => value).filter(({ depends_on }) => depends_on.includes(id))
}

/** The sub-missions of a mission. */
export async function childrenOf(fleet: Fleet, id: string): Promise<Mission[]> {
  const parent = await fleet.store.get('missions', id)
  const found = await asTheyAre(fleet, 'missions', { index: 'parent', equals: [id] }, parent?.value.parts ?? [])
  return found.map(({ value }) => value).filter(({ parent_mission_id }) => parent_mission_id === id)
}
