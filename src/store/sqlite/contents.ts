import { closeSync, openSync, rmSync } from 'node:fs'
import Database from 'better-sqlite3'
import { COLLECTIONS, type Collection } from '../collections.ts'
import type { Contents, EventRow, RecordRow } from '../copy.ts'
import { MOVED, patiently } from './patience.ts'
import { bringUpToDate, countRecords, renewIndexes, tableOf } from './schema.ts'

const PAGE = 1000

/** Reads a whole store. */
export async function withContentsOf<T>(file: string, act: (contents: Contents) => Promise<T>): Promise<T> {
  const db = new Database(file, { readonly: true, fileMustExist: true })
  try {
    return await act(contentsOf(db))
  } finally {
    db.close()
  }
}

/**
 * Reads a store for the last time. Nobody writes meanwhile, and once `act` has moved everything, nobody ever does: a
 * process that has the file open from before is told. If `act` throws, the store is as it was.
 */
export async function withLastContentsOf<T>(file: string, act: (contents: Contents) => Promise<T>): Promise<T> {
  const db = new Database(file, { fileMustExist: true })
  try {
    await patiently(() => db.exec('BEGIN IMMEDIATE'))
    const result = await act(contentsOf(db))
    for (const table of [...(Object.keys(COLLECTIONS) as Collection[]).map(tableOf), 'events'])
      for (const change of ['INSERT', 'UPDATE', 'DELETE'])
        db.exec(
          `CREATE TRIGGER moved_${table}_${change} BEFORE ${change} ON ${table} BEGIN SELECT RAISE(ABORT, '${MOVED}'); END`,
        )
    db.exec('COMMIT')
    db.pragma('wal_checkpoint(TRUNCATE)')
    return result
  } finally {
    db.close()
  }
}

const contentsOf = (db: Database.Database): Contents => ({
  records: () => recordsOf(db),
  events: () =>
    pages<EventRow>(
      db,
      'SELECT CAST(sequence AS TEXT) AS sequence, project_id, mission_id, body FROM events ORDER BY events.sequence',
    ),
})

async function* recordsOf(db: Database.Database): AsyncGenerator<RecordRow[]> {
  for (const collection of (Object.keys(COLLECTIONS) as Collection[]).toSorted())
    for await (const rows of pages<Omit<RecordRow, 'collection'>>(
      db,
      `SELECT id, CAST(version AS TEXT) AS version, body FROM ${tableOf(collection)} ORDER BY id`,
    ))
      yield rows.map(row => ({ collection, ...row }))
}

async function* pages<T>(db: Database.Database, select: string): AsyncGenerator<T[]> {
  let rows: T[] = []
  for (const row of db.prepare(select).iterate() as Iterable<T>) {
    rows.push(row)
    if (rows.length < PAGE) continue
    yield rows
    rows = []
  }
  if (rows.length) yield rows
}

/** Makes a store file from the rows of another store. What was there under this name is replaced. */
export async function fillSqlite(file: string, contents: Contents): Promise<void> {
  for (const end of ['', '-wal', '-shm', '-journal']) rmSync(`${file}${end}`, { force: true })
  closeSync(openSync(file, 'wx', 0o600))
  const db = new Database(file)
  try {
    bringUpToDate(db, { migrate: true })
    db.exec('BEGIN IMMEDIATE')
    for await (const rows of contents.records())
      for (const { collection, id, version, body } of rows)
        db.prepare(`INSERT INTO ${tableOf(collection)} (id, version, body) VALUES (?, ?, ?)`).run(
          ...[id, BigInt(version), body],
        )
    const event = db.prepare('INSERT INTO events (sequence, project_id, mission_id, body) VALUES (?, ?, ?, ?)')
    for await (const rows of contents.events())
      for (const { sequence, project_id, mission_id, body } of rows)
        event.run(BigInt(sequence), project_id, mission_id, body)
    renewIndexes(db)
    countRecords(db)
    db.exec('COMMIT')
    // One complete file, also for whoever copies it.
    db.pragma('wal_checkpoint(TRUNCATE)')
  } finally {
    db.close()
  }
}
