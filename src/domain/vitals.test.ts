import { expect, test } from 'vitest'
import { type Signs, Vitals } from './vitals.ts'

const quiet = (at: number, more: Partial<Signs> = {}): Signs => ({
  at,
  bytes: 10,
  cpu: at / 1000,
  processes: '1',
  written: 0,
  ...more,
})

test('an agent without any sign of life is idle for as long as that lasts', () => {
  const vitals = new Vitals()
  expect([0, 2000, 4000, 60_000].map(at => vitals.observe(quiet(at)))).toEqual([0, 2000, 4000, 60_000])
})

test.each<[string, Partial<Signs>]>([
  ['prints', { bytes: 11 }],
  ['computes', { cpu: 1000 }],
  ['starts or ends a process', { processes: '1,2' }],
  ['writes a file', { written: 4096 }],
])('one that %s is alive', (_what, sign) => {
  const vitals = new Vitals()
  vitals.observe(quiet(0))
  expect(vitals.observe(quiet(60_000, sign))).toBe(0)
})

test('waiting for a person does not count', () => {
  const vitals = new Vitals()
  vitals.observe(quiet(0))
  vitals.forgive(60_000)
  expect(vitals.observe(quiet(61_000))).toBe(1000)
})
