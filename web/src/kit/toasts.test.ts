import { afterEach, beforeEach, expect, test, vi } from 'vitest'

const leaving: (() => void)[] = []

beforeEach(() => {
  vi.useFakeTimers()
  vi.stubGlobal('addEventListener', (_: string, leave: () => void) => leaving.push(leave))
  vi.doMock('virtual:operations', () => ({ default: {} }))
})

afterEach(() => {
  vi.useRealTimers()
  vi.unstubAllGlobals()
})

test('what was asked for is done in time, also when other messages push its own away or nobody looks', async () => {
  const { afterAMoment, tell } = await import('./toasts.tsx')
  const done: string[] = []
  afterAMoment('first', () => done.push('first'))
  for (const text of ['a', 'b', 'c', 'd']) tell({ text })
  expect(done).toEqual(['first'])
  // No toast is shown in this test, so none ends by itself.
  afterAMoment('second', () => done.push('second'))
  vi.advanceTimersByTime(30_000)
  expect(done).toEqual(['first', 'second'])
  afterAMoment('third', () => done.push('third'))
  for (const leave of leaving) leave()
  vi.advanceTimersByTime(30_000)
  expect(done).toEqual(['first', 'second', 'third'])
})
