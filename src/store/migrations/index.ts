/** Brings the records of a store up to date in numbered steps, the same on every engine. */

import { hostname } from 'node:os'
import { setTimeout as delay } from 'node:timers/promises'
import { newId } from '../../domain/ids.ts'
import { MIGRATED } from '../../domain/records/store.ts'
import { LEASE_MS } from '../../domain/rules/lease.ts'
import { VERSION } from '../../platform/version.ts'
import {
  Conflict,
  Damaged,
  type ServerInfo,
  type Store,
  StoreHeld,
  StoreNewer,
  StoreOutdated,
  Unavailable,
  type Version,
} from '../port.ts'
import { makeLease } from './0001-lease.ts'

/**
 * Brings records from one shape to the next, through the port alone. A step may be cut off and run again, so it checks
 * what is already done. A released step is never edited.
 */
export type Step = (store: Store) => Promise<void>
const STEPS: readonly Step[] = [makeLease]
const MOST_TRIES = 50

/** Runs in the process that may decide. For all others, the store is up to date or they are refused. */
export async function bringRecordsUpToDate(
  store: Store,
  { migrate }: { migrate: boolean },
  steps: readonly Step[] = STEPS,
): Promise<void> {
  for (let left = MOST_TRIES; ; left--) {
    const { done, expects } = await stepsDone(store)
    if (done > steps.length)
      throw new StoreNewer(
        `The records of the store are at step ${done}; this program only knows up to step ${steps.length}.`,
        { try: 'Use the newer fleet program that wrote them, or another home.', facts: { done, needed: steps.length } },
      )
    if (done === steps.length) return
    if (!migrate)
      throw new StoreOutdated(`The records of the store are at step ${done}; this program needs step ${steps.length}.`)
    try {
      await whileNobodyDecides(store, async () => {
        await steps[done]!(store)
        await store.commit({ changes: [{ put: 'migrations', value: { id: MIGRATED, steps: done + 1 }, expects }] })
      })
    } catch (error) {
      // Another process migrates too, or it is not known whether this was written: read again what is done.
      if (!(error instanceof Conflict || error instanceof Unavailable) || left === 0) throw error
    }
  }
}

/** As long as another that brings it up to date too may take. */
const PATIENCE_MS = LEASE_MS + 1000
const LOOK_EVERY_MS = 100

/**
 * On an engine that several servers share, a step runs under the lease: no other server decides meanwhile. Where the
 * lock of the home says who decides, the caller has it.
 */
async function whileNobodyDecides({ heartbeats }: Store, step: () => Promise<void>): Promise<void> {
  if (!heartbeats) return step()
  const me: ServerInfo = { id: newId(), host: hostname(), pid: process.pid, version: VERSION, home: '', url: null }
  let epoch = await heartbeats.claim(me, 0)
  for (const end = performance.now() + PATIENCE_MS; epoch === undefined; epoch = await heartbeats.claim(me, 0)) {
    const { server } = await heartbeats.held()
    // One that only brings the store up to date is done soon, or its lease ends.
    if (server && (server.home !== '' || performance.now() > end))
      throw new StoreHeld('The records of the store have to be brought up to date.', server)
    await delay(LOOK_EVERY_MS)
  }
  try {
    await step()
  } finally {
    await heartbeats.release(epoch).catch(() => {})
  }
}

/** Whether nothing is left to bring up to date. */
export const areRecordsUpToDate = async (store: Store): Promise<boolean> =>
  (await stepsDone(store)).done === STEPS.length

/** If the record cannot be read, all steps run again. */
async function stepsDone(store: Store): Promise<{ done: number; expects: Version | 'absent' }> {
  try {
    const stored = await store.get('migrations', MIGRATED)
    return { done: stored?.value.steps ?? 0, expects: stored?.version ?? 'absent' }
  } catch (error) {
    if (!(error instanceof Damaged)) throw error
    return { done: 0, expects: error.version }
  }
}
