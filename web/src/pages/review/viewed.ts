import { useCallback, useState } from 'react'

const KEY = 'review-viewed'
/** As much as is worth remembering. */
const MOST_SESSIONS = 40

type Stored = [candidate: string, paths: string[]][]

function stored(): Stored {
  try {
    const found: unknown = JSON.parse(localStorage.getItem(KEY) ?? '[]')
    return Array.isArray(found) ? (found as Stored) : []
  } catch {
    return []
  }
}

/** Which files of a session's work the person has seen, in this browser. */
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
        localStorage.setItem(KEY, JSON.stringify([...others, [candidate, [...after]]].slice(-MOST_SESSIONS)))
        return after
      }),
    [candidate],
  )
  return { viewed, mark }
}
