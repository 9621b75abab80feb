import { createHash } from 'node:crypto'
import { Ambiguous, NotFound } from '../domain/errors.ts'
import { FLEET, FleetState } from '../domain/records/fleet.ts'
import type { Mission } from '../domain/records/mission.ts'
import type { Project } from '../domain/records/project.ts'
import type { Report } from '../domain/records/report.ts'
import type { Change, Collection, RecordOf, Stored } from '../store/index.ts'
import type { Fleet } from './fleet.ts'

/** A write whose value is known to fit its collection. */
export const put = <C extends Collection>(collection: C, value: RecordOf<C>, expects: number | 'absent'): Change =>
  ({ put: collection, value, expects }) as Change

const NOUNS: Record<Collection, string> = {
  projects: 'project',
  missions: 'mission',
  sessions: 'session',
  reports: 'report',
  comments: 'comment',
  evidence: 'evidence',
  messages: 'message',
  questions: 'question',
  approval_rules: 'approval rule',
  workflows: 'workflow',
  schedules: 'schedule',
  processes: 'process',
  plans: 'plan',
  loops: 'loop',
  plugins: 'plugin',
  templates: 'template',
  devices: 'device',
  receipts: 'receipt',
  fleet: 'fleet',
  counts: 'count',
  providers: 'provider',
  spending: 'spending',
}

/** What shows a person all there are. */
const LISTS: Partial<Record<Collection, string>> = {
  projects: 'fleet project list',
  missions: 'fleet mission list',
  questions: 'fleet inbox',
  approval_rules: 'fleet approvals list',
  workflows: 'fleet workflow list',
  schedules: 'fleet schedule list',
  plans: 'fleet plan list',
  plugins: 'fleet plugin list',
  devices: 'fleet device list',
}

/** The record with this id, the project with this name, or the only one whose id begins with it. */
export async function lookUp<C extends Collection>(
  fleet: Fleet,
  collection: C,
  ref: string,
): Promise<Stored<RecordOf<C>>> {
  const exact = await fleet.store.get(collection, ref)
  if (exact) return exact
  const named = collection === 'projects' ? await projectCalled(fleet, ref) : undefined
  if (named) return current(fleet, collection, named.id)
  const noun = NOUNS[collection]
  const { items } = await fleet.store.find(collection, { index: 'id', prefix: ref, limit: 6 })
  const ids = items.map(item => ({ id: (item.value as { id: string }).id }))
  if (ids.length > 1) throw new Ambiguous(noun, ref, ids)
  const found = ids[0] && (await fleet.store.get(collection, ids[0].id))
  if (!found) throw new NotFound(noun, ref, { try: LISTS[collection] })
  return found
}

/** Those of this name, in whatever case; more than one only in homes of before names were kept apart. */
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

export async function fleetState(fleet: Fleet): Promise<{ value: FleetState; expects: number | 'absent' }> {
  const stored = await fleet.store.get('fleet', FLEET)
  if (stored) return { value: stored.value, expects: stored.version }
  return { value: FleetState.parse({ id: FLEET, updated_at: fleet.now() }), expects: 'absent' }
}

/** What a mission depends on, as it is now; what was deleted is missing from the answer. */
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

/** An id that follows from what it stands for, so that the same thing cannot be made twice. */
export function derivedId(...parts: string[]): string {
  return BigInt(`0x${createHash('sha256').update(parts.join('\0')).digest('hex').slice(0, 20)}`)
    .toString(36)
    .padStart(12, '0')
    .slice(0, 12)
}

/** What the newest session of a mission that reported anything says it did. */
export async function newestReport(fleet: Fleet, missionId: string): Promise<Report | undefined> {
  const query = { index: 'mission', equals: [missionId], newestFirst: true, limit: 1 }
  return (await fleet.store.find('reports', query)).items[0]?.value
}
