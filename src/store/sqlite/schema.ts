import type { Database } from 'better-sqlite3'
import { Unfit } from '../../domain/errors.ts'
import { MISSION_COUNTS } from '../../domain/records/fleet.ts'
import { COLLECTIONS, type Collection, type RecordOf } from '../collections.ts'
import { StoreOutdated } from '../port.ts'
import { readableEntries, revive } from '../records.ts'

interface Row {
  id: string
  body: string
}

/**
 * Step n brings a store from version n to n + 1: its tables and indexes. Some old steps also change records; newer ones
 * do that through the port (`store/migrations`). A released step is never edited. A new index needs a step that fills
 * it.
 */
type Migration = (db: Database) => void
export const MIGRATIONS: readonly Migration[] = [
  createTables,
  renewIndexes,
  createTables,
  createTables,
  countMissions,
  renewIndexes,
  renewIndexes,
  createTables,
  tellCandidates,
  createTables,
  writeDownDefaults,
  countRecords,
  renewIndexes,
  countRecords,
  createTables,
  countRecords,
  createTables,
  countRecords,
  // People, their tokens, and runs of checks.
  createTables,
  countRecords,
  // By when they became ready.
  renewIndexes,
  // The audit log.
  createTables,
  countRecords,
  // Teams, their members and their mail.
  createTables,
  renewIndexes,
  countRecords,
  // Swarms.
  createTables,
  countRecords,
  // The blackboard.
  createTables,
  countRecords,
  // Checkpoints.
  createTables,
  countRecords,
  // Reservations.
  createTables,
  countRecords,
  // Tasks of teams.
  renewIndexes,
  // Requests for members.
  createTables,
  countRecords,
]

export const tableOf = (collection: Collection): string => `records_${collection}`

/** Derived from the declared collections. It can be repeated, so a step that adds a collection calls it again. */
function createTables(db: Database): void {
  for (const collection of Object.keys(COLLECTIONS) as Collection[])
    db.exec(
      `CREATE TABLE IF NOT EXISTS ${tableOf(collection)} (id TEXT PRIMARY KEY, version INTEGER NOT NULL, body TEXT NOT NULL) STRICT`,
    )
  db.exec(`
    CREATE TABLE IF NOT EXISTS index_entries (
      name TEXT NOT NULL, key BLOB NOT NULL, id TEXT NOT NULL,
      PRIMARY KEY (name, key)
    ) STRICT, WITHOUT ROWID;
    CREATE TABLE IF NOT EXISTS events (
      sequence INTEGER PRIMARY KEY, project_id TEXT, mission_id TEXT, body TEXT NOT NULL
    ) STRICT;
    CREATE INDEX IF NOT EXISTS events_by_project ON events (project_id) WHERE project_id IS NOT NULL;
    CREATE INDEX IF NOT EXISTS events_by_mission ON events (mission_id) WHERE mission_id IS NOT NULL;
  `)
}

/**
 * Counts the records of each collection. Every write keeps the count, so records that are lost in another way are
 * noticed. A step that makes or removes records calls this again.
 */
export function countRecords(db: Database): void {
  db.exec('CREATE TABLE IF NOT EXISTS tallies (collection TEXT PRIMARY KEY, records INTEGER NOT NULL) STRICT')
  for (const collection of Object.keys(COLLECTIONS) as Collection[])
    db.prepare(
      `INSERT INTO tallies VALUES (?, (SELECT count(*) FROM ${tableOf(collection)}))
       ON CONFLICT (collection) DO UPDATE SET records = excluded.records`,
    ).run(collection)
}

/** Builds all indexes again as they are declared now, for a step that adds collections or indexes. */
export function renewIndexes(db: Database): void {
  createTables(db)
  db.exec('DELETE FROM index_entries')
  const insert = db.prepare('INSERT INTO index_entries (name, key, id) VALUES (?, ?, ?)')
  for (const collection of Object.keys(COLLECTIONS) as Collection[])
    for (const { id, body } of db.prepare(`SELECT id, body FROM ${tableOf(collection)}`).all() as Row[])
      for (const { index, key } of readableEntries(collection, id, body)) insert.run(index, key, id)
}

/**
 * Writes down values that came from an old default. Projects that said nothing about landing used to land. A mission
 * that names shell is a script; one that got shell by default may be prose, so it is not marked.
 */
