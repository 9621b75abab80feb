import { StoreTrouble, Unfit } from '../domain/errors.ts'
import { LEASE } from '../domain/records/store.ts'
import { type Batch, Conflict, Damaged, type Store, Unavailable, type Version } from './port.ts'

/**
 * The right to decide: to dispatch, land and tidy up. One process has it at a time. The engine says who may take it; on
 * SQLite, the process with the lock of the home. The store makes sure that a daemon stops once it has lost the lease:
 * every commit of a daemon checks the record that taking the lease writes.
 */
export interface Lease {
  /** Grows each time the lease is taken. */
  readonly epoch: number
  /** Aborted once another process has taken it. The daemon then stops acting. */
  readonly lost: AbortSignal
  /** Commits as the daemon. Throws LeaseLost if another process has taken the lease; then nothing was written. */
  commit(batch: Batch): Promise<void>
  /** Checks whether it was taken. A daemon may have nothing to commit for a long time. */
  look(): Promise<void>
  /** The same before an act that no commit guards, such as removing files. Throws LeaseLost if it was taken. */
  require(): Promise<void>
}

export class LeaseLost extends StoreTrouble {
  constructor(epoch: number) {
    super('Another process decides for this home now; this one no longer does.', {
      try: 'fleet status',
      facts: { epoch },
    })
  }
}

const MOST_TRIES = 50

/** Takes the lease, also from another process. */
export async function takeLease(store: Store, now: string): Promise<Lease> {
  for (let left = MOST_TRIES; ; left--) {
    const { epoch, expects } = await lastTaken(store)
    const mine = { id: LEASE, epoch: epoch + 1, taken_at: now } as const
    try {
      await store.commit({ changes: [{ put: 'lease', value: mine, expects }] })
    } catch (error) {
      // If it is not known whether it was written, one more epoch does no harm.
      if ((error instanceof Conflict || error instanceof Unavailable) && left > 0) continue
      throw error
    }
    const taken = await store.get('lease', LEASE)
    // If another process has taken it since, take it again.
    if (taken?.value.epoch === mine.epoch) return leaseOf(store, mine.epoch, taken.version)
  }
}

function leaseOf(store: Store, epoch: number, expects: Version): Lease {
  const lost = new AbortController()
  const look = async (): Promise<void> => {
    if ((await readLease(store)).expects !== expects) lost.abort()
  }
  return {
    epoch,
    lost: lost.signal,
    look,
    async require() {
      await look()
      if (lost.signal.aborted) throw new LeaseLost(epoch)
    },
    async commit(batch) {
      if (lost.signal.aborted) throw new LeaseLost(epoch)
      try {
        await store.commit({ ...batch, checks: [{ collection: 'lease', id: LEASE, expects }, ...(batch.checks ?? [])] })
      } catch (error) {
        if (!(error instanceof Conflict) || error.collection !== 'lease') throw error
        await look()
        throw lost.signal.aborted ? new LeaseLost(epoch) : error
      }
    },
  }
}

async function lastTaken(store: Store): Promise<{ epoch: number; expects: Version }> {
  const { epoch, expects } = await readLease(store)
  if (expects === 'absent') throw new Unfit('This store has no record of who decides.', { try: 'fleet doctor' })
  return { epoch, expects }
}

/**
 * A damaged record is written again. Its epoch is unknown, so it becomes the seconds since 1970, which are more than
 * any count of starts.
 */
async function readLease(store: Store): Promise<{ epoch: number; expects: Version | 'absent' }> {
  try {
    const stored = await store.get('lease', LEASE)
    return { epoch: stored?.value.epoch ?? 0, expects: stored?.version ?? 'absent' }
  } catch (error) {
    if (!(error instanceof Damaged)) throw error
    return { epoch: Math.floor(Date.now() / 1000), expects: error.version }
  }
}
