import type { ClientBase } from 'pg'
import { Unfit } from '../../domain/errors.ts'
import { newId } from '../../domain/ids.ts'
import type { RecordRow } from '../copy.ts'
import { type ServerInfo, StoreHeld, StoreNewer, StoreOutdated } from '../port.ts'
import { readableEntries } from '../records.ts'
import { MIGRATIONS } from '../sqlite/schema.ts'
import type { Address } from './address.ts'
import { everyRecord } from './rows.ts'
import { tablesGone, wrongIsolation } from './troubles.ts'

/** How long a commit waits for the commits before it. */
const LOCK_MS = 10_000

/**
 * Step n brings the tables from format n to n + 1. A released step is never edited. It runs in one transaction, and no
 * other process commits meanwhile.
 */
type Step = (db: ClientBase, schema: string) => Promise<unknown>
const FORMATS: readonly Step[] = [createTables, createHeartbeats]

/**
 * Which indexes are declared: it grows when one is added (`renewIndexes`) or a collection is. Both engines count the
 * same steps, so whoever adds an index thinks of one list.
 */
export const INDEXES = MIGRATIONS.length

/**
 * One row of `store` is the head: the number of commits and the newest event. A commit locks it first, so commits are
 * in one order, events have no gaps, and no reader sees an event before all earlier ones.
 */
async function createTables(db: ClientBase, schema: string): Promise<void> {
  await db.query(`
    CREATE TABLE ${schema}.store (
      single boolean PRIMARY KEY DEFAULT true CHECK (single),
      id text NOT NULL, format integer NOT NULL, indexes integer NOT NULL,
      commits bigint NOT NULL DEFAULT 0, sequence bigint NOT NULL DEFAULT 0
    ) WITH (fillfactor = 50);
    CREATE TABLE ${schema}.records (
      collection text COLLATE "C" NOT NULL, id text COLLATE "C" NOT NULL, version bigint NOT NULL, body text NOT NULL,
      PRIMARY KEY (collection, id)
    );
    CREATE TABLE ${schema}.index_entries (
      name text COLLATE "C" NOT NULL, key bytea NOT NULL, id text COLLATE "C" NOT NULL,
      PRIMARY KEY (name, key)
    );
    CREATE INDEX index_entries_by_id ON ${schema}.index_entries (id);
    CREATE TABLE ${schema}.events (
      sequence bigint PRIMARY KEY, project_id text COLLATE "C", mission_id text COLLATE "C", body text NOT NULL
    );
    CREATE INDEX events_by_project ON ${schema}.events (project_id, sequence) WHERE project_id IS NOT NULL;
    CREATE INDEX events_by_mission ON ${schema}.events (mission_id, sequence) WHERE mission_id IS NOT NULL;
  `)
  await db.query(`
    CREATE FUNCTION ${schema}.commit_batch(
      check_collections text[], check_ids text[], check_versions bigint[],
      write_collections text[], write_ids text[], write_expects bigint[], write_versions bigint[], write_bodies text[],
      entry_names text[], entry_keys bytea[], entry_ids text[],
      event_projects text[], event_missions text[], event_bodies text[]
    ) RETURNS text LANGUAGE plpgsql SET lock_timeout = '${LOCK_MS}ms' AS $$
    DECLARE
      newest bigint;
      found bigint;
      collections text[] := check_collections || write_collections;
      ids text[] := check_ids || write_ids;
      expected bigint[] := check_versions || write_expects;
    BEGIN
      SELECT sequence INTO STRICT newest FROM ${schema}.store FOR UPDATE;
      FOR i IN 1 .. cardinality(ids) LOOP
        SELECT version INTO found FROM ${schema}.records WHERE collection = collections[i] AND id = ids[i];
        IF found IS DISTINCT FROM expected[i] THEN RETURN collections[i] || '/' || ids[i]; END IF;
      END LOOP;
      DELETE FROM ${schema}.index_entries e USING unnest(write_collections, write_ids) AS w (collection, id)
        WHERE e.id = w.id AND starts_with(e.name, w.collection || '.')
          AND NOT EXISTS (
            SELECT FROM unnest(entry_names, entry_keys) AS n (name, key) WHERE n.name = e.name AND n.key = e.key);
      INSERT INTO ${schema}.index_entries (name, key, id)
        SELECT * FROM unnest(entry_names, entry_keys, entry_ids) ON CONFLICT DO NOTHING;
      DELETE FROM ${schema}.records r USING unnest(write_collections, write_ids, write_bodies) AS w (collection, id, body)
        WHERE r.collection = w.collection AND r.id = w.id AND w.body IS NULL;
      INSERT INTO ${schema}.records (collection, id, version, body)
        SELECT * FROM unnest(write_collections, write_ids, write_versions, write_bodies) AS w (collection, id, version, body)
          WHERE w.body IS NOT NULL
        ON CONFLICT (collection, id) DO UPDATE SET version = excluded.version, body = excluded.body;
      INSERT INTO ${schema}.events (sequence, project_id, mission_id, body)
        SELECT newest + n, project_id, mission_id, body
          FROM unnest(event_projects, event_missions, event_bodies) WITH ORDINALITY AS e (project_id, mission_id, body, n);
      UPDATE ${schema}.store SET commits = commits + 1, sequence = newest + cardinality(event_bodies);
      RETURN NULL;
    END $$;
  `)
}

