import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import { openHome } from '../platform/home.ts'
import { memoryKeys } from '../platform/keys.ts'
import { memoryStore, type Store } from '../store/index.ts'
import { type Fleet, makeFleet } from './fleet.ts'

/** A fleet in memory, for one test. */
export function aFleet({ now, store = memoryStore() }: { now?: () => string; store?: Store } = {}): Fleet {
  const root = mkdtempSync(join(tmpdir(), 'flotilla-fleet-'))
  const fleet = makeFleet({ home: openHome(root), keys: memoryKeys(), store, environment: {}, now })
  onTestFinished(async () => {
    await fleet.close()
    rmSync(root, { recursive: true, force: true })
  })
  return fleet
}
