import { expect, test } from 'vitest'
import { believable, fullWindow, mergeWindows } from './windows.ts'

const at = (hour: number, second = 0) => `2026-11-15T${hour}:00:${String(second).padStart(2, '0')}.000Z`
const known = (used_percent: number, resets_at: string | null) => [{ name: 'five_hour', used_percent, resets_at }]
const told = (usedPercent: number, resetsAt: string | null) => ({ five_hour: { usedPercent, resetsAt } })

test('a window only fills until it ends; what is read again after a restart changes nothing', () => {
  expect(mergeWindows([], told(50, at(12)))).toEqual(known(50, at(12)))
  expect(mergeWindows(known(50, at(12)), told(60, at(12, 30)))).toEqual(known(60, at(12, 30)))
  const full = known(97, at(12))
  expect(mergeWindows(full, told(60, at(12)))).toBe(full)
  expect(mergeWindows(full, told(99, at(10)))).toBe(full)
  expect(mergeWindows(full, told(3, at(17)))).toEqual(known(3, at(17)))
  expect(mergeWindows(full, { seven_day: { usedPercent: 5, resetsAt: null } })).toHaveLength(2)
})

test('a window with an impossible end is not believed', () => {
  expect(believable(told(100, '9998-01-01T00:00:00.000Z'), at(12))).toEqual({})
  expect(believable(told(100, '2026-99-99'), at(12))).toEqual({})
  for (const time of [null, at(17)]) expect(believable(told(100, time), at(12))).toEqual(told(100, time))
})

test('a provider is held from the limit on, until its window is reset', () => {
  const provider = (used: number) => ({
    ...{ id: 'anthropic', held_until: null, reason: '', windows: known(used, at(12)), updated_at: at(10) },
  })
  expect(fullWindow(provider(94), 95, at(11))).toBeNull()
  expect(fullWindow(provider(95), 95, at(11))).toMatchObject({
    kind: 'provider_window',
    until: at(12),
    text: expect.stringContaining('95 % of the window five_hour of anthropic'),
  })
  expect(fullWindow(provider(100), 95, at(12, 1))).toBeNull()
})
