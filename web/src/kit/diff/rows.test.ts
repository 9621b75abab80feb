import { expect, test } from 'vitest'
import { compareTexts } from './compare.ts'
import { expanded, hiddenBefore } from './expand.ts'
import { type FileDiff, type Hunk, parseDiff } from './parse.ts'
import { type Listed, type Row, rowsOf } from './rows.ts'

const numbers = Array.from({ length: 200 }, (_, index) => `line ${index + 1}`)
const changed = numbers.with(49, 'fifty').toSpliced(149, 1)
const listed: Listed = { path: 'a.txt', change: 'modified', added: 1, deleted: 2 }
const diffOf = (hunks: Hunk[]): FileDiff => ({
  path: 'a.txt',
  from: null,
  change: 'modified',
  oldMode: null,
  newMode: null,
  binary: false,
  hunks,
  additions: 1,
  deletions: 2,
})
const HUNKS = compareTexts(numbers.join('\n'), changed.join('\n'))
const shown = {
  listed,
  diff: diffOf(HUNKS),
  total: undefined,
  folded: false,
  view: 'unified',
  comments: [],
  writing: undefined,
} as const
const kinds = (rows: readonly Row[]) => rows.map(row => (row.kind === 'gap' ? `gap ${row.hidden}` : row.kind))

test('a file is its head, its hunks, and what is hidden between them', () => {
  const rows = rowsOf(shown)
  expect(kinds(rows)).toEqual([
    'file',
    'gap 46',
    ...Array(8).fill('line'),
    'gap 93',
    ...Array(7).fill('line'),
    'gap undefined',
    'end',
  ])
  expect(new Set(rows.map(row => row.key)).size).toBe(rows.length)
  expect(kinds(rowsOf({ ...shown, folded: true }))).toEqual(['file', 'end'])
  expect(kinds(rowsOf({ ...shown, diff: undefined }))).toEqual(['file', 'unread', 'end'])
  expect(kinds(rowsOf({ ...shown, total: 199 })).at(-2)).toBe('gap 47')
})

test('side by side what changed stands on one line', () => {
  const rows = rowsOf({ ...shown, view: 'split' })
  expect(rows.filter(row => row.kind === 'pair')).toHaveLength(14)
  expect(new Set(rows.map(row => row.key)).size).toBe(rows.length)
})

test('a comment is below its line, on the side it is about; one whose line is not shown comes last', () => {
  const comments = [
    { id: 'new', side: 'new', line: 50 },
    { id: 'old', side: 'old', line: 50 },
    { id: 'far', side: 'new', line: 120 },
    { id: 'file', side: 'new', line: null },
  ] as const
  for (const view of ['unified', 'split'] as const) {
    const rows = rowsOf({ ...shown, view, comments, writing: { path: 'a.txt', side: 'new', line: 50 } })
    const at = (id: string) => rows.findIndex(row => row.kind === 'comment' && row.comment.id === id)
    const above = (id: string) => rows.slice(0, at(id)).findLast(row => row.kind === 'line' || row.kind === 'pair')
    const lineOf = (row: Row | undefined) =>
      row?.kind === 'line' ? row.line : row?.kind === 'pair' ? row.pair.right : undefined
    expect(lineOf(above('new'))?.text).toBe('fifty')
    if (view === 'unified') expect(lineOf(above('old'))?.text).toBe('line 50')
    expect(rows.slice(-3, -1).map(row => row.kind === 'comment' && row.comment.id)).toEqual(['far', 'file'])
    expect(rows.filter(row => row.kind === 'writing')).toHaveLength(1)
  }
})

test('what is neither text nor change of text is told in words', () => {
  const told = (text: string) =>
    rowsOf({ ...shown, diff: parseDiff(text)[0]! }).flatMap(row => (row.kind === 'note' ? [row.text] : []))
  expect(told('diff --git a/x b/y\nsimilarity index 100%\nrename from x\nrename to y\n')).toEqual(['Renamed from x'])
  expect(told('diff --git a/x b/x\nold mode 100644\nnew mode 100755\n')[0]).toContain('now executable')
  expect(told('diff --git a/x b/x\nindex 1..2 100644\nBinary files a/x and b/x differ\n')[0]).toContain('Not text')
})

test('what is hidden comes twenty lines at a time from both ends, with the numbers of both sides, until hunks meet', () => {
  let hunks = expanded(HUNKS, 1, changed)
  expect(hiddenBefore(hunks, 1)).toBe(53)
  expect(hunks).toHaveLength(2)
  hunks = expanded(hunks, 1, changed)
  expect(hiddenBefore(hunks, 1)).toBe(13)
  hunks = expanded(hunks, 1, changed)
  expect(hunks).toHaveLength(1)
  hunks = expanded(expanded(expanded(hunks, 0, changed), 0, changed), 0, changed)
  expect(hiddenBefore(hunks, 0)).toBe(0)
  hunks = expanded(expanded(expanded(hunks, 1, changed), 1, changed), 1, changed)
  expect(hiddenBefore(hunks, 1, changed.length)).toBe(0)
  const side = (name: 'old' | 'new') => hunks[0]!.lines.filter(line => line[name] !== null)
  expect(side('new').map(line => line.text)).toEqual(changed)
  expect(side('old').map(line => line.text)).toEqual(numbers)
  expect(side('new').map(line => line.new)).toEqual(changed.map((_, index) => index + 1))
  expect(side('old').map(line => line.old)).toEqual(numbers.map((_, index) => index + 1))
})
