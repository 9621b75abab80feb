import { setTimeout as delay } from 'node:timers/promises'
import { Unfit } from '../domain/errors.ts'
import { type Hostility, memoryStore } from './memory/index.ts'
import { bringRecordsUpToDate } from './migrations/index.ts'
import { type Store, StoreOutdated } from './port.ts'
import type { PostgresSettings } from './postgres/address.ts'
import type { OnDamage } from './soundness.ts'
import { openSqlite, takeLock } from './sqlite/index.ts'

/** Which engine stores the records, and where. */
export type StoreSettings =
  | { engine: 'sqlite'; file: string }
  | { engine: 'memory'; hostile?: Hostility }
  | PostgresSettings

export interface Opening {
  /**
   * For a process that may decide: makes a missing store, and brings an old one up to date. Otherwise these throw
   * StoreOutdated.
   */
  migrate: boolean
  /** Called once for each record that cannot be read. */
  onDamage?: OnDamage
}

/** The only way to open a store, on any engine. */
export async function openStore(settings: StoreSettings, opening: Opening): Promise<Store> {
  const store = await openEngine(settings, opening)
  try {
    await bringRecordsUpToDate(store, opening)
    return store
  } catch (error) {
    await store.close()
    throw error
  }
}

async function openEngine(settings: StoreSettings, opening: Opening): Promise<Store> {
  if (settings.engine === 'sqlite') return openSqlite(settings.file, opening)
  if (settings.engine === 'memory') return memoryStore(settings)
  // Nobody else loads its library.
  const { openPostgres } = await import('./postgres/index.ts')
  return openPostgres(settings, opening)
}

const READY_MS = 5000
const LOOK_EVERY_MS = 50

/**
 * Opens the store for a process that is not the daemon. A missing or old store is brought up to date under the lock,
 * which is then released.
 */
export async function openToAsk(home: { path: string }, settings: StoreSettings): Promise<Store> {
  for (const start = Date.now(); ; await delay(LOOK_EVERY_MS)) {
    try {
      return await openStore(settings, { migrate: false })
    } catch (cause) {
      if (!(cause instanceof StoreOutdated)) throw cause
      const lock = takeLock(home.path)
      if (lock)
        try {
          return await openStore(settings, { migrate: true })
        } finally {
          lock.release()
        }
      // Someone else holds the home and is bringing the store up to date right now.
      if (Date.now() - start > READY_MS)
        throw new Unfit('Another process holds this home and has not made its store ready.', {
          try: 'fleet status',
          cause,
        })
    }
  }
}
