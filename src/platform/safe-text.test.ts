import { expect, test } from 'vitest'
import { cut, safe, safeLine, widthOf } from './safe-text.ts'

test('sequences that would act on a terminal are gone, the words stay', () => {
  expect(safe('\x1b[31mred\x1b[0m')).toBe('red')
  expect(safe('a\x1b]0;a title\x07b')).toBe('ab')
  expect(safe('a\x1b]52;c;c2VjcmV0\x1b\\b')).toBe('ab')
  expect(safe('\x1b[2J\x1b[Hgone')).toBe('gone')
  expect(safe('\x9b31mred')).toBe('red')
  expect(safe('an unfinished \x1b]0;title')).toBe('an unfinished ')
})

test('what is left of control characters is shown, not sent', () => {
  expect(safe('a\x07b\x08c\x1bd'.replace('\x1bd', '\x1b'))).toBe('a␇b␈c␛')
  expect(safe('over\rwrite')).toBe('over␍write')
  expect(safe('del\x7f')).toBe('del␡')
  expect(safe('\u202eevil\u2066')).toBe('�evil�')
})

test('lines and tabs stay; on a single line they do not', () => {
  expect(safe('a\r\n\tb\n')).toBe('a\n\tb\n')
  expect(safeLine('a title\n with a second line\tand a tab')).toBe('a title ⏎ with a second line and a tab')
})

test('width is counted in columns', () => {
  expect(widthOf('plain')).toBe(5)
  expect(widthOf('日本')).toBe(4)
  expect(widthOf('e\u0301')).toBe(1)
  expect(widthOf('🚢')).toBe(2)
})

test('cut says that something is missing', () => {
  expect(cut('short', 5)).toBe('short')
  expect(cut('longer', 5)).toBe('long…')
  expect(widthOf(cut('日本語の文', 6))).toBeLessThanOrEqual(6)
})
