import type { QuietHours } from '../records/notification.ts'

const DAY = 24 * 60
const MINUTE_MS = 60_000

/** When the quiet hours end that it is now; undefined: it is not quiet. */
export function quietUntil(quiet: QuietHours | null, now: string): string | undefined {
  if (!quiet) return undefined
  const [from, to] = [minutesOf(quiet.from), minutesOf(quiet.to)]
  const at = Date.parse(now)
  const clock = minutesAt(at, quiet.time_zone)
  const isQuiet = from <= to ? clock >= from && clock < to : clock >= from || clock < to
  if (!isQuiet) return undefined
  const end = wholeMinute(at) + ((to - clock + DAY) % DAY) * MINUTE_MS
  // If the clocks change before then, the end is an hour off, and is put right.
  const off = (minutesAt(end, quiet.time_zone) - to + DAY) % DAY
  const mended = end - (off > DAY / 2 ? off - DAY : off) * MINUTE_MS
  return new Date(Math.max(mended, at + MINUTE_MS)).toISOString()
}

const wholeMinute = (ms: number): number => Math.floor(ms / MINUTE_MS) * MINUTE_MS

function minutesOf(time: string): number {
  const [hours = 0, minutes = 0] = time.split(':').map(Number)
  return hours * 60 + minutes
}

const minutesAt = (ms: number, timeZone: string): number =>
  minutesOf(
    new Intl.DateTimeFormat('en-GB', { timeZone, hour: '2-digit', minute: '2-digit', hourCycle: 'h23' }).format(ms),
  )
