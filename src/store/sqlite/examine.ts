import Database from 'better-sqlite3'
import { Unfit } from '../../domain/errors.ts'
import { COLLECTIONS, type Collection } from '../collections.ts'
import { Examination, type StoreHealth } from '../health.ts'
import { countRecords, renewIndexes, tableOf } from './schema.ts'

interface Row {
  id: string
  body: string
}

/** Checks the whole store and changes nothing. */
export function examineSqlite(file: string): StoreHealth {
  const db = new Database(file, { readonly: true, fileMustExist: true })
  try {
    const checked = db.pragma('integrity_check(20)') as { integrity_check: string }[]
    const faults = checked.map(row => row.integrity_check).filter(text => text !== 'ok')
    const examination = new Examination()
    for (const collection of Object.keys(COLLECTIONS) as Collection[])
      for (const { id, body } of rowsOf<Row>(db, `SELECT id, body FROM ${tableOf(collection)}`))
        examination.record(collection, id, body)
    for (const { sequence, body } of rowsOf<{ sequence: number; body: string }>(
      db,
      'SELECT sequence, body FROM events',
    ))
      examination.event(sequence, body)
    for (const { name, key, id } of rowsOf<{ name: string; key: Buffer; id: string }>(
      db,
      'SELECT name, key, id FROM index_entries',
    ))
      examination.entry(name, key, id)
    return examination.found({ faults, missing: missingFrom(db) })
  } finally {
    db.close()
  }
}

/** Collections that do not have as many records as were written. */
export function missingFrom(
  db: Database.Database,
  collections: readonly Collection[] = Object.keys(COLLECTIONS) as Collection[],
): string[] {
  const tally = db.prepare('SELECT records FROM tallies WHERE collection = ?').pluck()
  // In one transaction, because others may be writing.
  return db.transaction(() =>
    collections.flatMap(collection => {
      const kept = tally.get(collection) as number | undefined
      const there = db
        .prepare(`SELECT count(*) FROM ${tableOf(collection)}`)
        .pluck()
        .get() as number
      return kept === there ? [] : [`${there} of ${kept ?? 'all'} ${collection.replaceAll('_', ' ')}`]
    }),
  )()
}

const rowsOf = <T>(db: Database.Database, select: string): Iterable<T> => db.prepare(select).iterate() as Iterable<T>

/**
 * Builds the indexes again from all readable records, and takes the number of records found as right. The caller holds
 * the home.
 */
export function repairIndexes(file: string): void {
  const db = new Database(file, { fileMustExist: true })
  try {
    db.transaction(() => {
      renewIndexes(db)
      countRecords(db)
    }).immediate()
  } catch (cause) {
    throw new Unfit('The indexes of the store cannot be rebuilt.', { try: 'Restore a backup: fleet restore', cause })
  } finally {
    db.close()
  }
}
