import { expect, test } from 'vitest'
import { spoken } from './spoken.ts'

test.each([
  ['Deep ships get deep berths.', 'Deep ships get deep berths.'],
  ['{"summary":"A plan.","missions":[{"title":"Dig","estimate_usd":0.4}]}', 'A plan.\nDig'],
  [' ["one", 2, null, {"three": ["four"]}] ', 'one\nfour'],
  ['{ not JSON }', '{ not JSON }'],
  ['[x] done', '[x] done'],
])('%s', (text, words) => expect(spoken(text)).toBe(words))

test('what is nested too deeply stays as it is', () => {
  const deep = '['.repeat(90_000) + ']'.repeat(90_000)
  expect(spoken(deep)).toBe(deep)
})
