import { expect, test } from 'vitest'
import { sparesFor, toEvict } from './warm.ts'

const NOW = '2026-01-10T00:00:00.000Z'
const idle = (name: string, since: string, bytes: number) => ({ name, since: `2026-01-${since}T00:00:00.000Z`, bytes })
const names = (found: { name: string }[]) => found.map(({ name }) => name)
const ROOM = { budget: 100, free: 1000, keepFree: 10 }

test('what fits stays', () => {
  expect(toEvict([idle('a', '08', 60), idle('b', '09', 40)], ROOM, NOW)).toEqual([])
})

test('the longest unused go first, and no more than needed', () => {
  const all = [idle('new', '09', 60), idle('old', '05', 30), idle('older', '04', 30)]
  expect(names(toEvict(all, ROOM, NOW))).toEqual(['older'])
  expect(names(toEvict(all, { ...ROOM, budget: 70 }, NOW))).toEqual(['older', 'old'])
})

test('a disk that is nearly full takes them all, if it needs that much', () => {
  const all = [idle('a', '08', 60), idle('b', '09', 40)]
  expect(names(toEvict(all, { ...ROOM, free: 0, keepFree: 50 }, NOW))).toEqual(['a'])
  expect(names(toEvict(all, { ...ROOM, free: 0, keepFree: 500 }, NOW))).toEqual(['a', 'b'])
})

test('after a week nobody waits for it any more', () => {
  expect(names(toEvict([idle('a', '02', 1), idle('b', '09', 1)], ROOM, NOW))).toEqual(['a'])
})

test('one waits for one or two in use, and one more for every two', () => {
  expect([0, 1, 2, 3, 4, 5].map(sparesFor)).toEqual([1, 1, 1, 2, 2, 3])
})
