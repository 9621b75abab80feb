import type { Fault } from '../domain/records/fault.ts'
import { type Ask, by, oncePerKey } from './commands.ts'
import type { Fleet } from './fleet.ts'

const MOST_READ = 500
const MOST_SHOWN = 100

/** The faults of the fleet: first those of a whole reactor, then the oldest. */
export async function faultsOf(fleet: Fleet): Promise<Fault[]> {
  const { items } = await fleet.store.find('faults', { index: 'since', limit: MOST_READ })
  const faults = items.map(({ value }) => value)
  const ofAll = faults.filter(({ record }) => record === null)
  return [...ofAll, ...faults.filter(({ record }) => record !== null)].slice(0, MOST_SHOWN)
}

/** Asks the daemon to try all of them again now. */
export async function retryFaults(fleet: Fleet, ask: Ask): Promise<Fault[]> {
  const faults = await faultsOf(fleet)
  await oncePerKey(fleet, ask, async () => {
    const { actor, now } = by(fleet, ask)
    return { subject: 'faults', changes: [], events: [{ kind: 'faults_retried', time: now, actor, data: {} }] }
  })
  return faults
}
