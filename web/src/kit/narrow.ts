import { useSyncExternalStore } from 'react'

const narrow = matchMedia('(max-width: 768px)')
const watch = (watcher: () => void): (() => void) => {
  narrow.addEventListener('change', watcher)
  return () => narrow.removeEventListener('change', watcher)
}

/** Whether there is room for only one column. */
export const useNarrow = (): boolean => useSyncExternalStore(watch, () => narrow.matches)
