import { StoreTrouble, Unfit } from '../domain/errors.ts'
import { LEASE } from '../domain/records/store.ts'
import { EFFECT_MS, keptFromDeciding, mayBegin } from '../domain/rules/lease.ts'
import {
  type Batch,
  Conflict,
  Damaged,
  type Heartbeats,
  type ServerInfo,
  type Store,
  Unavailable,
  type Version,
} from './port.ts'

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

/** The lease of an engine that several servers share: it ends by itself unless it is renewed. */
export interface TimedLease extends Lease {
  /** Renews it, and notes that this server lives. Aborts `lost` if another has taken it. */
  renew(server: ServerInfo): Promise<void>
  /**
   * Asks the store whether an act on the outside may begin, and renews the lease if too little of it is left. Returns
   * whether it may still begin a moment later. Throws LeaseLost if another has taken the lease.
   */
  mayAct(): Promise<() => boolean>
  /** Lets go of it, so that another server decides at once. */
  release(): Promise<void>
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
    const mine = { id: LEASE, epoch: epoch + 1, taken_at: now, home: null, server: null } as const
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

/** What came of trying to take a lease. `home`: whose server decided last. */
export type Try = { lease: TimedLease } | { kept: 'held' | 'elsewhere'; home: string | null; leftMs: number }

/** In words, for people: which server this is. */
export const serverInWords = ({ host, pid, url }: Pick<ServerInfo, 'host' | 'pid' | 'url'>): string =>
  `${host}${url ? ` at ${url}` : ''} (process ${pid})`

/**
 * Takes the lease of an engine that several servers share, if nobody holds it. `fromAnyHome`: a person says that this
 * home goes on, although the files of the fleet were in another.
 */
export async function tryLease(
  store: Store,
  heartbeats: Heartbeats,
  server: ServerInfo,
  { now, fromAnyHome = false }: { now: string; fromAnyHome?: boolean },
): Promise<Try> {
  const last = await lastTaken(store)
  const { leftMs } = await heartbeats.held()
  const kept = keptFromDeciding({ leftMs, home: fromAnyHome ? null : last.home }, server)
  if (kept) return { kept, home: last.home, leftMs }
  const epoch = await heartbeats.claim(server, last.epoch)
  if (epoch === undefined) return { kept: 'held', home: last.home, leftMs: 0 }
  const words = serverInWords(server)
  try {
    await store.commit({
      changes: [
        {
          put: 'lease',
          value: { id: LEASE, epoch, taken_at: now, home: server.home, server: words },
          expects: last.expects,
        },
      ],
      events: [
        { kind: 'decider_changed', time: now, actor: 'fleet', data: { server: words, before: last.server, epoch } },
      ],
    })
  } catch (error) {
    // After Unavailable it may be written: then this epoch is nobody's, and the next try takes a higher one.
    await heartbeats.release(epoch).catch(() => {})
    if (!(error instanceof Conflict)) throw error
    return { kept: 'held', home: last.home, leftMs: 0 }
  }
  const taken = await store.get('lease', LEASE)
  if (taken?.value.epoch !== epoch) return { kept: 'held', home: taken?.value.home ?? null, leftMs: 0 }
  return { lease: timed(leaseOf(store, epoch, taken.version), heartbeats, server) }
}

function timed(lease: Lease & { lose(): void }, heartbeats: Heartbeats, first: ServerInfo): TimedLease {
  const { epoch, lost } = lease
  let server = first
  const renew = async (): Promise<void> => {
    if (!(await heartbeats.beat(server, epoch))) lease.lose()
  }
  return {
    ...lease,
    async renew(now) {
      server = now
      await renew()
    },
    async mayAct() {
      if (lost.aborted) throw new LeaseLost(epoch)
      let asked = performance.now()
      let left = await heartbeats.leftMs(epoch)
      if (left !== undefined && !mayBegin(left)) {
        asked = performance.now()
        await renew()
        left = lost.aborted ? undefined : await heartbeats.leftMs(epoch)
      }
      if (left === undefined) lease.lose()
      if (left === undefined || lost.aborted) throw new LeaseLost(epoch)
      const until = asked + Math.min(left, EFFECT_MS)
      return () => !lost.aborted && performance.now() < until
    },
    release: () => heartbeats.release(epoch),
  }
}

function leaseOf(store: Store, epoch: number, expects: Version): Lease & { lose(): void } {
  const lost = new AbortController()
  const look = async (): Promise<void> => {
    if ((await readLease(store)).expects !== expects) lost.abort()
  }
  return {
    epoch,
    lost: lost.signal,
    lose: () => lost.abort(),
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

interface LastTaken {
  epoch: number
  home: string | null
  server: string | null
}

async function lastTaken(store: Store): Promise<LastTaken & { expects: Version }> {
  const { expects, ...last } = await readLease(store)
  if (expects === 'absent') throw new Unfit('This store has no record of who decides.', { try: 'fleet doctor' })
  return { ...last, expects }
}

/**
 * A damaged record is written again. Its epoch is unknown, so it becomes the seconds since 1970, which are more than
 * any count of starts.
 */
async function readLease(store: Store): Promise<LastTaken & { expects: Version | 'absent' }> {
  try {
    const stored = await store.get('lease', LEASE)
    const { epoch = 0, home = null, server = null } = stored?.value ?? {}
    return { epoch, home, server, expects: stored?.version ?? 'absent' }
  } catch (error) {
    if (!(error instanceof Damaged)) throw error
    return { epoch: Math.floor(Date.now() / 1000), home: null, server: null, expects: error.version }
  }
}
