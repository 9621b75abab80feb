import { describe, expect, test } from 'vitest'
import { EFFECT_MS, keptFromDeciding, LEASE_MS, lookAgainIn, mayBegin, RENEW_EVERY_MS } from './lease.ts'

const mine = { home: 'a' }

describe('who may take the lease', () => {
  test('nobody while it is valid, whoever holds it', () => {
    for (const home of ['a', 'b', null]) expect(keptFromDeciding({ leftMs: 1, home }, mine)).toBe('held')
  })
  test('once it is over, a server of the home with the files, or any server if there is none yet', () => {
    for (const home of ['a', null])
      for (const leftMs of [0, -1, -1e9]) expect(keptFromDeciding({ leftMs, home }, mine)).toBeUndefined()
  })
  test('never a server of another home', () => {
    expect(keptFromDeciding({ leftMs: -1e9, home: 'b' }, mine)).toBe('elsewhere')
  })
})

test('an effect begins only while two seconds are left', () => {
  expect([LEASE_MS, EFFECT_MS, EFFECT_MS - 1, 0, -5].map(mayBegin)).toEqual([true, true, false, false, false])
})

test('a server that misses one renewal keeps enough of its lease to act', () => {
  expect(mayBegin(LEASE_MS - 2 * RENEW_EVERY_MS)).toBe(true)
})

test('who waits looks at the end of the lease, and at least once a second', () => {
  expect([-1e9, 0, 300, 6000].map(lookAgainIn)).toEqual([100, 100, 320, 1000])
})
