import { closeSync, existsSync, openSync, statSync, writeFileSync } from 'node:fs'
import { basename, dirname } from 'node:path'
import Database from 'better-sqlite3'
import { Unfit } from '../../domain/errors.ts'
import { Lookout } from '../../platform/lookout.ts'
import { requirePlain } from '../../platform/whole-files.ts'
import type { Collection, RecordOf } from '../collections.ts'
import { Hints } from '../hints.ts'
import { cursorOfKey, rangeOf, sequenceOfCursor } from '../keys.ts'
import {
  type Batch,
  type Check,
  Conflict,
  Damaged,
  type EventPage,
  type EventQuery,
  type Page,
  type Query,
  type Store,
  type Stored,
} from '../port.ts'
import {
  drawVersion,
  entriesOf,
  type IndexEntries,
  indexOf,
  type PreparedBatch,
  type PreparedWrite,
  prepareBatch,
  requireLimit,
  startOfReading,
  versionFrom,
} from '../records.ts'
import { type OnDamage, Soundness } from '../soundness.ts'
import { missingFrom } from './examine.ts'
import { BUSY_TIMEOUT_MS, patiently } from './patience.ts'
import { Recall } from './recall.ts'
import { bringUpToDate, MIGRATIONS, outdated, tableOf } from './schema.ts'
import { Syncing } from './syncing.ts'

/** How often to look for commits of other processes, while there are some and somebody watches. */
const LOOK_EVERY_MS = 40
/** Old events are dropped in steps, so that no other commit waits for long. */
const TRIM_STEP = 1000
const NOTHING: IndexEntries = new Map()

interface Row {
  version: number
  body: string
}

/** Throws StoreOutdated when the store is missing or old and `migrate` is false. */
export async function openSqlite(file: string, options: { migrate: boolean; onDamage?: OnDamage }): Promise<Store> {
  requirePlain(file)
  requireRemembered(file)
  if (!options.migrate && !existsSync(file)) throw outdated(file, 0, MIGRATIONS.length)
  // Only the owner may read it, and the files that SQLite makes beside it.
  if (options.migrate) closeSync(openSync(file, 'a', 0o600))
  const db = await patiently(() => new Database(file, { timeout: BUSY_TIMEOUT_MS, fileMustExist: !options.migrate }))
  try {
    await patiently(() => bringUpToDate(db, options))
    await patiently(() => requireRecords(db))
    requireIndexes(db)
    if (options.migrate) remember(file)
    return new SqliteStore(db, await patiently(() => new Syncing(db)), options.onDamage)
  } catch (error) {
    db.close()
    throw error
  }
}

/** A file that says that the home has a store. If the store is then missing or empty, no new one is made. */
const memoryOf = (file: string): string => `${file}.made`

function remember(file: string): void {
  if (!existsSync(memoryOf(file))) writeFileSync(memoryOf(file), `${new Date().toISOString()}\n`, { mode: 0o600 })
}

function requireRemembered(file: string): void {
  const bytes = (path: string) => statSync(path, { throwIfNoEntry: false })?.size ?? 0
  const isThere = existsSync(file) && bytes(file) + bytes(`${file}-wal`) > 0
  if (!existsSync(memoryOf(file)) || isThere) return
  throw new Unfit(
    `The store of this home is gone: ${file} was there and is ${existsSync(file) ? 'empty' : 'missing'} now.`,
    {
      try: `Put it back, or restore a backup into another home (fleet restore <file> --home <folder>). To begin with an empty fleet: rm ${memoryOf(file)}`,
    },
  )
}

/** Records that were deleted by hand, or lost with a part of the file, must not pass unnoticed. */
function requireRecords(db: Database.Database): void {
  const missing = missingFrom(db, ['projects', 'missions', 'sessions', 'fleet'])
  if (!missing.length) return
  throw new Unfit(`Records are missing from the store at ${db.name}: it has ${missing.join(', ')}.`, {
    try: 'Restore a backup into another home: fleet restore <file> --home <folder>. To continue with what is left: fleet doctor --repair',
  })
}

