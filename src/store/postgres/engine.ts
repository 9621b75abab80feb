import { createHash } from 'node:crypto'
import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { Unfit } from '../../domain/errors.ts'
import type { Collection, RecordOf } from '../collections.ts'
import { Hints } from '../hints.ts'
import { cursorOfKey, rangeOf, sequenceOfCursor } from '../keys.ts'
import {
  type Batch,
  Conflict,
  Damaged,
  type EventPage,
  type EventQuery,
  type Page,
  type Query,
  type Store,
  type Stored,
  Unavailable,
} from '../port.ts'
import {
  drawVersion,
  indexOf,
  type PreparedBatch,
  prepareBatch,
  requireLimit,
  startOfReading,
  versionFrom,
} from '../records.ts'
import { type OnDamage, Soundness } from '../soundness.ts'
import { type Address, addressOf, type PostgresSettings } from './address.ts'
import { Connection, wasSent } from './connection.ts'
import { PostgresHeartbeats } from './heartbeats.ts'
import { Listening } from './listening.ts'
import { bringUpToDate } from './schema.ts'
import { wasRefused } from './troubles.ts'

/** Old events are dropped in steps, so that no other commit waits for long. */
const TRIM_STEP = 1000
/** Several commits in this time are announced once. */
const ANNOUNCE_AFTER_MS = 5
const MIGRATION_MS = 600_000

interface Row {
  id: string
  version: string
  body: string
}

/** Throws StoreOutdated when the store is missing or old and `migrate` is false. */
export async function openPostgres(
  settings: PostgresSettings,
  options: { migrate: boolean; onDamage?: OnDamage },
): Promise<Store> {
  const address = addressOf(settings)
  const connection = new Connection(address)
  try {
    const isKnown = settings.memory !== undefined && knownIn(settings.memory)?.id !== undefined
    const { id } = await connection.patiently(() =>
      connection.lend(client => bringUpToDate(client, address, { ...options, isKnown }), MIGRATION_MS),
    )
    if (settings.memory) remember(settings.memory, { url: settings.url, address, id })
    return new PostgresStore(connection, options.onDamage)
  } catch (error) {
    await connection.close()
    throw error
  }
}

/**
 * A home remembers which store it uses, without the password. If that store is then another one or empty, the home must
 * not go on with it: it would take its own worktrees and transcripts for a stranger's.
 */
export function remember(file: string, { url, address, id }: { url: string; address: Address; id: string }): void {
  const known = knownIn(file)
  if (known?.id && known.id !== id)
    throw new Unfit(`The store of this home is gone: ${address.words} is another store than before.`, {
      try: `Put the database back from its backup. To go on with what is there now: rm ${file}`,
    })
  if (known?.id) return
  const reminder = url.startsWith('file:') ? url : address.url
  const next = `${JSON.stringify({ engine: 'postgresql', url: known?.url ?? reminder, id }, null, 2)}\n`
  writeFileSync(`${file}.new`, next, { mode: 0o600 })
  renameSync(`${file}.new`, file)
}

const knownIn = (file: string): { url: string; id?: string } | undefined =>
  existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as { url: string; id?: string }) : undefined

class PostgresStore implements Store {
  readonly engine = 'postgresql'
  readonly listsLag = false
  readonly unreadable: ReadonlySet<string>
  readonly #connection: Connection
  readonly #schema: string
  readonly #channel: string
  readonly #soundness: Soundness
  readonly #hints = new Hints()
  /** A commit that takes long must not keep the lease from being renewed. */
  readonly #beating: Connection
  readonly heartbeats: PostgresHeartbeats
  #listening: Listening | undefined
  #announcing: NodeJS.Timeout | undefined
  #lastAnnounced: Promise<unknown> = Promise.resolve()

  constructor(connection: Connection, onDamage?: OnDamage) {
    this.#connection = connection
    this.#schema = connection.address.schema
    this.#channel = `fleet_${createHash('sha256').update(this.#schema).digest('hex').slice(0, 16)}`
    this.#beating = new Connection({ ...connection.address, poolSize: 2 })
    this.heartbeats = new PostgresHeartbeats(this.#beating, () => this.#announce())
    this.#soundness = new Soundness(onDamage)
    this.unreadable = this.#soundness.unreadable
  }

  async get<C extends Collection>(collection: C, id: string): Promise<Stored<RecordOf<C>> | undefined> {
    const name = `${collection}/${id}`
    // PostgreSQL has no text with a zero in it, so there is no such record.
    const [row] = id.includes('\0')
      ? []
      : await this.#connection.read<Row>(
          `SELECT version, body FROM ${this.#schema}.records WHERE collection = $1 AND id = $2`,
          [collection, id],
        )
    if (!row) {
      this.#soundness.forget(name)
      return undefined
    }
    const value = this.#soundness.readable(name, () => this.#soundness.value(collection, id, row))
    if (!value) throw new Damaged(name, versionFrom(row.version))
    return { value, version: versionFrom(row.version) }
  }

