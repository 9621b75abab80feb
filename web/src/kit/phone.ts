import { useSyncExternalStore } from 'react'

const small = matchMedia('(max-width: 768px)')
const watch = (watcher: () => void): (() => void) => {
  small.addEventListener('change', watcher)
  return () => small.removeEventListener('change', watcher)
}

/** Where style sheets alone do not do: another view is shown on small screens. */
export const useIsPhone = (): boolean => useSyncExternalStore(watch, () => small.matches)
