import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { SecondLook } from './second-look.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

test('many faults are one look, which is tried again until it succeeds, at a pace that slows down', async () => {
  const looks: number[] = []
  const start = performance.now()
  const second = new SecondLook(async () => {
    looks.push(performance.now() - start)
    if (looks.length < 6) throw new Error(`fault ${looks.length}`)
  })
  for (let i = 0; i < 100; i++) second.ask()
  await vi.advanceTimersByTimeAsync(600_000)
  expect(looks.map(ms => ms / 1000)).toEqual([5, 15, 35, 75, 135, 195])

  second.ask()
  await vi.advanceTimersByTimeAsync(5000)
  expect(looks).toHaveLength(7)
})

test('one that was stopped looks no more', async () => {
  const look = vi.fn(async () => {})
  const second = new SecondLook(look)
  second.ask()
  second.stop()
  second.ask()
  await vi.advanceTimersByTimeAsync(600_000)
  expect(look).not.toHaveBeenCalled()
})
