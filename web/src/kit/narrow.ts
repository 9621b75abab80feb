import { useSyncExternalStore } from 'react'

/** Whether the window is at most this wide. */
function narrowerThan(pixels: number): () => boolean {
  const narrow = matchMedia(`(max-width: ${pixels}px)`)
  const watch = (watcher: () => void): (() => void) => {
    narrow.addEventListener('change', watcher)
    return () => narrow.removeEventListener('change', watcher)
  }
  return () => useSyncExternalStore(watch, () => narrow.matches)
}

/** Whether there is room for only one column. */
export const useNarrow = narrowerThan(768)

/** Whether a list has no room beside what is shown. */
export const useSingleColumn = narrowerThan(1000)
