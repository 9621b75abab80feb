import { expect, test } from 'vitest'
import { placeAfter, suggestionIn, withLines, withoutSuggestion } from './suggestions.ts'

const block = (code: string, fence = '```') => `${fence}suggestion\n${code}${fence}`

test.each([
  [`Better so:\n\n${block('const a = 1\nconst b = 2\n')}\n\nThanks`, ['const a = 1', 'const b = 2']],
  [block('a\n').replaceAll('\n', '\r\n'), ['a']],
  [block('\n'), ['']],
  [block(''), []],
  [block('```js\nx\n```\n', '````'), ['```js', 'x', '```']],
])('a suggestion is the block of a comment: %j', (body, lines) => {
  expect(suggestionIn(body)).toEqual(lines)
})

test.each(['no block', '```ts\nx\n```', '```suggestion\nnever closed', `${block('a\n')}\n${block('b\n')}`])(
  'this suggests nothing that could be applied: %j',
  body => expect(suggestionIn(body)).toBeUndefined(),
)

const FILE = 'one\ntwo\nthree\n'
test.each([
  [FILE, 2, 2, ['2'], 'one\n2\nthree\n'],
  [FILE, 1, 2, ['1', '1b', '2'], '1\n1b\n2\nthree\n'],
  [FILE, 3, 3, [], 'one\ntwo\n'],
  [FILE, 1, 3, [], ''],
  ['one\ntwo', 2, 2, ['2'], 'one\n2'],
  ['one\ntwo', 2, 2, [], 'one\n'],
  ['one\r\ntwo', 2, 2, ['2', '2b'], 'one\r\n2\r\n2b'],
  ['one\r\ntwo', 2, 2, [], 'one\r\n'],
  ['one\r\ntwo', 1, 2, ['1'], '1'],
  ['one\r\ntwo\nthree', 3, 3, ['3', '3b'], 'one\r\ntwo\n3\n3b'],
  ['one\r\ntwo\r\n', 1, 1, ['1', '1b'], '1\r\n1b\r\ntwo\r\n'],
  [FILE, 3, 4, ['x'], undefined],
  [FILE, 0, 1, ['x'], undefined],
])('lines %j of %j-%j become %j', (text, first, last, lines, after) => {
  expect(withLines(text, { path: 'a', first, last }, lines)).toBe(after)
})

test.each([
  [{ path: 'b', line: 4, start_line: null }, { line: 4 }],
  [
    { path: 'a', line: 3, start_line: 2 },
    { line: 3, start_line: 2 },
  ],
  [
    { path: 'a', line: 9, start_line: 7 },
    { line: 10, start_line: 8 },
  ],
  [{ path: 'a', line: 6, start_line: 5 }, undefined],
  [{ path: 'a', line: 4, start_line: null }, undefined],
  [{ path: 'a', line: null, start_line: null }, { line: null }],
])('after lines 4 and 5 became three, the comment on %j is at %j', (comment, after) => {
  const moved = placeAfter({ side: 'new', ...comment }, { path: 'a', first: 4, last: 5 }, 3)
  if (after) expect(moved).toMatchObject(after)
  else expect(moved).toBeUndefined()
})

test('what a comment says beside its suggestion', () => {
  expect(withoutSuggestion(`Better so:\n\n${block('a\n')}\n\nThanks`)).toBe('Better so:\n\n\n\nThanks')
})
