import { StoreTrouble, Unavailable } from '../../domain/errors.ts'
import { LEASE } from '../../domain/records/store.ts'
import { areRecordsUpToDate, LeaseLost } from '../../store/index.ts'
import type { Fleet } from '../fleet.ts'

export interface Readiness {
  ready: boolean
  store: 'reachable' | 'unreachable'
  migrations: 'done' | 'pending' | 'unknown'
  /** `lost`: this server only answers; another process decides. */
  lease: 'held' | 'lost' | 'unknown'
  /** Whether the work that an earlier server left was picked up. */
  work: 'picked_up' | 'starting'
  /** Why it is not ready, in words. */
  reasons: string[]
}

/** Whether this server can be used. Everybody may know, so it names nothing of the home. */
export async function readiness(fleet: Fleet): Promise<Readiness> {
  const store = await answers(fleet)
  const [migrations, lease] = store ? [await migrated(fleet), await leaseOf(fleet)] : (['unknown', 'unknown'] as const)
  const work = fleet.measurements.isUp ? 'picked_up' : 'starting'
  const reasons = [
    ...(store ? [] : ['The store does not answer.']),
    ...(store && migrations !== 'done' ? ['The records of the store are not up to date yet.'] : []),
    ...(store && lease === 'unknown' ? ['It is not known which process decides for this home.'] : []),
    ...(work === 'starting' ? ['The server is starting: it picks up the work that is running.'] : []),
  ]
  return { ready: reasons.length === 0, store: store ? 'reachable' : 'unreachable', migrations, lease, work, reasons }
}

const answers = ({ store }: Fleet): Promise<boolean> =>
  store.get('lease', LEASE).then(
    () => true,
    // A damaged record is an answer too.
    error => !(error instanceof Unavailable) && error instanceof StoreTrouble,
  )

const migrated = ({ store }: Fleet): Promise<Readiness['migrations']> =>
  areRecordsUpToDate(store).then(
    isDone => (isDone ? 'done' : 'pending'),
    () => 'unknown',
  )

export async function leaseOf({ daemon, fellows }: Fleet): Promise<Readiness['lease']> {
  if (!daemon && fellows) return 'lost'
  if (!daemon?.requireLease) return 'unknown'
  try {
    await daemon.requireLease()
    return 'held'
  } catch (error) {
    return error instanceof LeaseLost ? 'lost' : 'unknown'
  }
}
