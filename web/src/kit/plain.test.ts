import { expect, test } from 'vitest'
import { cutTo, plain, safeLink } from './plain.ts'

test('nothing in a text of others acts, hides or reorders', () => {
  expect(plain('\x1b[31mred\x1b[0m and \x1b]0;title\x07done')).toBe('red and done')
  expect(plain('user \u202etxt.exe\u202c')).toBe('user ‹U+202E›txt.exe‹U+202C›')
  expect(plain('zero\u200bwidth\ufeff')).toBe('zero‹U+200B›width‹U+FEFF›')
  expect(plain('bell\x07 null\x00')).toBe('bell␇ null␀')
  expect(plain('10%\r20%\r\nnext\n')).toBe('10%\n20%\nnext\n')
  expect(plain('<script>alert(1)</script>')).toBe('<script>alert(1)</script>')
})

test('what people write stays as they wrote it', () => {
  for (const text of ['naïve – „Straße“ 日本語\ttab', 'family 👨‍👩‍👧 flag 🏳️‍🌈', 'می‌خواهم', '🚀'])
    expect(plain(text)).toBe(text)
})

test('a long text is cut at a line where there is one, and never within a character', () => {
  expect(cutTo('a\nb\nc\nd', { lines: 2, chars: 100 })).toEqual({ text: 'a\nb', missing: 4 })
  expect(cutTo('a\nb', { lines: 2, chars: 100 })).toEqual({ text: 'a\nb', missing: 0 })
  expect(cutTo('x'.repeat(1_000_000), { lines: 10, chars: 50 })).toMatchObject({ missing: 999_950 })
  expect(cutTo('ab🚀', { lines: 1, chars: 3 })).toEqual({ text: 'ab', missing: 2 })
})

test('links lead to the web and nowhere else', () => {
  expect(safeLink('https://example.org/a?b')).toBe('https://example.org/a?b')
  for (const bad of ['javascript:alert(1)', 'data:text/html,x', '/api/missions', 'vbscript:x', '', null, undefined])
    expect(safeLink(bad)).toBeUndefined()
})