  async find<C extends Collection>(collection: C, query: Query): Promise<Page<RecordOf<C>>> {
    const index = indexOf(collection, query)
    const { low, high } = rangeOf(query)
    const order = query.newestFirst ? 'DESC' : 'ASC'
    // The limit is inside, so that PostgreSQL starts with the index whatever it believes about the tables.
    const rows = await this.#connection.read<Row & { key: Buffer }>(
      `SELECT e.key, r.id, r.version, r.body FROM (
         SELECT key, id FROM ${this.#schema}.index_entries WHERE name = $1 AND key >= $2 AND key < $3
         ORDER BY key ${order} LIMIT $4
       ) e JOIN ${this.#schema}.records r ON r.collection = $5 AND r.id = e.id ORDER BY e.key ${order}`,
      [index, low, high, query.limit + 1, collection],
    )
    const shown = rows.slice(0, query.limit)
    // A damaged record is left out of the list.
    const items = shown.flatMap(row => {
      const value = this.#soundness.readable(`${collection}/${row.id}`, () =>
        this.#soundness.value(collection, row.id, row),
      )
      return value ? [{ value, version: versionFrom(row.version) }] : []
    })
    return rows.length > shown.length ? { items, cursor: cursorOfKey(shown.at(-1)!.key) } : { items }
  }

  async commit(batch: Batch): Promise<void> {
    const prepared = prepareBatch(batch)
    const versions = prepared.writes.map(() => String(drawVersion()))
    const call = callOf(this.#schema, prepared, versions)
    /** An earlier try ended without an answer, so this batch may be written already. */
    let isDoubtful = false
    await this.#connection.patiently(async () => {
      const [answer] = await this.#connection.once<{ conflict: string | null }>(call.text, call.values).catch(error => {
        isDoubtful ||= wasSent(error) && !wasRefused(error)
        // Its events would be written twice, and nothing shows whether they were.
        if (isDoubtful && !canTell(prepared)) throw new InDoubt(error)
        throw error
      })
      if (!answer?.conflict) return
      if (!(isDoubtful && (await this.#wasWritten(prepared, versions)))) throw conflictOf(answer.conflict)
    })
    prepared.writes.forEach(({ collection, id, next }, n) => {
      if (next) this.#soundness.trust(`${collection}/${id}`, versions[n]!)
    })
    this.#hints.give()
    this.#announce()
  }

  /** A version is drawn for one try of one batch: whoever finds it knows that the whole batch was written. */
  async #wasWritten({ writes }: PreparedBatch, versions: string[]): Promise<boolean> {
    const n = writes.findIndex(({ next }) => next)
    const { collection, id, expects } = writes[n]!
    const [row] = await this.#connection.read<Row>(
      `SELECT version FROM ${this.#schema}.records WHERE collection = $1 AND id = $2`,
      [collection, id],
    )
    if (row?.version === versions[n]) return true
    if ((row?.version ?? 'absent') === expects) return false
    // Somebody wrote it since, over ours or over what we had read.
    throw new Unavailable('The connection to PostgreSQL broke during a commit; it is unknown whether it was written.', {
      try: 'Look at what was written before you ask again.',
    })
  }

  async events(query: EventQuery): Promise<EventPage> {
    requireLimit(query.limit)
    const after = query.after === undefined ? undefined : sequenceOfCursor(query.after)
    const limit = query.before === undefined ? undefined : sequenceOfCursor(query.before)
    const values: unknown[] = [after ?? 0, limit ?? null, query.limit]
    const wanted = (['mission_id', 'project_id'] as const)
      .filter(field => query[field] !== undefined)
      .map(field => `AND ${field} = $${values.push(query[field])}`)
    // One statement sees one state: the head and the events belong together.
    const rows = await this.#connection.read<{ newest: string; oldest: string | null; sequence: string; body: string }>(
      `SELECT s.sequence AS newest, (SELECT min(sequence) FROM ${this.#schema}.events) AS oldest, e.sequence, e.body
       FROM ${this.#schema}.store s LEFT JOIN LATERAL (
         SELECT sequence, body FROM ${this.#schema}.events
         WHERE sequence > CASE WHEN $1::bigint > s.sequence THEN 0 ELSE $1::bigint END
           AND ($2::bigint IS NULL OR sequence < $2::bigint) ${wanted.join(' ')}
         ORDER BY sequence ${query.newest ? 'DESC' : ''} LIMIT $3
       ) e ON true ORDER BY e.sequence`,
      values,
    )
    const newest = Number(rows[0]!.newest)
    const { reset } = startOfReading(after, { oldest: Number(rows[0]!.oldest ?? newest + 1), newest })
    const found = rows
      .filter(({ sequence }) => sequence !== null)
      .map(({ sequence, body }) => ({ sequence: Number(sequence), body }))
    const events = this.#soundness.events(found)
    const isFull = found.length === query.limit && !query.newest
    return {
      events,
      cursor: String(isFull ? found.at(-1)!.sequence : Math.min(newest, (limit ?? newest + 1) - 1)),
      // What a damaged event said is unknown, so that its reader has to look at the state.
      reset: reset || events.length < found.length,
    }
  }

  async tail(): Promise<string> {
    const [row] = await this.#connection.read<{ sequence: string }>(`SELECT sequence FROM ${this.#schema}.store`)
    return row!.sequence
  }

  async trimEvents(keep: number): Promise<void> {
    const [row] = await this.#connection.read<{ oldest: string | null; newest: string }>(
      `SELECT (SELECT min(sequence) FROM ${this.#schema}.events) AS oldest, sequence AS newest FROM ${this.#schema}.store`,
    )
    const last = Number(row!.newest) - Math.max(1, keep)
    for (let dropped = Number(row!.oldest ?? last) - 1; dropped < last; ) {
      dropped = Math.min(dropped + TRIM_STEP, last)
      await this.#connection.read(`DELETE FROM ${this.#schema}.events WHERE sequence <= $1`, [dropped])
    }
  }

  watch(hint: () => void): () => void {
    const stop = this.#hints.add(hint)
    this.#listening ??= new Listening(this.#connection, this.#channel, () => this.#hints.give())
    return () => {
      stop()
      if (!this.#hints.size) this.#stopListening()
    }
  }

  async close(): Promise<void> {
    this.#hints.clear()
    this.#stopListening()
    if (this.#announcing) this.#tell()
    await this.#lastAnnounced
    await this.#beating.close()
    await this.#connection.close()
  }

  #stopListening(): void {
    this.#listening?.stop()
    this.#listening = undefined
  }

  /** After the commit, because PostgreSQL lets only one transaction at a time announce something. */
  #announce(): void {
    this.#announcing ??= setTimeout(() => this.#tell(), ANNOUNCE_AFTER_MS)
  }

  #tell(): void {
    clearTimeout(this.#announcing)
    this.#announcing = undefined
    // If it gets lost, others find the commit when they look.
    this.#lastAnnounced = this.#connection.once('SELECT pg_notify($1, $2)', [this.#channel, '']).catch(() => {})
  }
}

