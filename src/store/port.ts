import type { Event, NewEvent } from '../domain/records/event.ts'
import type { Collection, RecordOf } from './collections.ts'

/** A record as the store holds it. The version counts its writes, from 1. */
export interface Stored<T> {
  value: T
  version: number
}

/** A write: `expects` is the version that was read, or 'absent' for a record that must not exist yet. */
export type Change =
  | { [C in Collection]: { put: C; value: RecordOf<C>; expects: number | 'absent' } }[Collection]
  | { remove: Collection; id: string; expects: number }

/** A record that is not written but must still be what was read, or still not exist. */
export interface Check {
  collection: Collection
  id: string
  expects: number | 'absent'
}

export interface Batch {
  changes: Change[]
  checks?: Check[]
  events?: NewEvent[]
}

export interface Query {
  /** One of the collection's declared indexes, or 'id'. */
  index: string
  /** The leading parts of the key that must match exactly. */
  equals?: readonly KeyPart[]
  /** For the part after those: a lower bound (inclusive) and an upper bound (exclusive); a prefix where it is text. */
  from?: KeyPart
  below?: KeyPart
  prefix?: string
  limit: number
  cursor?: string
  newestFirst?: boolean
}

export type KeyPart = string | number
export interface Page<T> {
  items: Stored<T>[]
  /** Give it back to go on; absent at the end. */
  cursor?: string
}

export interface EventQuery {
  /** A cursor from an earlier answer; absent: from the oldest event kept. */
  after?: string
  /** The cursor of an event: only what comes before it. */
  before?: string
  /** The last `limit` events instead of the first, still oldest first. */
  newest?: boolean
  limit: number
  project_id?: string
  mission_id?: string
}
export interface EventPage {
  events: Event[]
  /** Where to go on, also when nothing was found. */
  cursor: string
  /** Events between `after` and the first one here were dropped: read the state anew. */
  reset: boolean
}

/**
 * What all engines can honour. `get` is current; `find` may lag, so no decision rests on it alone;
 * `commit` is all or nothing.
 */
export interface Store {
  readonly engine: string
  /** Records that were met and could not be read, as collection/id: `find` leaves them out. */
  readonly unreadable: ReadonlySet<string>
  get<C extends Collection>(collection: C, id: string): Promise<Stored<RecordOf<C>> | undefined>
  find<C extends Collection>(collection: C, query: Query): Promise<Page<RecordOf<C>>>
  /** Throws Conflict when any expectation no longer holds; then nothing was written. */
  commit(batch: Batch): Promise<void>
  events(query: EventQuery): Promise<EventPage>
  /** The cursor after the newest event: where a reader starts who wants only what comes. */
  tail(): Promise<string>
  /** Drops all but the newest `keep` events (at least one); a reader who has not seen a dropped one is told `reset`. */
  trimEvents(keep: number): Promise<void>
  /**
   * Called soon after any commit, by this process or another, with nothing said about what changed; where `find` lags,
   * once more when it has caught up. Returns how to stop.
   */
  watch(hint: () => void): () => void
  close(): Promise<void>
}

/** Someone else was first. Read again and decide again. */
export class Conflict extends Error {
  readonly collection: string
  readonly id: string
  constructor(collection: string, id: string) {
    super(`${collection}/${id} is not what was read`)
    this.name = 'Conflict'
    this.collection = collection
    this.id = id
  }
}

/** A bound that every engine shares, so that what works on one works on all. */
export const MAX_RECORD_BYTES = 100 * 1024
export const MAX_COMMIT_ITEMS = 90
