import { useCallback, useState } from 'react'

const KEY = 'review-viewed'
/** As much as is worth remembering. */
const MOST_SESSIONS = 40

type Stored = [sessionId: string, paths: string[]][]

function stored(): Stored {
  try {
    const found: unknown = JSON.parse(localStorage.getItem(KEY) ?? '[]')
    return Array.isArray(found) ? (found as Stored) : []
  } catch {
    return []
  }
}

/** Which files of a session's work the person has seen, in this browser. */
export function useViewed(sessionId: string): { viewed: ReadonlySet<string>; mark(path: string, seen: boolean): void } {
  const [viewed, setViewed] = useState<ReadonlySet<string>>(
    () => new Set(stored().find(([session]) => session === sessionId)?.[1]),
  )
  const mark = useCallback(
    (path: string, seen: boolean) =>
      setViewed(before => {
        const after = new Set(before)
        if (seen) after.add(path)
        else after.delete(path)
        const others = stored().filter(([session]) => session !== sessionId)
        localStorage.setItem(KEY, JSON.stringify([...others, [sessionId, [...after]]].slice(-MOST_SESSIONS)))
        return after
      }),
    [sessionId],
  )
  return { viewed, mark }
}
