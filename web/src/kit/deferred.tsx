import { type ReactNode, useDeferredValue } from 'react'

interface DeferredProps {
  /** Shown until then, in about the same size. */
  instead: ReactNode
  children(): ReactNode
}

/** Draws slow content when the browser has time, piece by piece, so that scrolling past it never waits. */
export function Deferred({ instead, children }: DeferredProps) {
  const isTime = useDeferredValue(true, false)
  return isTime ? children() : instead
}
