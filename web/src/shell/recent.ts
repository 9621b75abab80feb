import { useEffect } from 'react'
import { useLocation } from 'wouter'

const KEY = 'fleet-recent'
const MOST = 6

/** The missions that were opened last in this browser, the newest first. */
export function recentMissions(): string[] {
  try {
    const kept: unknown = JSON.parse(localStorage.getItem(KEY) ?? '[]')
    return Array.isArray(kept) ? kept.filter(each => typeof each === 'string').slice(0, MOST) : []
  } catch {
    return []
  }
}

/** Remembers which missions are opened. A browser that stores nothing has no recent ones. */
export function useRemembering(): void {
  const [location] = useLocation()
  useEffect(() => {
    const id = /^\/(?:missions|review)\/([0-9a-z]{12})$/.exec(location)?.[1]
    if (!id) return
    try {
      localStorage.setItem(KEY, JSON.stringify([id, ...recentMissions().filter(each => each !== id)].slice(0, MOST)))
    } catch {
      // As above.
    }
  }, [location])
}
