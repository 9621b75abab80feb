import { StoreTrouble, Unfit } from '../domain/errors.ts'
import type { Event, NewEvent } from '../domain/records/event.ts'
import type { Collection, KeyPart, RecordOf } from './collections.ts'

export { Unavailable } from '../domain/errors.ts'

declare const token: unique symbol
/**
 * Identifies one write of a record. It is only ever compared. None is used twice, not even if a record is made again.
 */
export type Version = string & { readonly [token]: 'version' }

/** A record as the store holds it. */
export interface Stored<T> {
  value: T
  version: Version
}

/** A write: `expects` is the version that was read, or 'absent' for a record that must not exist yet. */
export type Change =
  | { [C in Collection]: { put: C; value: RecordOf<C>; expects: Version | 'absent' } }[Collection]
  | { remove: Collection; id: string; expects: Version }

/** A record that is not written, but must still have the version that was read, or still not exist. */
export interface Check {
  collection: Collection
  id: string
  expects: Version | 'absent'
}

export interface Batch {
  changes: Change[]
  checks?: Check[]
  events?: NewEvent[]
  /**
   * It follows from earlier commits and is made again where it is missing, and no act on the outside rests on it. So it
   * need not be on the disk when `commit` returns: a power failure may undo it, but nothing before it. The end of a
   * process undoes no commit.
   */
  isRepeatable?: boolean
}

export interface Query {
  /** One of the collection's declared indexes, or 'id'. */
  index: string
  /** The leading parts of the key that must match exactly. */
  equals?: readonly KeyPart[]
  /** Bounds for the part after those: lower (inclusive), upper (exclusive), or a prefix of a text. */
  from?: KeyPart
  below?: KeyPart
  prefix?: string
  limit: number
  cursor?: string
  newestFirst?: boolean
}

export interface Page<T> {
  items: Stored<T>[]
  /** For the next page; absent at the end. */
  cursor?: string
}

export interface EventQuery {
  /** A cursor from an earlier answer; absent: from the oldest event kept. */
  after?: string
  /** The cursor of an event: only events before it. */
  before?: string
  /** The last `limit` events instead of the first, still oldest first. */
  newest?: boolean
  limit: number
  project_id?: string
  mission_id?: string
}
export interface EventPage {
  events: Event[]
  /** Where to continue, even if nothing was found. */
  cursor: string
  /** Events between `after` and the first one here were dropped: read the state again. */
  reset: boolean
}

/**
 * What every engine offers. `get` is current. `find` may lag, so no decision is based on it alone. `commit` is all or
 * nothing.
 */
export interface Store {
  readonly engine: string
  /** Whether `find` may show an earlier state. */
  readonly listsLag: boolean
  /** Records that could not be read so far, as collection/id. `find` leaves them out. */
  readonly unreadable: ReadonlySet<string>
  get<C extends Collection>(collection: C, id: string): Promise<Stored<RecordOf<C>> | undefined>
  find<C extends Collection>(collection: C, query: Query): Promise<Page<RecordOf<C>>>
  /**
   * Throws Conflict if an expectation no longer holds; then nothing was written. After Unavailable, everything or
   * nothing was.
   */
  commit(batch: Batch): Promise<void>
  events(query: EventQuery): Promise<EventPage>
  /** The cursor after the newest event, for a reader who only wants new events. */
  tail(): Promise<string>
  /** Drops all but the newest `keep` events (at least one). A reader who missed a dropped event gets `reset`. */
  trimEvents(keep: number): Promise<void>
  /**
   * Calls `hint` soon after any commit of any process, without saying what changed. If `find` lags, it is called again
   * once the lists are current. Returns a function that stops it.
   */
  watch(hint: () => void): () => void
  close(): Promise<void>
  /** Only on an engine that several servers share. On others the lock of the home says who decides. */
  readonly heartbeats?: Heartbeats
}

/** A server as it tells the others of itself. */
export interface ServerInfo {
  /** Of one process: it is drawn at each start. */
  id: string
  /** The name of its machine. */
  host: string
  pid: number
  version: string
  /** The id of the home whose files it works with. */
  home: string
  /** Where it answers; null: not yet. */
  url: string | null
}

export interface Living extends ServerInfo {
  since: string
  /** How long ago it was heard of, by the clock of the store. */
  quietMs: number
}

/** The lease as the store holds it now. */
export interface Held {
  epoch: number
  server: ServerInfo | null
  since: string | null
  /** At most 0: it is over. */
  leftMs: number
}

/**
 * Which servers live, and until when one of them decides, by the clock of the store. It is kept apart from the record
 * that commits check, so that renewing the lease slows no commit down.
 */
export interface Heartbeats {
  /** Notes that this server lives. With an epoch it also renews that lease; false: another server has it. */
  beat(server: ServerInfo, epoch?: number): Promise<boolean>
  /** Takes the lease if nobody holds it, with an epoch above `beyond` and all before. Undefined: it is held. */
  claim(server: ServerInfo, beyond: number): Promise<number | undefined>
  /** How long the lease of this epoch is still valid; undefined: another server has it. */
  leftMs(epoch: number): Promise<number | undefined>
  /** Lets go of the lease at once, so that another server need not wait for its end. */
  release(epoch: number): Promise<void>
  /** This server is no longer there. */
  leave(id: string): Promise<void>
  held(): Promise<Held>
  /** Everyone heard of in the last minutes, the longest there first. */
  servers(): Promise<Living[]>
  /** What all servers must have alike is compared by this; the first one writes it. `replace`: from now on this. */
  mark(fingerprint: string, replace?: boolean): Promise<string>
}

/** Another commit was first. Read and decide again. */
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

/** The store is missing or older than this program. A process that may decide can open it with `migrate`. */
export class StoreOutdated extends Unfit {
  /** There is no store yet. */
  readonly missing: boolean
  constructor(message: string, { missing = false, ...facts }: Record<string, unknown> & { missing?: boolean } = {}) {
    super(message, { try: 'Start the fleet once: fleet up', facts })
    this.missing = missing
  }
}

/** A newer program has changed the store. A server of this one stops: it would write what the newer one cannot read. */
export class StoreNewer extends Unfit {}

/** It has to be brought up to date, and a server decides that knows it only as it is. */
export class StoreHeld extends Unfit {
  constructor(message: string, { host, pid, version, url }: Pick<ServerInfo, 'host' | 'pid' | 'version' | 'url'>) {
    super(`${message} The server of version ${version} on ${host} (process ${pid}) decides and knows it as it is.`, {
      try: 'Stop that server; a new one that waits then brings the store up to date: fleet down',
      facts: { host, pid, version, url },
    })
  }
}

/** The record exists but cannot be read. Its version is known, so it can be written again. */
export class Damaged extends StoreTrouble {
  readonly version: Version
  constructor(name: string, version: Version) {
    super(`The record ${name} is damaged and cannot be read.`, { try: 'fleet doctor' })
    this.version = version
  }
}

/** The same limits on every engine, so that a commit that works on one works on all. */
export const MAX_RECORD_BYTES = 100 * 1024
export const MAX_COMMIT_ITEMS = 90
