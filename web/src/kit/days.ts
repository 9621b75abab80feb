const DAY_MS = 24 * 3600 * 1000

/** The moment at which a day as 2026-11-18 begins here; undefined: none was chosen. */
export function startOfDay(day: string | null, daysLater = 0): string | undefined {
  const time = day ? new Date(`${day}T00:00`).getTime() : Number.NaN
  return Number.isNaN(time) ? undefined : new Date(time + daysLater * DAY_MS).toISOString()
}
