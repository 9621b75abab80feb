import { type ReactNode, useDeferredValue } from 'react'

interface DeferredProps {
  /** Shown at once, in about the same size. */
  instead: ReactNode
  children(): ReactNode
}

/** What takes a moment to draw is drawn when there is one, a piece at a time: scrolling past it never waits. */
export function Deferred({ instead, children }: DeferredProps) {
  const isTime = useDeferredValue(true, false)
  return isTime ? children() : instead
}
