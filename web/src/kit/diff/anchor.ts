import type { Virtualizer } from '@tanstack/react-virtual'
import { type RefObject, useLayoutEffect, useRef } from 'react'

/** Keeps what is seen where it is when rows come or go above it. */
export function useAnchor(rows: readonly { key: string }[], virtualizer: Virtualizer<HTMLElement, Element>): void {
  const anchor = useRef<{ key: string; start: number } | undefined>(undefined)
  useLayoutEffect(() => {
    const before = anchor.current
    const scroller = virtualizer.scrollElement
    if (!before || !scroller) return
    const index = rows.findIndex(row => row.key === before.key)
    const start = virtualizer.measurementsCache[index]?.start
    if (start !== undefined && start !== before.start) scroller.scrollTop += start - before.start
  }, [rows, virtualizer])
  useLayoutEffect(() => {
    const offset = virtualizer.scrollOffset ?? 0
    // Nothing to hold while the top of the page is read.
    const first = offset > virtualizer.options.scrollMargin ? virtualizer.getVirtualItemForOffset(offset) : undefined
    anchor.current = first && { key: String(first.key), start: first.start }
  })
}

/** How far down the page the list begins; what is above it may grow. */
export function useFollowedMargin(list: RefObject<HTMLElement | null>, set: (margin: number) => void): void {
  useLayoutEffect(() => {
    const scroller = list.current?.closest('main')
    const content = scroller?.firstElementChild
    if (!list.current || !scroller || !content) return
    const measure = () => {
      if (!list.current) return
      const top = list.current.getBoundingClientRect().top - scroller.getBoundingClientRect().top + scroller.scrollTop
      set(Math.round(top))
    }
    measure()
    const observer = new ResizeObserver(measure)
    observer.observe(content)
    return () => observer.disconnect()
  }, [list, set])
}
