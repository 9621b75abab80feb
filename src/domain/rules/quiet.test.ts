import { expect, test } from 'vitest'
import { QuietTime } from './quiet.ts'

const looks = (time: QuietTime, signs: readonly boolean[], from = 0, every = 2000): number => {
  signs.forEach((isAlive, n) => {
    time.look(from + n * every, isAlive)
  })
  return from + signs.length * every
}

test('silence grows until a sign of life, and the longest one is remembered', () => {
  const time = new QuietTime()
  looks(time, [true, false, false, false])
  expect(time.quietMs).toBe(6000)
  looks(time, [true, false], 8000)
  expect([time.quietMs, time.longestMs]).toEqual([2000, 6000])
})

test('a machine that slept was not quiet meanwhile', () => {
  const time = new QuietTime()
  looks(time, [true, false])
  time.look(8 * 3_600_000, false)
  expect(time.quietMs).toBeLessThanOrEqual(12_000)
})

test('a clock that goes backward counts nothing', () => {
  const time = new QuietTime()
  time.look(10_000, false)
  time.look(4000, false)
  expect(time.quietMs).toBe(0)
})

test('what was told is counted anew, and a pause that the fleet ended is no rhythm', () => {
  const time = new QuietTime()
  const at = looks(time, [true, false, false, false])
  time.told()
  expect([time.quietMs, time.watchedMs]).toEqual([0, 0])
  looks(time, [false, true], at)
  expect([time.quietMs, time.longestMs]).toEqual([0, 0])
})
