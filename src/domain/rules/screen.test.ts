import { expect, test } from 'vitest'
import { isSameScreen, linesOf, type Screen, shows, typeable } from './screen.ts'

const screen = (lines: string[], x = 0): Screen => ({ lines, bright: lines, cursor: { x, y: 0 }, scrolled: false })

test('what is faint is told apart from what is written', () => {
  const { lines, bright } = linesOf('\x1b[1m›\x1b[0m\x1b[39m \x1b[2mAsk anything\x1b[22m!\nplain\n')
  expect(lines).toEqual(['› Ask anything!', 'plain'])
  expect(bright).toEqual(['›             !', 'plain'])
})

test('a colour is not taken for faint', () => {
  expect(linesOf('\x1b[38;2;2;2;2mred\x1b[48;5;2mback').bright).toEqual(['redback'])
})

test('links and other sequences leave only their text', () => {
  expect(linesOf('\x1b]8;;http://a/\x1b\\name\x1b]8;;\x1b\\ \x1b(B.').lines).toEqual(['name .'])
})

test('a text is found although the client broke its lines and put bars beside them', () => {
  expect(shows(screen(['┃ You have mail: mes', '┃ sage 1 from ada.']), 'You have mail: message 1 from ada.')).toBe(true)
  expect(shows(screen(['❯ You have']), 'You have mail')).toBe(false)
})

test.each([
  ['a\x1b[31mb', 'a [31mb'],
  ['one\ntwo\r\n\tthree', 'one two three'],
  ['\u202eevil\u200b\u2028x', 'evil x'],
  ['\x03\x04\x1b[201~rm -rf', '[201~rm -rf'],
  ['\ud800', '\ufffd'],
])('%j is typed as %j', (text, typed) => {
  expect(typeable(text)).toBe(typed)
})

test('a cursor that moved is another screen', () => {
  expect(isSameScreen(screen(['a']), screen(['a']))).toBe(true)
  expect(isSameScreen(screen(['a']), screen(['a'], 1))).toBe(false)
  expect(isSameScreen(screen(['a']), screen(['b']))).toBe(false)
})
