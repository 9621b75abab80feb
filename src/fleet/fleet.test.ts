import { expect, test, vi } from 'vitest'
import { Conflict } from '../store/index.ts'
import { pauseAfterConflict, retryOnConflict } from './fleet.ts'

test('the pause after a conflict is a random part of a time that doubles up to a limit', () => {
  const longest = (tries: number) => pauseAfterConflict(tries, () => 1)
  expect([1, 2, 3, 4, 5, 6, 7, 50].map(longest)).toEqual([1, 2, 4, 8, 16, 32, 50, 50])
  expect(pauseAfterConflict(7, () => 0)).toBe(0)
  expect(pauseAfterConflict(7, () => 0.5)).toBe(25)
})

test('each retry draws a pause of its own, and the last conflict is thrown', async () => {
  const random = vi.fn(() => 0)
  const attempt = vi.fn(async () => {
    throw new Conflict('missions', 'a')
  })
  await expect(retryOnConflict(attempt, random)).rejects.toBeInstanceOf(Conflict)
  expect(attempt).toHaveBeenCalledTimes(50)
  expect(random).toHaveBeenCalledTimes(49)
})

test('an error that is no conflict is not tried again', async () => {
  const attempt = vi.fn(async () => {
    throw new Error('no')
  })
  await expect(retryOnConflict(attempt)).rejects.toThrow('no')
  expect(attempt).toHaveBeenCalledTimes(1)
})
