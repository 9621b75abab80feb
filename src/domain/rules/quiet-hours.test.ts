import { expect, test } from 'vitest'
import { quietUntil } from './quiet-hours.ts'

const night = { from: '22:00', to: '07:00', time_zone: 'Europe/Berlin' }

test.each([
  // In winter Berlin is one hour ahead.
  ['2026-01-10T20:59:59.000Z', undefined],
  ['2026-01-10T21:00:00.000Z', '2026-01-11T06:00:00.000Z'],
  ['2026-01-11T05:59:30.000Z', '2026-01-11T06:00:30.000Z'],
  ['2026-01-11T06:00:00.000Z', undefined],
  // The clocks go forward at 02:00, and back at 03:00: the night is an hour shorter, or longer.
  ['2026-03-28T22:00:00.000Z', '2026-03-29T05:00:00.000Z'],
  ['2026-10-24T21:00:00.000Z', '2026-10-25T06:00:00.000Z'],
])('a night in Berlin at %s', (now, until) => {
  expect(quietUntil(night, now)).toBe(until)
})

test('hours within a day, and none at all', () => {
  const noon = { from: '12:00', to: '13:30', time_zone: 'UTC' }
  expect(quietUntil(noon, '2026-01-10T12:10:00.000Z')).toBe('2026-01-10T13:30:00.000Z')
  expect(quietUntil(noon, '2026-01-10T13:30:00.000Z')).toBeUndefined()
  expect(quietUntil({ ...noon, to: '12:00' }, '2026-01-10T12:00:00.000Z')).toBeUndefined()
  expect(quietUntil(null, '2026-01-10T12:10:00.000Z')).toBeUndefined()
})
