import { expect, test } from 'vitest'
import { conflictInWords, disputedIn, partsOf, settledText } from './conflict-parts.ts'

const SIZE = 9
const [BEGIN, MIDDLE, END] = [`${'<'.repeat(SIZE)} base`, '='.repeat(SIZE), `${'>'.repeat(SIZE)} work`]
const merged = ['top', BEGIN, 'ours', MIDDLE, 'theirs', 'more', END, 'middle', BEGIN, MIDDLE, 'new', END, 'end', '']

test('a merged file is its settled text and the places in conflict, in order', () => {
  const parts = partsOf(merged.join('\n'), SIZE)
  expect(parts).toEqual([
    'top\n',
    { base: 'ours\n', work: 'theirs\nmore\n' },
    'middle\n',
    { base: '', work: 'new\n' },
    'end\n',
  ])
  expect(disputedIn(parts)).toHaveLength(2)
})

test('markers of another length are text of the file', () => {
  const text = `<<<<<<< base\na\n=======\nb\n>>>>>>> work\n`
  expect(partsOf(text, SIZE)).toEqual([text])
})

test.each([
  [['base', 'work'], 'top\nours\nmiddle\nnew\nend\n'],
  [['both', 'base'], 'top\nours\ntheirs\nmore\nmiddle\nend\n'],
  [[{ text: 'a\nb' }, { text: '' }], 'top\na\nb\nmiddle\nend\n'],
] as const)('a decision for each place makes the file: %j', (decisions, text) => {
  expect(settledText(partsOf(merged.join('\n'), SIZE), decisions)).toBe(text)
})

test('a text of a person gets the line ends of the file, and is written as UTF-8', () => {
  const parts = partsOf(merged.join('\r\n'), SIZE)
  const text = settledText(parts, [{ text: 'é\nb\n' }, 'work'])
  expect(Buffer.from(text, 'latin1').toString('utf8')).toBe('top\r\né\r\nb\r\nmiddle\r\nnew\r\nend\r\n')
})

test.each([
  ['both', 'top\nours\ntheirs'],
  [{ text: 'a\nb' }, 'top\na\nb'],
  [{ text: '' }, 'top\n'],
] as const)('a last place without an end of line, settled by %j', (decision, text) => {
  expect(settledText(['top\n', { base: 'ours', work: 'theirs' }], [decision])).toBe(text)
  const windows = text.replaceAll('\n', '\r\n')
  expect(settledText(['top\r\n', { base: 'ours', work: 'theirs' }], [decision])).toBe(windows)
})

test('one side of a last place may have no lines', () => {
  expect(settledText(['top\n', { base: '', work: 'theirs' }], ['both'])).toBe('top\ntheirs')
  expect(settledText(['top\n', { base: 'ours', work: '' }], ['both'])).toBe('top\nours')
})

test.each([
  [{ base: 'file', work: 'file', text: true }, 'Both sides changed the same lines.'],
  [{ base: 'file', work: 'file', text: false }, 'It is not text'],
  [{ base: 'deleted', work: 'file', text: false }, 'main deleted or renamed this file; this work changed it.'],
  [{ base: 'file', work: 'deleted', text: false }, 'This work deleted or renamed the file; main changed it.'],
  [{ base: 'link', work: 'file', text: false }, 'It is a link on main and a file in this work.'],
  [{ base: 'submodule', work: 'submodule', text: false }, 'Both sides moved this submodule'],
] as const)('why a file is in conflict is said in words: %j', (sides, words) => {
  expect(conflictInWords(sides, 'main')).toContain(words)
})
