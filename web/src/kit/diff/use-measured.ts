import { useCallback, useEffect, useRef, useState } from 'react'
import type { Measured } from './use-layout.ts'

/** Measures rows: new ones when asked to, before anybody sees them; all whenever they grow or shrink later. */
export function useMeasured(measure: (all: readonly Measured[]) => boolean) {
  const latest = useRef(measure)
  latest.current = measure
  const fresh = useRef(new Set<HTMLElement>())
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
      fresh.current.add(element)
      observer.observe(element)
      return () => {
        fresh.current.delete(element)
        observer.unobserve(element)
      }
    },
    [observer],
  )
  /** Whether some of the new rows are not as high as was thought. */
  const measureNew = useCallback((): boolean => {
    const all = [...fresh.current].map(element => measured(element, element.getBoundingClientRect().height))
    fresh.current.clear()
    return latest.current(all)
  }, [])
  return { take, measureNew }
}

const measured = ({ dataset }: HTMLElement, height: number): Measured => ({
  file: Number(dataset.file),
  row: Number(dataset.row),
  height,
})
