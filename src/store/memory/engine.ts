import { setTimeout as delay } from 'node:timers/promises'
import type { Collection, RecordOf } from '../collections.ts'
import { Hints } from '../hints.ts'
import { badCursor, cursorOfKey, rangeOf } from '../keys.ts'
import {
  type Batch,
  type Check,
  Conflict,
  type EventPage,
  type EventQuery,
  type Page,
  type Query,
  type Store,
  type Stored,
  Unavailable,
  type Version,
} from '../port.ts'
import {
  drawVersion,
  type IndexEntries,
  indexOf,
  type PreparedBatch,
  type PreparedEvent,
  prepareBatch,
  requireLimit,
  revive,
  reviveEvent,
  startOfReading,
} from '../records.ts'

const HOSTILE_LATENCY_MS = 5
/** A hostile `find` may be this old, in time and in commits. */
const HOSTILE_LAG_MS = 25
const HOSTILE_LAG_COMMITS = 3
const HOSTILE_REFUSALS = 1 / 3
const HOSTILE_SILENCES = 1 / 12

interface Row {
  version: Version
  body: string
  entries: IndexEntries
}
/** By `collection/id`. */
type Records = Map<string, Row>

/**
 * Keeps everything in the memory of this process, for tests. A hostile store is as slow, late and contrary as a remote
 * database can be, and behaves the same for the same seed.
 */
export function memoryStore({ hostile }: { hostile?: Hostility } = {}): Store {
  return hostile ? new HostileStore(hostile) : new MemoryStore()
}

export interface Hostility {
  seed: number
  /** Some commits end without an answer, whether they were written or not. */
  silent?: boolean
}

class MemoryStore implements Store {
  readonly engine: string = 'memory'
  readonly listsLag: boolean = false
  readonly unreadable: ReadonlySet<string> = new Set()
  protected records: Records = new Map()
  protected readonly hints = new Hints()
  readonly #incarnation = Math.floor(Math.random() * 2 ** 32).toString(36)
  #events: PreparedEvent[] = []
  #dropped = 0

  async get<C extends Collection>(collection: C, id: string): Promise<Stored<RecordOf<C>> | undefined> {
    const row = this.records.get(nameOf(collection, id))
    return row && { value: revive(collection, row.body), version: row.version }
  }

  async find<C extends Collection>(collection: C, query: Query): Promise<Page<RecordOf<C>>> {
    return findIn(this.records, collection, query)
  }

  async commit(batch: Batch): Promise<void> {
    this.apply(prepareBatch(batch))
    this.hints.give()
  }

