import { expect, test } from 'vitest'
import { blockOf, fileAt, HEIGHTS, heightAt, held, layoutOf, resized, rowAt, subjectOf } from './layout.ts'
import { type FileDiff, type Line, parseDiff } from './parse.ts'
import { type Listed, type PlacedComment, plainRows, type Row, withComments } from './rows.ts'

const listedAs = (path: string): Listed => ({ path, change: 'added', added: 100, deleted: 0 })
const FILES = ['a', 'b', 'c'].map(listedAs)
const LINES = Array.from({ length: 100 }, (_, index) => `+line ${index + 1}\n`).join('')
const diffOf = (path: string): FileDiff =>
  parseDiff(
    `diff --git a/${path} b/${path}\nnew file mode 100644\n--- /dev/null\n+++ b/${path}\n@@ -0,0 +1,100 @@\n${LINES}`,
  )[0]!
const DIFFS = new Map(FILES.map(({ path }) => [path, diffOf(path)]))
const rowsOf = (listed: Listed, folded = false): Row<never>[] =>
  plainRows({ listed, diff: DIFFS.get(listed.path), total: undefined, folded, view: 'unified' })
const FILE_PX = HEIGHTS.file + 100 * HEIGHTS.line + HEIGHTS.end

const nothingKnown = new WeakMap<object, number>()
const blocks = FILES.map(listed => blockOf<PlacedComment>(rowsOf(listed), nothingKnown))
const layout = layoutOf(blocks)
const replaced = (at: number, rows: readonly Row[]) => layoutOf(blocks.with(at, blockOf(rows, nothingKnown)))
const lineAt = (all: typeof layout, offset: number): Line => {
  const file = fileAt(all, offset)
  return subjectOf(all.blocks[file]!.rows[rowAt(all.blocks[file]!, offset - all.tops[file]!)]!) as Line
}

test('files are found by their heights, and rows by theirs', () => {
  expect(layout.tops).toEqual([0, FILE_PX, 2 * FILE_PX, 3 * FILE_PX])
  expect([-50, 0, FILE_PX - 1, FILE_PX, 3 * FILE_PX + 50].map(offset => fileAt(layout, offset))).toEqual([
    0, 0, 0, 1, 2,
  ])
  expect([-50, 0, 40, 41, 60, 61, FILE_PX + 50].map(offset => rowAt(blocks[0]!, offset))).toEqual([
    0, 0, 0, 1, 1, 2, 101,
  ])
  expect(fileAt(layoutOf([]), 10)).toBe(0)
})

test('a measured row moves those below it, and keeps its height when rows are rebuilt', () => {
  const grown = resized(
    blocks[0]!,
    new Map([
      [1, 60],
      [3, 40],
    ]),
  )
  expect([1, 2, 3, 4].map(row => heightAt(grown, row))).toEqual([60, 20, 40, 20])
  expect(grown.starts.at(-1)).toBe(FILE_PX + 60)
  expect(blocks[0]!.starts.at(-1)).toBe(FILE_PX)
  const known = new WeakMap([[subjectOf(grown.rows[1]!), 60]])
  expect(heightAt(blockOf(rowsOf(FILES[0]!), known), 1)).toBe(60)
})

test('what is seen stays where it is when something above it comes, goes or grows', () => {
  const offset = FILE_PX + HEIGHTS.file + 50 * HEIGHTS.line + 7
  const seen = lineAt(layout, offset)
  const written = { path: 'b', side: 'new', line: 3 } as const
  const others = [
    replaced(0, rowsOf(FILES[0]!, true)),
    replaced(1, withComments(rowsOf(FILES[1]!), [{ id: '1', side: 'new', line: 9 }], written)),
    layoutOf(blocks.with(1, resized(blocks[1]!, new Map([[4, 300]])))),
    layoutOf(blocks.slice(1)),
  ]
  for (const after of others) {
    const now = held(layout, after, offset)
    expect(now).not.toBe(offset)
    expect(lineAt(after, now)).toBe(seen)
  }
  expect(held(layout, replaced(2, rowsOf(FILES[2]!, true)), offset)).toBe(offset)
})

test('folding a file keeps its header visible, and the part above all files never moves', () => {
  const folded = replaced(1, rowsOf(FILES[1]!, true))
  expect(held(layout, folded, FILE_PX + 1500)).toBe(FILE_PX)
  expect(held(layout, replaced(0, rowsOf(FILES[0]!, true)), -20)).toBe(-20)
})