/** Lists are read through indexes. Without them, everything would seem to be gone. */
function requireIndexes(db: Database.Database): void {
  const has = (table: string) => db.prepare(`SELECT 1 FROM ${table} LIMIT 1`).get() !== undefined
  const kept = (['projects', 'missions', 'sessions'] as const).some(each => has(tableOf(each)))
  if (!kept || has('index_entries')) return
  throw new Unfit(`The store at ${db.name} has lost its indexes.`, { try: 'fleet doctor --repair' })
}

class SqliteStore implements Store {
  readonly engine = 'sqlite'
  readonly listsLag = false
  readonly #db: Database.Database
  readonly #statements = new Map<string, Database.Statement<unknown[], unknown>>()
  readonly #hints = new Hints()
  readonly #apply: (batch: PreparedBatch) => void
  readonly #readEvents: (query: EventQuery, after: number | undefined) => EventPage
  readonly unreadable: ReadonlySet<string>
  readonly #soundness: Soundness
  readonly #recall = new Recall()
  readonly #syncing: Syncing
  #lookout: Lookout | undefined

  constructor(db: Database.Database, syncing: Syncing, onDamage?: OnDamage) {
    this.#db = db
    this.#syncing = syncing
    this.#soundness = new Soundness(onDamage)
    this.unreadable = this.#soundness.unreadable
    // Immediate, because a transaction that reads first and then wants to write could not be retried.
    this.#apply = db.transaction((batch: PreparedBatch) => this.#write(batch)).immediate
    this.#readEvents = db.transaction((query: EventQuery, after: number | undefined) =>
      this.#pageOfEvents(query, after),
    )
  }

  get<C extends Collection>(collection: C, id: string): Promise<Stored<RecordOf<C>> | undefined> {
    return patiently(() => {
      const name = `${collection}/${id}`
      const known = this.#recall.at(this.#dataVersion()).record(name)
      if (known) return known as Stored<RecordOf<C>>
      const row = this.#row(collection, id)
      if (!row) this.#soundness.forget(name)
      const stored = row && this.#readable(collection, id, row)
      if (row && !stored) throw new Damaged(name, versionFrom(row.version))
      return stored
    })
  }

  async find<C extends Collection>(collection: C, query: Query): Promise<Page<RecordOf<C>>> {
    const index = indexOf(collection, query)
    const { low, high } = rangeOf(query)
    // CROSS JOIN makes SQLite start with the index instead of the records.
    const select = this.#sql<Row & { key: Buffer; id: string }>(
      `SELECT e.key, r.id, r.version, r.body FROM index_entries e CROSS JOIN ${tableOf(collection)} r ON r.id = e.id
       WHERE e.name = ? AND e.key >= ? AND e.key < ? ORDER BY e.key ${query.newestFirst ? 'DESC' : 'ASC'} LIMIT ?`,
    )
    const wanted = `${query.newestFirst ? 'down' : 'up'} ${query.limit} ${low.toString('latin1')} ${high.toString('latin1')}`
    return patiently(() => {
      const known = this.#recall.at(this.#dataVersion()).list(index, wanted) as Page<RecordOf<C>> | undefined
      if (known) return { ...known, items: [...known.items] }
      const rows = select.all(index, low, high, query.limit + 1)
      const shown = rows.slice(0, query.limit)
      // A damaged record is left out of the list.
      const items = shown.flatMap(({ id, ...row }) => this.#readable(collection, id, row) ?? [])
      const page = rows.length > shown.length ? { items, cursor: cursorOfKey(shown.at(-1)!.key) } : { items }
      if (items.length === shown.length) this.#recall.keepList(index, wanted, page)
      return { ...page, items: [...items] }
    })
  }

  #readable<C extends Collection>(collection: C, id: string, row: Row): Stored<RecordOf<C>> | undefined {
    return this.#soundness.readable(`${collection}/${id}`, () => this.#revived(collection, id, row))
  }

  #revived<C extends Collection>(collection: C, id: string, row: Row): Stored<RecordOf<C>> {
    const name = `${collection}/${id}`
    const version = versionFrom(row.version)
    const known = this.#recall.record(name)
    if (known?.version === version) return known as Stored<RecordOf<C>>
    const value = this.#soundness.value(collection, id, row)
    return this.#recall.keep(name, { value, version }, row.body.length)
  }

  async commit(batch: Batch): Promise<void> {
    const prepared = prepareBatch(batch)
    await patiently(() => {
      try {
        if (batch.isRepeatable) this.#syncing.without(() => this.#apply(prepared))
        else this.#apply(prepared)
      } finally {
        // Also after an error: it may have been written.
        for (const { collection, id } of prepared.writes) this.#recall.forget(`${collection}/${id}`)
      }
    })
    this.#hints.give()
  }

  async events(query: EventQuery): Promise<EventPage> {
    requireLimit(query.limit)
    const after = query.after === undefined ? undefined : sequenceOfCursor(query.after)
    return patiently(() => this.#readEvents(query, after))
  }

  tail(): Promise<string> {
    return patiently(() => String(this.#kept().newest))
  }

  async trimEvents(keep: number): Promise<void> {
    const { oldest, newest } = await patiently(() => this.#kept())
    // The newest event always stays, because the next sequence number follows from it.
    const last = newest - Math.max(1, keep)
    const remove = this.#sql('DELETE FROM events WHERE sequence <= ?')
    for (let dropped = oldest - 1; dropped < last; ) {
      dropped = Math.min(dropped + TRIM_STEP, last)
      await patiently(() => remove.run(dropped))
    }
  }

  watch(hint: () => void): () => void {
    const stop = this.#hints.add(hint)
    this.#lookout ??= this.#lookForCommits()
    return () => {
      stop()
      if (!this.#hints.size) this.#stopLooking()
    }
  }

  async close(): Promise<void> {
    this.#hints.clear()
    this.#stopLooking()
    this.#db.close()
  }

  #write({ writes, checks, events }: PreparedBatch): void {
    for (const check of checks) this.#require(check, this.#versionOf(check))
    for (const write of writes) this.#writeRecord(write)
    const append = this.#sql('INSERT INTO events (project_id, mission_id, body) VALUES (?, ?, ?)')
    for (const event of events) append.run(event.project_id, event.mission_id, event.body)
  }

  #writeRecord(write: PreparedWrite): void {
    const { collection, id, next } = write
    const table = tableOf(collection)
    const before = this.#versionOf(write)
    this.#require(write, before)
    // Before the record is written: what is not remembered is read again.
    const old = before === undefined ? NOTHING : this.#entriesBefore(write, before)
    const more = Number(next !== undefined) - Number(before !== undefined)
    if (more) this.#sql('UPDATE tallies SET records = records + ? WHERE collection = ?').run(more, collection)
    if (!next) this.#sql(`DELETE FROM ${table} WHERE id = ?`).run(id)
    else {
      const version = Number(drawVersion())
      this.#sql(
        before !== undefined
          ? `UPDATE ${table} SET version = ?, body = ? WHERE id = ?`
          : `INSERT INTO ${table} (version, body, id) VALUES (?, ?, ?)`,
      ).run(version, next.body, id)
      this.#soundness.trust(`${collection}/${id}`, version)
    }
    this.#rewriteIndex(id, old, next?.entries ?? NOTHING)
  }

  /** The index entries of a damaged record are unknown, so all entries with its id are removed. */
  #entriesBefore({ collection, id }: PreparedWrite, version: number): IndexEntries {
    try {
      const known = this.#recall.record(`${collection}/${id}`)
      const isSame = known?.version === versionFrom(version)
      const { value } = isSame ? known : this.#revived(collection, id, this.#row(collection, id)!)
      return entriesOf(collection, id, value)
    } catch {
      this.#recall.clear()
      this.#sql('DELETE FROM index_entries WHERE id = ? AND name GLOB ?').run(id, `${collection}.*`)
      return NOTHING
    }
  }

  #rewriteIndex(id: string, old: IndexEntries, next: IndexEntries): void {
    const remove = this.#sql('DELETE FROM index_entries WHERE name = ? AND key = ?')
    const insert = this.#sql('INSERT INTO index_entries (name, key, id) VALUES (?, ?, ?)')
    for (const { index } of [...old.values(), ...next.values()]) this.#recall.forgetLists(index)
    for (const [identity, entry] of old) if (!next.has(identity)) remove.run(entry.index, entry.key)
    for (const [identity, entry] of next) if (!old.has(identity)) insert.run(entry.index, entry.key, id)
  }

  #require({ collection, id, expects }: Check, version: number | undefined): void {
    if ((version === undefined ? 'absent' : versionFrom(version)) !== expects) throw new Conflict(collection, id)
  }

  #versionOf({ collection, id }: Check): number | undefined {
    return this.#sql<Row>(`SELECT version FROM ${tableOf(collection)} WHERE id = ?`).get(id)?.version
  }

  #row(collection: Collection, id: string): Row | undefined {
    return this.#sql<Row>(`SELECT version, body FROM ${tableOf(collection)} WHERE id = ?`).get(id)
  }

  #pageOfEvents(query: EventQuery, after: number | undefined): EventPage {
    const kept = this.#kept()
    const { start, reset } = startOfReading(after, kept)
    const before = query.before === undefined ? kept.newest + 1 : sequenceOfCursor(query.before)
    const wanted = (['mission_id', 'project_id'] as const).filter(field => query[field] !== undefined)
    const rows = this.#sql<{ sequence: number; body: string }>(
      `SELECT sequence, body FROM events WHERE sequence > ? AND sequence < ?
       ${wanted.map(field => `AND ${field} = ?`).join(' ')} ORDER BY sequence ${query.newest ? 'DESC' : ''} LIMIT ?`,
    ).all(start, before, ...wanted.map(field => query[field]), query.limit)
    const full = rows.length === query.limit && !query.newest
    if (query.newest) rows.reverse()
    const events = this.#soundness.events(rows)
    return {
      events,
      cursor: String(full ? rows.at(-1)!.sequence : Math.min(kept.newest, before - 1)),
      // What a damaged event said is unknown, so that its reader has to look at the state.
      reset: reset || events.length < rows.length,
    }
  }

  #kept(): { oldest: number; newest: number } {
    // Two subqueries: SQLite finds each by one seek, but min and max in one SELECT by reading the whole table.
    const select = 'SELECT (SELECT min(sequence) FROM events) AS oldest, (SELECT max(sequence) FROM events) AS newest'
    const row = this.#sql<{ oldest: number | null; newest: number | null }>(select).get()
    return { oldest: row?.oldest ?? 1, newest: row?.newest ?? 0 }
  }

  /** A process that commits writes to the log first, and what it wrote can be seen once it is on disk. */
  #lookForCommits(): Lookout {
    const folder = dirname(this.#db.name)
    const names = [`${basename(this.#db.name)}-wal`]
    let seen = this.#dataVersion()
    const look = (): boolean => {
      const now = this.#dataVersion()
      if (now === seen) return false
      seen = now
      this.#hints.give()
      return true
    }
    return new Lookout({ folder, names, everyMs: LOOK_EVERY_MS }, look, () => {})
  }

  #stopLooking(): void {
    this.#lookout?.close()
    this.#lookout = undefined
  }

  /** Changes when another connection commits. A failure also counts as a change, so that the reader sees the error. */
  #dataVersion(): unknown {
    try {
      return this.#sql<{ data_version: number }>('PRAGMA data_version').get()?.data_version
    } catch (error) {
      return error
    }
  }

  #sql<T>(text: string): Database.Statement<unknown[], T> {
    let statement = this.#statements.get(text)
    if (!statement) {
      statement = this.#db.prepare(text)
      this.#statements.set(text, statement)
    }
    return statement as Database.Statement<unknown[], T>
  }
}
