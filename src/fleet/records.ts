import { createHash } from 'node:crypto'
import { Ambiguous, NotFound } from '../domain/errors.ts'
import { FLEET, FleetState } from '../domain/fleet.ts'
import type { Mission } from '../domain/mission.ts'
import type { Report } from '../domain/report.ts'
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

/** The record with this id, or the only one whose id begins with it. */
export async function lookUp<C extends Collection>(
  fleet: Fleet,
  collection: C,
  idOrPrefix: string,
): Promise<Stored<RecordOf<C>>> {
  const exact = await fleet.store.get(collection, idOrPrefix)
  if (exact) return exact
  const noun = NOUNS[collection]
  const { items } = await fleet.store.find(collection, { index: 'id', prefix: idOrPrefix, limit: 6 })
  if (items.length > 1)
    throw new Ambiguous(
      noun,
      idOrPrefix,
      items.map(item => (item.value as { id: string }).id),
    )
  const found = items[0] && (await fleet.store.get(collection, (items[0].value as { id: string }).id))
  if (!found) throw new NotFound(noun, idOrPrefix, { try: LISTS[collection] })
  return found
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
