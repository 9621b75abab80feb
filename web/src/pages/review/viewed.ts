import { useCallback, useState } from 'react'

const KEY = 'review-viewed'
/** Only this many candidates are remembered. */
const MOST_CANDIDATES = 40

type Stored = [candidate: string, paths: string[]][]

function stored(): Stored {
  try {
    const found: unknown = JSON.parse(localStorage.getItem(KEY) ?? '[]')
    return Array.isArray(found) ? (found as Stored) : []
  } catch {
    return []
  }
}

/** The files of a candidate that the person has viewed in this browser. */
export function useViewed(candidate: string): { viewed: ReadonlySet<string>; mark(path: string, seen: boolean): void } {
  const [viewed, setViewed] = useState<ReadonlySet<string>>(
    () => new Set(stored().find(([seen]) => seen === candidate)?.[1]),
  )
  const mark = useCallback(
    (path: string, seen: boolean) =>
      setViewed(before => {
        const after = new Set(before)
        if (seen) after.add(path)
        else after.delete(path)
        const others = stored().filter(([seen]) => seen !== candidate)
        try {
          localStorage.setItem(KEY, JSON.stringify([...others, [candidate, [...after]]].slice(-MOST_CANDIDATES)))
        } catch {
          // A browser that stores nothing forgets it when the page is closed.
        }
        return after
      }),
    [candidate],
  )
  return { viewed, mark }
}
