import Database from 'better-sqlite3'
import { Unfit } from '../../domain/errors.ts'
import { COLLECTIONS, type Collection } from '../collections.ts'
import { entriesOf, revive, reviveEvent } from '../records.ts'
import { countRecords, renewIndexes, tableOf } from './schema.ts'

export interface StoreHealth {
  /** The problems that SQLite itself finds. */
  faults: string[]
  /** Records that cannot be read, by collection and id. */
  damaged: string[]
  /** Collections that have fewer or more records than were written, in words. */
  missing: string[]
  /** Index entries that are missing or lead nowhere. */
  indexes: number
}

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
    const damaged: string[] = []
    const wanted = new Set<string>()
    for (const collection of Object.keys(COLLECTIONS) as Collection[])
      for (const { id, body } of db.prepare(`SELECT id, body FROM ${tableOf(collection)}`).iterate() as Iterable<Row>)
        try {
          const record = COLLECTIONS[collection].schema.parse(revive(collection, body))
          for (const identity of entriesOf(collection, id, record).keys()) wanted.add(identity)
        } catch {
          damaged.push(`${collection}/${id}`)
        }
    const events = db.prepare('SELECT sequence, body FROM events').iterate() as Iterable<{
      sequence: number
      body: string
    }>
    for (const { sequence, body } of events) if (!reviveEvent('', body)) damaged.push(`events/${sequence}`)
    return { faults, damaged, missing: missingFrom(db), indexes: differing(db, wanted, damaged) }
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

function differing(db: Database.Database, wanted: Set<string>, damaged: readonly string[]): number {
  const unreadable = new Set(damaged.map(each => each.slice(each.indexOf('/') + 1)))
  const entries = db.prepare('SELECT name, key, id FROM index_entries').iterate() as Iterable<{
    name: string
    key: Buffer
    id: string
  }>
  let astray = 0
  for (const { name, key, id } of entries)
    if (!wanted.delete(`${name} ${key.toString('latin1')}`) && !unreadable.has(id)) astray++
  return astray + wanted.size
}

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
