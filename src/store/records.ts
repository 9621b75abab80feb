import type { z } from 'zod'
import { InvalidInput } from '../domain/errors.ts'
import { rename } from '../domain/records/earlier.ts'
import { type Event, NewEvent } from '../domain/records/event.ts'
import { COLLECTIONS, type Collection, type KeyPart, type RecordOf } from './collections.ts'
import { encodeKey } from './keys.ts'
import { type Batch, type Check, MAX_COMMIT_ITEMS, MAX_RECORD_BYTES, type Query, type Version } from './port.ts'

/** What every engine does with records and events before it writes and after it reads them. */
export interface IndexEntry {
  index: string
  key: Buffer
}
/** By index and key, so that two writes of a record can be compared. */
export type IndexEntries = Map<string, IndexEntry>

export interface PreparedWrite extends Check {
  /** Absent: the record is removed. */
  next?: { body: string; entries: IndexEntries }
}
export interface PreparedEvent {
  project_id: string | null
  mission_id: string | null
  body: string
}
export interface PreparedBatch {
  writes: PreparedWrite[]
  checks: Check[]
  events: PreparedEvent[]
}

interface Declared {
  schema: z.ZodObject
  indexes: Record<string, (record: unknown) => readonly KeyPart[][]>
}
const declared = (collection: Collection): Declared => COLLECTIONS[collection] as unknown as Declared

/** Throws if a record does not fit its schema, or if some engine could not take the batch. */
export function prepareBatch({ changes, checks = [], events = [] }: Batch): PreparedBatch {
  // The check of the daemon's lease does not count, because callers do not know of it.
  const items = changes.length + checks.filter(check => check.collection !== 'lease').length + events.length
  if (items > MAX_COMMIT_ITEMS) throw new RangeError(`a commit of ${items} items; at most ${MAX_COMMIT_ITEMS} fit`)
  const prepared = {
    writes: changes.map(
      (change): PreparedWrite =>
        'put' in change
          ? {
              collection: change.put,
              id: change.value.id,
              expects: change.expects,
              next: validated(change.put, change.value),
            }
          : { collection: change.remove, id: change.id, expects: change.expects },
    ),
    checks,
    events: events.map(prepareEvent),
  }
  requireEachOnce([...prepared.writes, ...checks])
  return prepared
}

function validated(collection: Collection, value: { id: string }): PreparedWrite['next'] {
  const record = declared(collection).schema.parse(value)
  return { body: bounded(collection, JSON.stringify(record)), entries: entriesOf(collection, value.id, record) }
}

function prepareEvent(event: NewEvent): PreparedEvent {
  const whole = NewEvent.parse(event)
  return { project_id: whole.project_id, mission_id: whole.mission_id, body: bounded('event', JSON.stringify(whole)) }
}

function bounded(what: string, body: string): string {
  const bytes = Buffer.byteLength(body)
  if (bytes <= MAX_RECORD_BYTES) return body
  throw new InvalidInput(what, `${bytes} bytes are more than the ${MAX_RECORD_BYTES} that one record may have`, {
    try: 'Shorten its longest text.',
  })
}

/** Some databases refuse a transaction that names one record twice, so every engine does. */
function requireEachOnce(items: Check[]): void {
  const seen = new Set<string>()
  for (const { collection, id } of items) {
    const name = `${collection}/${id}`
    if (seen.has(name)) throw new TypeError(`${name} is named twice in one commit`)
    seen.add(name)
  }
}

export function entriesOf(collection: Collection, id: string, record: unknown): IndexEntries {
  const entries: IndexEntries = new Map()
  const add = (name: string, parts: readonly KeyPart[]) => {
    const entry = { index: `${collection}.${name}`, key: encodeKey([...parts, id]) }
    entries.set(`${entry.index} ${entry.key.toString('latin1')}`, entry)
  }
  add('id', [])
  for (const [name, keys] of Object.entries(declared(collection).indexes))
    for (const parts of keys(record)) add(name, parts)
  return entries
}

/** A record that cannot be read gets no entry; `fleet doctor` finds it. */
export function readableEntries(collection: Collection, id: string, body: string): Iterable<IndexEntry> {
  try {
    return entriesOf(collection, id, revive(collection, body)).values()
  } catch {
    return []
  }
}

/** The full name of the index a query uses. */
export function indexOf(collection: Collection, query: Query): string {
  if (query.index !== 'id' && !Object.hasOwn(declared(collection).indexes, query.index))
    throw new TypeError(`${collection} has no index ${query.index}`)
  requireLimit(query.limit)
  return `${collection}.${query.index}`
}

export function requireLimit(limit: number): void {
  if (!Number.isInteger(limit) || limit < 1) throw new TypeError(`a limit of ${limit}`)
}

/**
 * Fields that did not exist when a record was written get the default of today's schema, and renamed fields get today's
 * name.
 */
export function revive<C extends Collection>(collection: C, body: string): RecordOf<C> {
  const record = JSON.parse(body)
  if (typeof record?.id !== 'string') throw new TypeError(`a record of ${collection} without an id`)
  rename(collection, record)
  for (const [field, fill] of defaultsOf(collection)) if (record[field] === undefined) record[field] = fill()
  return record
}

/** Throws if a record does not fit its schema: something other than this program wrote it. */
export const requireSound = (collection: Collection, record: unknown): void =>
  void declared(collection).schema.parse(record)

const defaults = new Map<Collection, [field: string, fill: () => unknown][]>()
function defaultsOf(collection: Collection): [string, () => unknown][] {
  let known = defaults.get(collection)
  if (!known) {
    known = Object.entries(declared(collection).schema.shape as Record<string, z.ZodType>)
      .filter(([, type]) => type.safeParse(undefined).data !== undefined)
      .map(([field, type]) => [field, () => type.parse(undefined)])
    defaults.set(collection, known)
  }
  return known
}

/**
 * Random instead of counted: a count would start again if a record is made again. Every engine can store a whole
 * number.
 */
export const drawVersion = (): Version => versionFrom(Math.floor(Math.random() * Number.MAX_SAFE_INTEGER))
export const versionFrom = (kept: number | string): Version => String(kept) as Version

/** Undefined: it is damaged. */
export function reviveEvent(cursor: string, body: string): Event | undefined {
  try {
    const event = JSON.parse(body)
    const isEvent = typeof event?.kind === 'string' && typeof event.time === 'string' && typeof event.data === 'object'
    return isEvent && event.data !== null ? { ...event, cursor } : undefined
  } catch {
    return undefined
  }
}

/**
 * Where a reader of events continues. A cursor from another store, or older than all kept events, starts at the oldest
 * one.
 */
export function startOfReading(
  after: number | undefined,
  kept: { oldest: number; newest: number },
): { start: number; reset: boolean } {
  const horizon = kept.oldest - 1
  if (after === undefined) return { start: horizon, reset: false }
  const reset = after < horizon || after > kept.newest
  return { start: reset ? horizon : after, reset }
}
