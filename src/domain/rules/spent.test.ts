import { expect, test } from 'vitest'
import { spentInWords, withoutSpent } from './spent.ts'

test.each([
  [1.1, 'spent', ': $1.10 spent, $0.1000 over.'],
  [1, 'spent', ': $1.00 spent.'],
  [0.5, 'used today', ': $0.5000 used today.'],
  [12.5, 'used today', ': $12.50 used today, $11.50 over.'],
] as const)('%d %s', (usd, how, words) => {
  expect(spentInWords(usd, 1, how)).toBe(words)
  // Whoever may not see costs reads the same sentence without them.
  expect(withoutSpent(`It reached its budget of $1${words} Raise it.`)).toBe('It reached its budget of $1. Raise it.')
})

test('other words stay', () => {
  for (const text of ['', 'I paid: $5 spent well', 'Cost $3.', 'x: $1.10 spent']) expect(withoutSpent(text)).toBe(text)
})
