/** A lease is valid this long after it was renewed, by the clock of the database. */
export const LEASE_MS = 6000
export const RENEW_EVERY_MS = 2000
/** An act on the outside begins only while the lease has this long left, and must begin within it. */
export const EFFECT_MS = 2000

/** Who may decide next, as the store says it. */
export interface Seat {
  /** How long the lease is still valid; at most 0: nobody holds it. */
  leftMs: number
  /** The home whose server decided last: the files of the fleet are there. Null: nobody has decided yet. */
  home: string | null
}

/** What keeps a server from taking the lease. `elsewhere`: the worktrees and conversations are in another home. */
export function keptFromDeciding({ leftMs, home }: Seat, mine: { home: string }): 'held' | 'elsewhere' | undefined {
  if (leftMs > 0) return 'held'
  return home === null || home === mine.home ? undefined : 'elsewhere'
}

/** Whether an act on the outside may begin under a lease with this long left. */
export const mayBegin = (leftMs: number): boolean => leftMs >= EFFECT_MS

/** When a server that does not decide looks again: at the end of the lease, but never too seldom to notice a server that stops. */
export const lookAgainIn = (leftMs: number): number => Math.min(Math.max(leftMs + 20, 100), 1000)
