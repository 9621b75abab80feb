import { useCallback, useEffect, useRef, useState } from 'react'
import type { Measured } from './use-layout.ts'

/** Measures the drawn rows: on request, before they are visible, and whenever they grow or shrink later. */
export function useMeasured(measure: (all: readonly Measured[]) => boolean) {
  const latest = useRef(measure)
  latest.current = measure
  const drawn = useRef({ all: new Set<HTMLElement>(), hasNew: false }).current
  const [observer] = useState(
    () =>
      new ResizeObserver(entries => {
        latest.current(
          entries.map(({ target, borderBoxSize }) => measured(target as HTMLElement, borderBoxSize[0]!.blockSize)),
        )
      }),
  )
  useEffect(() => () => observer.disconnect(), [observer])
  /** For the `ref` of each row. */
  const take = useCallback(
    (element: HTMLElement | null) => {
      if (!element) return
      drawn.all.add(element)
      drawn.hasNew = true
      observer.observe(element)
      return () => {
        drawn.all.delete(element)
        observer.unobserve(element)
      }
    },
    [observer, drawn],
  )
  /** Whether some rows differ from their assumed height. Measures only if rows are new or the layout changed. */
  const measureDrawn = useCallback(
    (changed: boolean): boolean => {
      if (!changed && !drawn.hasNew) return false
      drawn.hasNew = false
      return latest.current([...drawn.all].map(element => measured(element, element.getBoundingClientRect().height)))
    },
    [drawn],
  )
  return { take, measureDrawn }
}

const measured = ({ dataset }: HTMLElement, height: number): Measured => ({
  file: Number(dataset.file),
  row: Number(dataset.row),
  height,
})
