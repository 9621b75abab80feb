import type { PostgresSettings } from './address.ts'
import { rawly } from './server.testkit.ts'

export const WHY_SKIPPED = 'no PostgreSQL server: npm run test:postgres starts one'

/** The server that `npm run test:postgres` started for the whole run. */
export const SHARED = process.env.FLEET_TEST_POSTGRES

let made = 0
/** A store of its own on the shared server: a schema that nobody else uses. */
export function aSchema(url: string = SHARED!): PostgresSettings {
  if (!url) throw new Error(WHY_SKIPPED)
  return { engine: 'postgresql', url, schema: `test_${process.pid}_${Date.now().toString(36)}_${made++}`, poolSize: 4 }
}

/** The server may be gone already. */
export async function dropSchema({ url, name }: { url: string; name: string }): Promise<void> {
  await rawly(url, `DROP SCHEMA IF EXISTS ${name} CASCADE`).catch(() => {})
}
