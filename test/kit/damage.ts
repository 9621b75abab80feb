import Database from 'better-sqlite3'
import type { Collection } from '../../src/store/collections.ts'
import { rawly } from '../../src/store/postgres/server.testkit.ts'
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

const DAMAGED = '{"half'

/** Makes a record unreadable, on either engine, and returns how to mend it. */
export async function damageRecord(
  fleet: TestFleet,
  collection: Collection,
  id: string,
): Promise<() => void | Promise<void>> {
  const { schema } = fleet
  if (schema) {
    const where = `WHERE collection = $1 AND id = $2`
    const read = `SELECT body FROM ${schema.name}.records ${where}`
    const [row] = await rawly<{ body: string }>(schema.url, read, [collection, id])
    const write = async (body: string) =>
      void (await rawly(schema.url, `UPDATE ${schema.name}.records SET body = $3 ${where}`, [collection, id, body]))
    await write(DAMAGED)
    return () => write(row!.body)
  }
  const table = `records_${collection}`
  const write = (body: string) =>
    void inStore(fleet, db => db.prepare(`UPDATE ${table} SET body = ? WHERE id = ?`).run(body, id))
  const { body } = inStore(fleet, db => db.prepare(`SELECT body FROM ${table} WHERE id = ?`).get(id)) as {
    body: string
  }
  write(DAMAGED)
  return () => write(body)
}