function writeDownDefaults(db: Database): void {
  db.exec(`
    UPDATE ${tableOf('projects')} SET version = version + 1, body = json_set(body, '$.landing', 'auto')
      WHERE json_valid(body) AND body ->> '$.landing' IS NULL;
    UPDATE ${tableOf('missions')} SET version = version + 1, body = json_set(body, '$.script', json('true'))
      WHERE json_valid(body) AND body ->> '$.agent' = 'shell';
  `)
}

/** Counts missions again: the old counts did not separate projects, and the events they came from may be gone. */
function countMissions(db: Database): void {
  const rows = db.prepare(`SELECT body FROM ${tableOf('missions')}`).all() as Row[]
  if (!rows.length) return
  const record: RecordOf<'counts'> = { id: MISSION_COUNTS, cursor: null, counts: {}, projects: {}, totals: null }
  for (const { body } of rows) {
    const { status, project_id } = revive('missions', body)
    record.projects[project_id] ??= {}
    for (const counts of [record.counts, record.projects[project_id]]) counts[status] = (counts[status] ?? 0) + 1
  }
  record.cursor = (db.prepare('SELECT CAST(max(sequence) AS TEXT) FROM events').pluck().get() as string | null) ?? null
  db.prepare(
    `INSERT INTO ${tableOf('counts')} (id, version, body) VALUES (?, 1, ?)
     ON CONFLICT (id) DO UPDATE SET version = version + 1, body = excluded.body`,
  ).run(record.id, JSON.stringify(record))
}

interface OldLanding {
  commit: string
  onto: string
  branch: string
}
interface OldMission {
  session_id?: string | null
  updated_at: string
  landing_at?: string | null
  candidate?: (OldLanding & { checked: boolean }) | null
  approved?: boolean
  landed?: (OldLanding & { at: string }) | null
  undo?: { requested_at: string; candidate: (OldLanding & { checked: boolean }) | null } | null
}

/**
 * `candidate` used to be the commit about to land, which is now `landing_commit`. Now it is the work as it is shown and
 * approved.
 */
function tellCandidates(db: Database): void {
  const write = db.prepare(`UPDATE ${tableOf('missions')} SET body = ? WHERE id = ?`)
  const session = db.prepare(`SELECT id, body FROM ${tableOf('sessions')} WHERE id = ?`)
  for (const { id, body } of db.prepare(`SELECT id, body FROM ${tableOf('missions')}`).all() as Row[]) {
    const { candidate: landing_commit = null, approved, landed, undo, ...mission } = JSON.parse(body) as OldMission
    const last = mission.session_id ? (session.get(mission.session_id) as Row | undefined) : undefined
    const { end_commit = null, ended_at = null } = last ? JSON.parse(last.body) : {}
    const candidate = end_commit && {
      commit: end_commit,
      session_id: mission.session_id,
      at: ended_at ?? mission.updated_at,
    }
    const by = { by: 'person', at: mission.landing_at ?? mission.updated_at }
    const told = { candidate: end_commit, approved: null, evidence: [], includes: [], with: null, undone: null }
    const next = {
      ...mission,
      candidate,
      landing_commit,
      approval: approved && end_commit ? { candidate: end_commit, ...by } : null,
      landed: landed ? { ...told, ...landed } : null,
      undo: undo ? { requested_at: undo.requested_at, landing_commit: undo.candidate } : null,
    }
    write.run(JSON.stringify(next), id)
  }
}

/** Synchronous, and can be repeated while the file is locked: each call looks at the store again. */
export function bringUpToDate(
  db: Database,
  options: { migrate: boolean },
  migrations: readonly Migration[] = MIGRATIONS,
): void {
  const needed = migrations.length
  const found = versionOf(db)
  if (found > needed)
    throw new Unfit(`The store at ${db.name} has version ${found}; this program only knows up to version ${needed}.`, {
      try: 'Use the newer fleet program that wrote it, or another home.',
      facts: { file: db.name, found, needed },
    })
  if (found === needed) return
  if (!options.migrate) throw outdated(db.name, found, needed)
  db.pragma('journal_mode = WAL')
  const migrate = db.transaction(() => {
    for (const step of migrations.slice(versionOf(db))) step(db)
    db.pragma(`user_version = ${needed}`)
  })
  migrate.immediate()
}

export const outdated = (file: string, found: number, needed: number): StoreOutdated =>
  found === 0
    ? new StoreOutdated(`There is no store at ${file} yet.`, { missing: true, file, needed })
    : new StoreOutdated(`The store at ${file} has version ${found}; this program needs version ${needed}.`, {
        ...{ file, found, needed },
      })

const versionOf = (db: Database): number => db.pragma('user_version', { simple: true }) as number
