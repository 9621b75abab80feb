import { expect, test } from 'vitest'
import type { Retrying } from '../records/retrying.ts'
import { afterRetry, parkedInWords, retryingAfter, retryingInWords, type Try } from './retrying.ts'

const NOW = '2026-11-16T14:00:00.000Z'
const at = (seconds: number): string => new Date(Date.parse(NOW) + seconds * 1000).toISOString()
const told = (more: Partial<Try> = {}): Try => ({ attempt: 1, of: 10, why: 'HTTP 429', status: 429, ...more })
const retrying = (more: Partial<Retrying> = {}): Retrying => ({
  ...{ status: 429, why: 'HTTP 429', attempt: 1, of: 10, next_at: null, since: NOW },
  ...more,
})

test('a try is known from its report until the conversation continues', () => {
  const first = retryingAfter(null, told({ wait_seconds: 3 }), NOW)
  expect(first).toEqual(retrying({ next_at: at(3) }))
  const second = retryingAfter(first, told({ attempt: 2, wait_seconds: 6 }), at(4))
  expect(second).toEqual(retrying({ attempt: 2, next_at: at(10) }))
  expect(retryingAfter(second, null, at(11))).toBeNull()
})

test('a try that is read again after a restart keeps its time', () => {
  const first = retryingAfter(null, told({ wait_seconds: 3600 }), NOW)
  expect(retryingAfter(first, told({ wait_seconds: 3600 }), at(1800))).toBe(first)
})

test('if a client reports one try in two ways, the second report adds its details', () => {
  const first = retryingAfter(null, told(), NOW)
  expect(first?.next_at).toBeNull()
  expect(retryingAfter(first, told({ wait_seconds: 3600 }), at(1))).toEqual(retrying({ next_at: at(3601) }))
})

test('a new series of tries has a new start time', () => {
  const earlier = retrying({ attempt: 5, since: at(-600) })
  expect(retryingAfter(earlier, told(), NOW)?.since).toBe(NOW)
})

test('an absurdly long wait is cut to the longest window of a provider', () => {
  for (const odd of [1e12, Number.MAX_VALUE]) {
    const next = retryingAfter(null, told({ wait_seconds: odd }), NOW)!.next_at!
    expect(Date.parse(next)).toBeLessThan(Date.parse(NOW) + 32 * 86_400_000)
  }
  expect(retryingAfter(null, told({ wait_seconds: -5 }), NOW)?.next_at).toBe(NOW)
})

test.each<[string, Partial<Retrying>]>([
  ['retrying (429), try 2 of 10, next try at 14:03:05 UTC', { attempt: 2, next_at: at(185) }],
  ['retrying (429), try 2, next try at 2026-11-17T13:00:00.000Z', { attempt: 2, of: null, next_at: at(23 * 3600) }],
  ['retrying (529), try 1 of 10', { status: 529 }],
  ['retrying (429), try 1 of 10', { next_at: at(-1) }],
  ['retrying (Cannot connect to API)', { status: null, attempt: 0, of: null, why: 'Cannot connect to API' }],
])('in words: %s', (words, of) => {
  expect(retryingInWords(retrying(of), NOW)).toBe(words)
})

const WAITS = { now: NOW, parkAfter: 300, canPark: true }

test.each<[ReturnType<typeof afterRetry>, string, Partial<Retrying>]>([
  ['wait', 'soon again', { next_at: at(30) }],
  ['wait', 'as long as an agent may wait for an answer', { next_at: at(300) }],
  ['parked', 'longer', { next_at: at(301) }],
  ['parked', 'longer, whatever the provider said', { status: 500, next_at: at(3600) }],
  ['parked', 'refused for longer than that', { attempt: 40, since: at(-301), next_at: at(5) }],
  ['parked', 'overloaded for longer than that', { status: 529, since: at(-301) }],
  ['wait', 'broken for long: its client gives up by itself', { status: 500, since: at(-3000) }],
  ['wait', 'nobody knows why, but its client counts its tries', { status: null, since: at(-3000) }],
  ['parked', 'nobody knows why, nor how often', { status: null, of: null, attempt: 0, since: at(-301) }],
  [
    'wait',
    'nobody knows why, nor how often, but not for long',
    { status: null, of: null, attempt: 0, since: at(-300) },
  ],
  ['wait', 'not let in once: it may have renewed its sign-in', { status: 401 }],
  ['refused', 'not let in again', { status: 401, attempt: 2 }],
  ['refused', 'forbidden again', { status: 403, attempt: 2 }],
])('%s: %s', (what, _why, of) => {
  expect(afterRetry(retrying(of), WAITS)).toBe(what)
})

test('a client that could not be resumed is not parked', () => {
  expect(afterRetry(retrying({ next_at: at(3600) }), { ...WAITS, canPark: false })).toBe('wait')
})

test('the reason for parking says until when', () => {
  expect(parkedInWords(retrying({ next_at: at(3600), why: 'Too Many Requests' }))).toBe(
    'The provider refuses it (429) until 2026-11-16T15:00:00.000Z, and its slot is free meanwhile. Too Many Requests',
  )
  expect(parkedInWords(retrying())).toContain('refuses it (429) for long')
})
