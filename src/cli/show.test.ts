import { expect, test } from 'vitest'
import { age, named } from './show.ts'

const NOW = Date.parse('2026-05-04T12:00:00Z')

test.each([
  [0, '0s'],
  [59, '59s'],
  [75, '1m'],
  [3 * 3600 + 59 * 60, '3h'],
  [50 * 3600, '2d'],
])('%i seconds are an age of %s', (seconds, shown) =>
  expect(age(new Date(NOW - seconds * 1000).toISOString(), NOW)).toBe(shown),
)

test('what has no time has no age', () => expect(age(null, NOW)).toBe(''))

test('a title is in quotes, and may have quotes of its own', () => {
  expect(named({ id: 'abcdefghijkl', title: 'Sweep the deck' })).toBe('abcdef "Sweep the deck"')
  expect(named({ id: 'abcdefghijkl', title: 'echo "clean" > deck' })).toBe('abcdef “echo "clean" > deck”')
})
