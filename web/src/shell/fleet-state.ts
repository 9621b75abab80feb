import { useEffect } from 'react'
import { setWaiting } from '../kit/title.ts'
import { useAsk, useCommand } from '../live/data.ts'
import type { View } from '../views.ts'

/** The state of the fleet that every page shows. */
export function useFleetState() {
  const { data } = useAsk('get_overview', {})
  const { count: waiting = 0, reviews = 0 } = data?.needs_you ?? {}
  useEffect(() => {
    setWaiting(waiting)
    // On the icon of the installed page, if there is one.
    navigator.setAppBadge?.(waiting).catch(() => {})
  }, [waiting])
  const counts: Partial<Record<View, number>> = { '/inbox': waiting, '/review': reviews }
  return {
    counts,
    isPaused: data?.paused ?? false,
    unreadable: data?.unreadable_records ?? 0,
    faults: data?.faults ?? 0,
  }
}

export function usePausing(): { pause(): void; unpause(): void; busy: boolean } {
  const pause = useCommand('pause')
  const unpause = useCommand('unpause')
  return { pause: () => pause.run({}), unpause: () => unpause.run({}), busy: pause.busy || unpause.busy }
}