/** Apart from the records: a server says every two seconds that it lives, and no commit waits for that. */
async function createHeartbeats(db: ClientBase, schema: string): Promise<void> {
  await db.query(`
    CREATE TABLE ${schema}.heartbeat (
      single boolean PRIMARY KEY DEFAULT true CHECK (single),
      epoch bigint NOT NULL DEFAULT 0, server_id text, info text, since timestamptz,
      until timestamptz NOT NULL DEFAULT 'epoch', keys text
    ) WITH (fillfactor = 50);
    INSERT INTO ${schema}.heartbeat DEFAULT VALUES;
    CREATE TABLE ${schema}.servers (
      id text PRIMARY KEY, info text NOT NULL,
      since timestamptz NOT NULL DEFAULT clock_timestamp(), seen timestamptz NOT NULL
    ) WITH (fillfactor = 50);
  `)
}

/** While a server decides, the store stays as that server knows it. The row stays locked until the transaction ends. */
async function requireNobodyDecides(db: ClientBase, { schema, words }: Address, found: Head): Promise<void> {
  const { rows } = await db.query<{ info: string }>(
    `SELECT info FROM ${schema}.heartbeat WHERE until > clock_timestamp() FOR UPDATE`,
  )
  const [row] = rows
  if (row) throw new StoreHeld(outdated({ words }, found).message, JSON.parse(row.info) as ServerInfo)
  await db.query(`SELECT FROM ${schema}.heartbeat FOR UPDATE`)
}

export interface Head {
  id: string
  format: number
  indexes: number
}

/** Undefined: there are no tables yet. */
export async function headOf(db: Pick<ClientBase, 'query'>, schema: string): Promise<Head | undefined> {
  const {
    rows: [found],
  } = await db.query("SELECT to_regclass($1) AS there, current_setting('default_transaction_isolation') AS isolation", [
    `${schema}.store`,
  ])
  if (found.isolation !== 'read committed') throw wrongIsolation(found.isolation)
  if (!found.there) return undefined
  return (await db.query(`SELECT id, format, indexes FROM ${schema}.store`)).rows[0]
}

/**
 * Throws StoreOutdated if there is something to do and `migrate` is false. `isKnown`: the caller has used this store
 * before, so that nothing is made where it is missing.
 */
