import { type RefObject, useCallback, useLayoutEffect, useRef, useState } from 'react'
import { flushSync } from 'react-dom'

/** So far beyond what is seen is drawn at least: a finger on a phone moves the page before we are told. */
const BEYOND_PX = 420
/** What is drawn changes each time so far was scrolled. */
const STEP_PX = 60

/** What is to be drawn of a list, counted from its top. */
interface Drawn {
  from: number
  to: number
}

/** How the page is scrolled around a list that is within it. */
interface Scrolled {
  scroller: HTMLElement
  /** How far down the page the list begins; what is above it may grow. */
  margin: number
  /** Where the list is looked at; below 0: what is above it is seen. */
  offset: number
  height: number
}

/** Follows what is seen of a list; `moved` is told where its upper edge is. */
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
      // No further than the page goes.
      now.offset = now.scroller.scrollTop - now.margin
      look()
    },
    [look],
  )
  useLayoutEffect(() => {
    const scroller = list.current?.closest('main')
    const content = scroller?.firstElementChild
    if (!list.current || !scroller || !content) return
    const top = () =>
      Math.round(list.current!.getBoundingClientRect().top - scroller.getBoundingClientRect().top + scroller.scrollTop)
    const now = { scroller, margin: top(), offset: scroller.scrollTop - top(), height: scroller.clientHeight }
    scrolled.current = now
    look()
    // Drawn before the browser shows where it has scrolled to.
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
