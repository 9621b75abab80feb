import type { Retrying } from '../records/retrying.ts'
import { clipped, MAX_REASON_CHARS } from '../text.ts'

export interface Try {
  attempt: number
  of: number | null
  why: string
  status?: number
  wait_seconds?: number
}

const MAX_WHY_CHARS = 500
/** No provider has a longer window. A client that names a longer wait is mistaken. */
export const MAX_HOLD_SECONDS = 31 * 24 * 3600

/** The state after the client reported this try. Reading the same report again after a restart changes nothing. */
export function retryingAfter(before: Retrying | null, told: Try | null, now: string): Retrying | null {
  if (!told) return null
  const { attempt, of, status = null, wait_seconds: wait } = told
  const why = clipped(told.why, MAX_WHY_CHARS)
  const isKnown =
    before?.attempt === attempt &&
    before.status === status &&
    before.why === why &&
    (before.next_at !== null || wait === undefined)
  if (isKnown) return before
  const goesOn = before !== null && attempt >= before.attempt
  const next = wait === undefined ? null : later(now, Math.min(Math.max(0, wait), MAX_HOLD_SECONDS))
  return { status, why, attempt, of, next_at: next, since: goesOn ? before.since : now }
}

/** "retrying (429), try 2 of 10, next try at 14:03:05" */
export function retryingInWords({ status, why, attempt, of, next_at }: Retrying, now: string): string {
  const nth = attempt > 0 ? `, try ${attempt}${of ? ` of ${of}` : ''}` : ''
  const next = next_at && next_at > now ? `, next try at ${clock(next_at, now)}` : ''
  return `retrying (${status ?? clipped(why, 80)})${nth}${next}`
}

/** The time, with its date if it is on another day. */
const clock = (time: string, now: string): string =>
  time.slice(0, 10) === now.slice(0, 10) ? `${time.slice(11, 19)} UTC` : time

/** The provider is overloaded or limits this client. Nobody here can change that; it may work later. */
const BUSY: ReadonlySet<number> = new Set([429, 503, 529])
const NOT_LET_IN: ReadonlySet<number> = new Set([401, 403])
/** A client may have renewed its sign-in after the first refusal. The second refusal concerns the renewed one. */
const REFUSALS = 2

/**
 * What happens to a client that retries. `refused`: no try will help until a person signs in. `parked`: it would hold
 * its slot for longer than an agent may wait for an answer.
 */
export function afterRetry(
  { status, attempt, of, next_at, since }: Retrying,
  { now, parkAfter, canPark }: { now: string; parkAfter: number; canPark: boolean },
): 'wait' | 'refused' | 'parked' {
  if (status !== null && NOT_LET_IN.has(status) && attempt >= REFUSALS) return 'refused'
  const isFar = next_at !== null && secondsBetween(now, next_at) > parkAfter
  // A client that gives neither a status nor a number of tries may retry for ever. One that counts gives up by itself.
  const isEndless = status === null ? of === null : BUSY.has(status)
  const isLong = isEndless && secondsBetween(since, now) > parkAfter
  return canPark && (isFar || isLong) ? 'parked' : 'wait'
}

/** Why it was parked. */
export const parkedInWords = ({ status, why, next_at }: Retrying): string =>
  clipped(
    `The provider refuses it${status ? ` (${status})` : ''}${
      next_at ? ` until ${next_at}` : ' for long'
    }, and its slot is free meanwhile. ${why}`,
    MAX_REASON_CHARS,
  )

const secondsBetween = (from: string, to: string): number => (Date.parse(to) - Date.parse(from)) / 1000
const later = (now: string, seconds: number): string => new Date(Date.parse(now) + seconds * 1000).toISOString()
