import Database from 'better-sqlite3'
import type { Collection } from '../../src/store/collections.ts'
import type { TestFleet } from './fleet.ts'

/** Looks at the store's file, or changes it, past everything that watches over it. */
export function inStore<T>({ fleet }: TestFleet, act: (db: Database.Database) => T): T {
  const db = new Database(fleet.home.storeFile)
  try {
    return act(db)
  } finally {
    db.close()
  }
}

/** Makes a record unreadable, and returns how to mend it. */
export function damageRecord(fleet: TestFleet, collection: Collection, id: string): () => void {
  const table = `records_${collection}`
  const write = (body: string) =>
    inStore(fleet, db => db.prepare(`UPDATE ${table} SET body = ? WHERE id = ?`).run(body, id))
  const { body } = inStore(fleet, db => db.prepare(`SELECT body FROM ${table} WHERE id = ?`).get(id)) as {
    body: string
  }
  write('{"half')
  return () => void write(body)
}
