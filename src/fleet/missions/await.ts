import type { Mission } from '../../domain/records/mission.ts'
import type { Fleet } from '../fleet.ts'
import { current } from '../records.ts'
import { untilSeen } from '../watching.ts'

interface Patience {
  seconds: number
  /** Whether there is nothing more to wait for. */
  settled(mission: Mission): Promise<boolean>
  /** Called at every look, and every few seconds while nothing changes. */
  tell(mission: Mission): void
  signal: AbortSignal
}

/** How often it says that nothing has changed. */
const TELL_EVERY_MS = 5000

/** Waits until the mission is settled, the time is up or the caller is gone. Commits wake it; nothing is polled. */
export async function awaitMission(fleet: Fleet, id: string, patience: Patience): Promise<Mission> {
  const { seconds, settled, tell, signal } = patience
  let last!: Mission
  const look = async () => {
    last = (await current(fleet, 'missions', id)).value
    if (await settled(last)) return last
    tell(last)
  }
  const quiet = { everyMs: TELL_EVERY_MS, tell: () => tell(last) }
  return (await untilSeen(fleet.store, look, { ms: seconds * 1000, signal, quiet })) ?? last
}
