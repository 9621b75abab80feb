import type { Virtualizer } from '@tanstack/react-virtual'
import { useEffect } from 'react'
import type { useMissions } from '../../live/data.ts'
import type { Mission } from '../../live/mending.ts'

type Reading = Pick<ReturnType<typeof useMissions>, 'hasNextPage' | 'isFetchingNextPage' | 'fetchNextPage' | 'isError'>
/** The next page is loaded this many rows before the end. */
const AHEAD = 20

/** Loads more while scrolling, and also while nothing was found yet, because each page searches only a part. */
export function useReadingOn(rows: Virtualizer<HTMLDivElement, Element>, count: number, reading: Reading): void {
  const { hasNextPage, isFetchingNextPage, fetchNextPage, isError } = reading
  const last = rows.getVirtualItems().at(-1)?.index ?? -1
  useEffect(() => {
    if (hasNextPage && !isFetchingNextPage && !isError && last >= count - AHEAD) fetchNextPage()
  }, [last, count, hasNextPage, isFetchingNextPage, isError, fetchNextPage])
}

/** Scrolls to the mission that the keyboard selected, and focuses it. */
export function useFollowing(
  rows: Virtualizer<HTMLDivElement, Element>,
  missions: readonly Mission[],
  active: { id: string; moved: number } | undefined,
): void {
  const { id, moved = 0 } = active ?? {}
  // biome-ignore lint/correctness/useExhaustiveDependencies: only when the keyboard moved, not when the list changes
  useEffect(() => {
    const index = missions.findIndex(each => each.id === id)
    if (!moved || index < 0) return
    rows.scrollToIndex(index, { align: 'auto' })
    const frame = requestAnimationFrame(() => {
      const link = rows.scrollElement?.querySelector<HTMLElement>(`[data-card="${CSS.escape(id!)}"] a`)
      link?.focus({ preventScroll: true })
    })
    return () => cancelAnimationFrame(frame)
  }, [moved])
}