export async function bringUpToDate(
  db: ClientBase,
  address: Address,
  options: { migrate: boolean; isKnown?: boolean },
): Promise<Head> {
  const { schema } = address
  const found = await headOf(db, schema)
  if (!found && options.isKnown) throw tablesGone(address.words)
  if (found && isCurrent(found, address)) return found
  if (!options.migrate) throw outdated(address, found)
  if (!found) await requireAnyLetter(db, address)
  await inTransaction(db, async () => {
    // Two processes that begin at once take turns.
    await db.query('SELECT pg_advisory_xact_lock($1::bigint)', [LOCK])
    await makeSchema(db, schema)
    const before = await headOf(db, schema)
    if (before && isCurrent(before, address)) return
    if (before && before.format >= 2) await requireNobodyDecides(db, address, before)
    for (const step of FORMATS.slice(before?.format ?? 0)) await step(db, schema)
    if (!before)
      await db.query(`INSERT INTO ${schema}.store (id, format, indexes) VALUES ($1, $2, $3)`, [
        newId(),
        FORMATS.length,
        INDEXES,
      ])
    else {
      await db.query(`UPDATE ${schema}.store SET format = $1, indexes = $2`, [FORMATS.length, INDEXES])
      if (before.indexes < INDEXES) await renewIndexes(db, schema)
    }
  })
  return (await headOf(db, schema))!
}

/** Agents write in any language. SQL_ASCII stores text as it comes. */
async function requireAnyLetter(db: ClientBase, { words }: Address): Promise<void> {
  const { rows } = await db.query("SELECT current_setting('server_encoding') AS encoding")
  const [{ encoding }] = rows
  if (!['UTF8', 'SQL_ASCII'].includes(encoding))
    throw new Unfit(`The database has the encoding ${encoding}, which cannot store all letters: ${words}.`, {
      try: "Make one with UTF8: CREATE DATABASE <name> ENCODING 'UTF8' TEMPLATE template0",
    })
}

/** Any number that nobody else is likely to use. */
const LOCK = '7021867164318'

/** A store newer than the program is refused. */
export function isCurrent(
  { format, indexes }: Pick<Head, 'format' | 'indexes'>,
  { words }: Pick<Address, 'words'>,
): boolean {
  if (format > FORMATS.length || indexes > INDEXES)
    throw new StoreNewer(
      `The store in ${words} has version ${format}.${indexes}; this program only knows up to version ${FORMATS.length}.${INDEXES}.`,
      { try: 'Use the newer fleet program that wrote it, or another schema.' },
    )
  return format === FORMATS.length && indexes === INDEXES
}

const outdated = ({ words }: Pick<Address, 'words'>, found: Head | undefined): StoreOutdated =>
  found
    ? new StoreOutdated(
        `The store in ${words} has version ${found.format}.${found.indexes}; this program needs version ${FORMATS.length}.${INDEXES}.`,
      )
    : new StoreOutdated(`There is no store in ${words} yet.`, { missing: true })

/** If the schema is there, the role needs no right to make one. */
async function makeSchema(db: ClientBase, schema: string): Promise<void> {
  const { rows } = await db.query('SELECT to_regnamespace($1) AS there', [schema])
  if (!rows[0]?.there) await db.query(`CREATE SCHEMA ${schema}`)
}

/** Builds all indexes again as they are declared now. The caller has a transaction and nobody else commits. */
export async function renewIndexes(db: ClientBase, schema: string): Promise<void> {
  await db.query(`SELECT FROM ${schema}.store FOR UPDATE`)
  await db.query(`DELETE FROM ${schema}.index_entries`)
  for await (const rows of everyRecord(db, schema)) await writeEntries(db, schema, rows)
}

export async function writeEntries(db: ClientBase, schema: string, rows: readonly RecordRow[]): Promise<void> {
  const entries = rows.flatMap(({ collection, id, body }) =>
    [...readableEntries(collection, id, body)].map(entry => ({ ...entry, id })),
  )
  await db.query(
    `INSERT INTO ${schema}.index_entries (name, key, id) SELECT * FROM unnest($1::text[], $2::bytea[], $3::text[])`,
    [entries.map(({ index }) => index), entries.map(({ key }) => key), entries.map(({ id }) => id)],
  )
}

export async function inTransaction<T>(db: ClientBase, act: () => Promise<T>, mode = ''): Promise<T> {
  await db.query(`BEGIN ${mode}`)
  try {
    const result = await act()
    await db.query('COMMIT')
    return result
  } catch (error) {
    // If the connection is gone, the server rolls back.
    await db.query('ROLLBACK').catch(() => {})
    throw error
  }
}