/** It is unknown whether the commit was written, and trying again could write it twice. */
class InDoubt extends Unavailable {
  constructor(cause: unknown) {
    super('The connection to PostgreSQL broke during a commit; it is unknown whether it was written.', {
      try: 'Look at what was written before you ask again.',
      cause,
    })
  }
}

const canTell = ({ writes }: PreparedBatch): boolean => writes.some(({ next }) => next)

const conflictOf = (name: string): Conflict => {
  const slash = name.indexOf('/')
  return new Conflict(name.slice(0, slash), name.slice(slash + 1))
}

/** The whole batch as one statement: one round trip, and nothing stays locked if this process stops in between. */
function callOf(schema: string, { checks, writes, events }: PreparedBatch, versions: string[]) {
  const expected = (expects: string): string | null => (expects === 'absent' ? null : expects)
  const entries = writes.flatMap(({ id, next }) => [...(next?.entries.values() ?? [])].map(entry => ({ ...entry, id })))
  const types = [
    ...['text', 'text', 'bigint'],
    ...['text', 'text', 'bigint', 'bigint', 'text'],
    ...['text', 'bytea', 'text'],
    ...['text', 'text', 'text'],
  ]
  return {
    text: `SELECT ${schema}.commit_batch(${types.map((type, n) => `$${n + 1}::${type}[]`).join(', ')}) AS conflict`,
    values: [
      checks.map(({ collection }) => collection),
      checks.map(({ id }) => id),
      checks.map(({ expects }) => expected(expects)),
      writes.map(({ collection }) => collection),
      writes.map(({ id }) => id),
      writes.map(({ expects }) => expected(expects)),
      versions,
      writes.map(({ next }) => next?.body ?? null),
      entries.map(({ index }) => index),
      entries.map(({ key }) => key),
      entries.map(({ id }) => id),
      events.map(({ project_id }) => project_id),
      events.map(({ mission_id }) => mission_id),
      events.map(({ body }) => body),
    ],
  }
}
