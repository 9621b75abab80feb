import { setTimeout as pause } from 'node:timers/promises'
import type { Mission } from '../../domain/records/mission.ts'
import type { Fleet } from '../fleet.ts'
import { current } from '../records.ts'

interface Patience {
  seconds: number
  /** Whether there is nothing more to wait for. */
  settled(mission: Mission): Promise<boolean>
  /** Told of every look at it. */
  tell(mission: Mission): void
  signal: AbortSignal
}

/** How often it is told that nothing has changed. */
const TELL_EVERY_MS = 5000

/** The mission once it is settled, or as it is when patience or the asker is gone. Commits wake it, nothing is polled. */
export async function awaitMission(fleet: Fleet, id: string, patience: Patience): Promise<Mission> {
  const { seconds, settled, tell, signal } = patience
  const end = performance.now() + seconds * 1000
  let woken = Promise.withResolvers<void>()
  const stopWatching = fleet.store.watch(() => woken.resolve())
  try {
    for (;;) {
      woken = Promise.withResolvers<void>()
      const { value } = await current(fleet, 'missions', id)
      const left = end - performance.now()
      if (left <= 0 || signal.aborted || (await settled(value))) return value
      tell(value)
      const timer = new AbortController()
      const quiet = pause(Math.min(left, TELL_EVERY_MS), undefined, { signal: AbortSignal.any([signal, timer.signal]) })
      await Promise.race([woken.promise, quiet.catch(() => {})])
      timer.abort()
    }
  } finally {
    stopWatching()
  }
}