  async events(query: EventQuery): Promise<EventPage> {
    requireLimit(query.limit)
    const newest = this.#newest()
    const after = query.after === undefined ? undefined : this.#sequence(query.after)
    const { start, reset } = startOfReading(after, { oldest: this.#dropped + 1, newest })
    const last = query.before === undefined ? newest : Math.min(newest, this.#sequence(query.before) - 1)
    const events: EventPage['events'] = []
    let cursor = start
    while (cursor < last && (query.newest || events.length < query.limit)) {
      const event = this.#events[cursor++ - this.#dropped]!
      const wanted =
        (query.project_id ?? event.project_id) === event.project_id &&
        (query.mission_id ?? event.mission_id) === event.mission_id
      if (wanted) events.push(reviveEvent(this.#cursor(cursor), event.body)!)
    }
    if (query.newest) events.splice(0, events.length - query.limit)
    return { events, cursor: this.#cursor(cursor), reset }
  }

  async tail(): Promise<string> {
    return this.#cursor(this.#newest())
  }

  async trimEvents(keep: number): Promise<void> {
    const drop = Math.max(0, this.#events.length - Math.max(1, keep))
    this.#events.splice(0, drop)
    this.#dropped += drop
  }

  watch(hint: () => void): () => void {
    return this.hints.add(hint)
  }

  async close(): Promise<void> {
    this.hints.clear()
  }

  protected apply({ writes, checks, events }: PreparedBatch): void {
    for (const item of [...checks, ...writes]) this.#require(item)
    for (const { collection, id, next } of writes) {
      const name = nameOf(collection, id)
      if (next) this.records.set(name, { ...next, version: drawVersion() })
      else this.records.delete(name)
    }
    this.#events.push(...events)
  }

  #require({ collection, id, expects }: Check): void {
    if ((this.records.get(nameOf(collection, id))?.version ?? 'absent') !== expects) throw new Conflict(collection, id)
  }

  /** Contains the name of its store and is not a number, so that code which does arithmetic with cursors fails here. */
  #cursor = (sequence: number): string => `${this.#incarnation}.${sequence.toString(36)}`

  /** A cursor of another store counts as later than all events. */
  #sequence(cursor: string): number {
    const [, incarnation, sequence] = /^([0-9a-z]+)\.([0-9a-z]+)$/.exec(cursor) ?? []
    if (!incarnation || !sequence) throw badCursor('after')
    return incarnation === this.#incarnation ? Number.parseInt(sequence, 36) : Number.POSITIVE_INFINITY
  }

  #newest(): number {
    return this.#dropped + this.#events.length
  }
}

/** Its lists can be frozen, so that a decision based on lists alone is caught. */
export class LaggingStore extends MemoryStore {
  override readonly listsLag = true
  #lists: Records | undefined
  #frozen: readonly Collection[] = []

  /** Freezes the lists of these collections, or of all. */
  freezeLists(...collections: Collection[]): void {
    this.#lists = new Map(this.records)
    this.#frozen = collections
  }

  override async find<C extends Collection>(collection: C, query: Query): Promise<Page<RecordOf<C>>> {
    const isFrozen = !this.#frozen.length || this.#frozen.includes(collection)
    return findIn((isFrozen && this.#lists) || this.records, collection, query)
  }
}

class HostileStore extends MemoryStore {
  override readonly engine = 'memory (hostile)'
  override readonly listsLag = true
  readonly #random: () => number
  #past: { records: Records; until: number }[] = []

  readonly #silences: number

  constructor({ seed, silent = false }: Hostility) {
    super()
    this.#random = randomFrom(seed)
    this.#silences = silent ? HOSTILE_SILENCES : 0
  }

  override get<C extends Collection>(collection: C, id: string) {
    return this.#slowly(() => super.get(collection, id))
  }

  override find<C extends Collection>(collection: C, query: Query) {
    return this.#slowly(async () => findIn(this.#recordsOfSomeTime(), collection, query))
  }

  override async commit(batch: Batch): Promise<void> {
    const prepared = prepareBatch(batch)
    await this.#slowly(async () => {
      const victim = prepared.writes[0]
      if (victim && this.#random() < HOSTILE_REFUSALS) throw new Conflict(victim.collection, victim.id)
      const fate = this.#random() / this.#silences
      if (fate < 0.5) throw silence()
      const before = new Map(this.records)
      this.apply(prepared)
      this.#past = [...this.#past, { records: before, until: performance.now() + HOSTILE_LAG_MS }].slice(
        -HOSTILE_LAG_COMMITS,
      )
      this.hints.give()
      setTimeout(() => this.hints.give(), HOSTILE_LAG_MS + 1).unref()
      if (fate < 1) throw silence()
    })
  }

  override events(query: EventQuery) {
    return this.#slowly(() => super.events(query))
  }

  override tail() {
    return this.#slowly(() => super.tail())
  }

  #recordsOfSomeTime(): Records {
    const possible = [
      this.records,
      ...this.#past.filter(past => past.until > performance.now()).map(past => past.records),
    ]
    return possible[Math.floor(this.#random() * possible.length)]!
  }

  async #slowly<T>(run: () => Promise<T>): Promise<T> {
    await delay((this.#random() * HOSTILE_LATENCY_MS) / 2)
    try {
      return await run()
    } finally {
      await delay((this.#random() * HOSTILE_LATENCY_MS) / 2)
    }
  }
}

const silence = (): Unavailable => new Unavailable('The hostile store gave no answer.')

const nameOf = (collection: Collection, id: string): string => `${collection}/${id}`

function findIn<C extends Collection>(records: Records, collection: C, query: Query): Page<RecordOf<C>> {
  const index = indexOf(collection, query)
  const { low, high } = rangeOf(query)
  const found: { key: Buffer; row: Row }[] = []
  for (const row of records.values())
    for (const { index: name, key } of row.entries.values())
      if (name === index && low.compare(key) <= 0 && high.compare(key) > 0) found.push({ key, row })
  found.sort((a, b) => (query.newestFirst ? b.key.compare(a.key) : a.key.compare(b.key)))
  const shown = found.slice(0, query.limit)
  const items = shown.map(({ row }) => ({ value: revive(collection, row.body), version: row.version }))
  return found.length > shown.length ? { items, cursor: cursorOfKey(shown.at(-1)!.key) } : { items }
}

/** Numbers from 0 to 1, the same for the same seed. A linear congruence is random enough for tests. */
function randomFrom(seed: number): () => number {
  let state = seed
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return state / 2 ** 32
  }
}
