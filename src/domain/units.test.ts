import { expect, test } from 'vitest'
import { amountOf, inUnits, measureOf, readUnits, UNITS, type Unit } from './units.ts'

test.each<[number, Unit, string]>([
  [512e6, 'bytes', '512 MB'],
  [20e9, 'bytes', '20 GB'],
  [536_870_912, 'bytes', '536870912 B'],
  [900, 'seconds', '15 min'],
  [5400, 'seconds', '90 min'],
  [7200, 'seconds', '2 h'],
  [86_400, 'seconds', '1 day'],
  [5, 'seconds', '5 s'],
  [1, 'seconds', '1 s'],
  [0, 'seconds', '0 s'],
  [1.5, 'hours', '90 min'],
  [0.33, 'hours', '0.33 h'],
  [0.002, 'gigabytes', '2 MB'],
  [14, 'days', '2 weeks'],
  [95, 'percent', '95%'],
  [20, 'dollars per day', '$20 per day'],
])('%d %s are %s, and read back as the same', (value, unit, text) => {
  expect(inUnits(value, unit)).toBe(text)
  expect(readUnits(text, unit)).toBe(value)
  expect(measureOf(amountOf(value, unit), unit)).toBe(value)
})

test.each<[string, Unit, number | undefined]>([
  ['900', 'seconds', 900],
  ['15min', 'seconds', 900],
  ['15 MIN', 'seconds', 900],
  ['1 day', 'seconds', 86_400],
  ['0.5 GB', 'bytes', 5e8],
  ['$12.50', 'dollars per day', 12.5],
  ['15 min', 'bytes', undefined],
  ['$5', 'seconds', undefined],
  ['-5 min', 'seconds', undefined],
  ['many', 'seconds', undefined],
  ['', 'seconds', undefined],
  ['1e3', 'seconds', undefined],
])('%j as %s is %s', (text, unit, value) => expect(readUnits(text, unit)).toBe(value))

test('every unit has itself among its sizes', () => {
  for (const sizes of Object.values(UNITS)) expect(Object.values(sizes)).toContain(1)
})
