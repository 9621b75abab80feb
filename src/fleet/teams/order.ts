let last = 0

/** The place of a message among all others: microseconds, and never the same twice in this process. */
export function nextOrder(now: string): number {
  last = Math.max(last + 1, Date.parse(now) * 1000)
  return last
}
