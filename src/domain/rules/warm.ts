/** A worktree that waits for its next mission. */
export interface Idle {
  since: string
  bytes: number
}

export interface DiskLimits {
  /** Bytes that all of them together may use. */
  budget: number
  /** Free bytes of the disk, and how many should be free. */
  free: number
  keepFree: number
}

const MOST_DAYS = 7
const DAY_MS = 24 * 3_600_000

/** Which idle worktrees go: those that nobody used for a week, then the longest unused until the rest fits. */
export function toEvict<T extends Idle>(idle: readonly T[], { budget, free, keepFree }: DiskLimits, now: string): T[] {
  const oldest = [...idle].sort((a, b) => (a.since < b.since ? -1 : 1))
  let used = oldest.reduce((sum, { bytes }) => sum + bytes, 0)
  let missing = keepFree - free
  return oldest.filter(({ since, bytes }) => {
    const isOld = Date.parse(now) - Date.parse(since) > MOST_DAYS * DAY_MS
    if (!isOld && used <= budget && missing <= 0) return false
    used -= bytes
    missing -= bytes
    return true
  })
}

/** How many should wait while this many are in use: missions that end at the same time each free a slot. */
export const sparesFor = (inUse: number): number => Math.max(1, Math.ceil(inUse / 2))
