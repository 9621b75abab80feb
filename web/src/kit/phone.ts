import { useSyncExternalStore } from 'react'

const small = matchMedia('(max-width: 768px)')
const watch = (watcher: () => void): (() => void) => {
  small.addEventListener('change', watcher)
  return () => small.removeEventListener('change', watcher)
}

/** For cases that style sheets cannot handle: small screens show another view. */
export const useIsPhone = (): boolean => useSyncExternalStore(watch, () => small.matches)
