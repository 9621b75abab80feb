import { type RefObject, useCallback, useLayoutEffect, useRef, useState } from 'react'
import { flushSync } from 'react-dom'

/** How far beyond the visible part to draw at least: a phone scrolls before the page hears of it. */
const BEYOND_PX = 420
/** The drawn part changes in steps of this size. */
const STEP_PX = 60

/** The part of a list to draw, from its top. */
interface Drawn {
  from: number
  to: number
}

/** The scroll position of a list inside the page. */
interface Scrolled {
  scroller: HTMLElement
  /** The distance from the top of the page to the list. The part above the list may grow. */
  margin: number
  /** The scroll position in the list; below 0: the part above it is visible. */
  offset: number
  height: number
}

/** Tracks the visible part of a list. `moved` gets the offset of its upper edge. */
export function useScroll(list: RefObject<HTMLElement | null>, moved: (offset: number) => void) {
  const scrolled = useRef<Scrolled>(undefined)
  const told = useRef(moved)
  told.current = moved
  const [drawn, setDrawn] = useState<Drawn>({ from: 0, to: 0 })
  const look = useCallback(() => {
    const { offset, height } = scrolled.current!
    const step = Math.floor(offset / STEP_PX) * STEP_PX
    const [from, to] = [step - BEYOND_PX, step + STEP_PX + height + BEYOND_PX]
    setDrawn(before => (before.from === from && before.to === to ? before : { from, to }))
    told.current(offset)
  }, [])
  const scrollTo = useCallback(
    (offset: number) => {
      const now = scrolled.current
      if (!now || now.offset === offset) return
      now.scroller.scrollTop = now.margin + offset
      // The browser may have stopped at the end of the page.
      now.offset = now.scroller.scrollTop - now.margin
      look()
    },
    [look],
  )
  useLayoutEffect(() => {
    const scroller = list.current?.closest<HTMLElement>('.diff-scroller, main')
    const content = scroller?.firstElementChild
    if (!list.current || !scroller || !content) return
    const top = () =>
      Math.round(list.current!.getBoundingClientRect().top - scroller.getBoundingClientRect().top + scroller.scrollTop)
    const now = { scroller, margin: top(), offset: scroller.scrollTop - top(), height: scroller.clientHeight }
    scrolled.current = now
    look()
    // Draw before the browser shows the new position.
    const onScroll = () => {
      now.offset = scroller.scrollTop - now.margin
      flushSync(look)
    }
    const observer = new ResizeObserver(() => {
      const margin = list.current ? top() : now.margin
      if (margin !== now.margin && now.offset > 0) scroller.scrollTop = margin + now.offset
      Object.assign(now, { margin, offset: scroller.scrollTop - margin, height: scroller.clientHeight })
      look()
    })
    observer.observe(content)
    observer.observe(scroller)
    scroller.addEventListener('scroll', onScroll, { passive: true })
    return () => {
      observer.disconnect()
      scroller.removeEventListener('scroll', onScroll)
    }
  }, [list, look])
  return { drawn, scrolled, scrollTo }
}
