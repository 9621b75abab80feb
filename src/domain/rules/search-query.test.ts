import { expect, test } from 'vitest'
import { searchQuery } from './search-query.ts'

test('every word is required, as the beginning of a word; quotation marks ask for the exact words', () => {
  expect(searchQuery('fix login')).toBe('"fix"* AND "login"*')
  expect(searchQuery('"rate limit" a src/app.ts')).toBe('"rate limit" AND "a" AND "src/app.ts"*')
})

test('what is syntax for the index is only text here', () => {
  expect(searchQuery('title:x NEAR(a b) OR c*')).toBe('"title:x"* AND "NEAR(a"* AND "b)"* AND "OR"* AND "c*"*')
  expect(searchQuery('half "a quote')).toBe('"half"* AND "a" AND "quote"*')
})

test('without a word there is nothing to look for', () => {
  for (const text of ['', '  ', '"', '""', '*', '-- ; ()', '\0']) expect(searchQuery(text)).toBeNull()
})
