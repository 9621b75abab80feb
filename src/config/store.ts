import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { type StoreChoice, storeElsewhere } from './store-elsewhere.ts'

/** The file in which a home whose records are in PostgreSQL remembers where. A person may write it. */
export const STORE_MEMORY = 'store.json'

/**
 * Where the records of a home are. Throws if what is set does not fit what the home has. The usual case is quick: every
 * command asks.
 */
export function storeOf(home: { path: string; storeFile: string }, env: NodeJS.ProcessEnv): StoreChoice {
  const memory = join(home.path, STORE_MEMORY)
  const isUsual = !(env.FLEET_STORE || env.FLEET_STORE_FILE || env.STORAGE_BACKEND) && !existsSync(memory)
  return isUsual ? { engine: 'sqlite', file: home.storeFile } : storeElsewhere({ memory, ...home }, env)
}

/** No agent gets these: it could do everything in the fleet with them. */
const OURS = ['FLEET_STORE', 'FLEET_STORE_FILE']
/** Without PostgreSQL they are meant for other programs. */
const OF_POSTGRES = ['DATABASE_URL', 'POSTGRESQL_URL', 'PGPASSWORD', 'PGPASSFILE']

/** An environment without what reaches the store, for agents and programs that are not the fleet. */
export function withoutStore(env: NodeJS.ProcessEnv, { engine }: StoreChoice): NodeJS.ProcessEnv {
  const hidden = engine === 'postgresql' ? [...OURS, ...OF_POSTGRES] : OURS
  return Object.fromEntries(Object.entries(env).filter(([name]) => !hidden.includes(name)))
}
