import type { Listed, PlacedRemark, Row } from './rows.ts'

/** How high each row is, as long as nobody has measured it. */
export const HEIGHTS: Record<Row['kind'], number> = {
  file: 41,
  unread: 120,
  note: 32,
  gap: 28,
  line: 20,
  pair: 20,
  remark: 96,
  writing: 168,
  end: 14,
}

/** The rows of one file. */
export interface Block<R extends PlacedRemark = PlacedRemark> {
  listed: Listed
  rows: readonly Row<R>[]
  /** Where each row begins within the file, and at last where the file ends. */
  starts: Float64Array
}

/** All files, one below the other. What it costs to make goes by the number of files, not of their lines. */
export interface Layout<R extends PlacedRemark = PlacedRemark> {
  blocks: readonly Block<R>[]
  /** Where each file begins, and at last where all end. */
  tops: readonly number[]
}

/** What was measured, by what it is the height of. */
export type Heights = WeakMap<object, number>

/** What a row shows: the same thing has the same height in another row. */
export function subjectOf(row: Row): object {
  if (row.kind === 'line') return row.line
  if (row.kind === 'pair') return (row.pair.right ?? row.pair.left)!
  if (row.kind === 'remark') return row.remark
  return row.kind === 'writing' ? row.place : row
}

export function blockOf<R extends PlacedRemark>(rows: readonly Row<R>[], heights: Heights): Block<R> {
  const starts = new Float64Array(rows.length + 1)
  for (let at = 0; at < rows.length; at++) {
    const row = rows[at]!
    starts[at + 1] = starts[at]! + (heights.get(subjectOf(row)) ?? HEIGHTS[row.kind])
  }
  return { listed: rows[0]!.listed, rows, starts }
}

/** The same with other heights for some of its rows. */
export function resized<R extends PlacedRemark>(block: Block<R>, heights: ReadonlyMap<number, number>): Block<R> {
  const starts = block.starts.slice()
  const first = Math.min(...heights.keys())
  let grown = 0
  for (let at = first; at < block.rows.length; at++) {
    const height = heights.get(at)
    if (height !== undefined) grown += height - heightAt(block, at)
    starts[at + 1]! += grown
  }
  return { ...block, starts }
}

export function layoutOf<R extends PlacedRemark>(blocks: readonly Block<R>[]): Layout<R> {
  const tops = [0]
  for (const [at, { starts }] of blocks.entries()) tops.push(tops[at]! + starts.at(-1)!)
  return { blocks, tops }
}

export const heightAt = ({ starts }: Block, row: number): number => starts[row + 1]! - starts[row]!

/** Which file is at this height; the first one above all, the last one below. */
export const fileAt = ({ tops }: Layout, offset: number): number => partAt(tops, offset)

/** Which row is at this height of its file. */
export const rowAt = ({ starts }: Block, offset: number): number => partAt(starts, offset)

function partAt(starts: ArrayLike<number>, offset: number): number {
  let [low, high] = [0, Math.max(0, starts.length - 2)]
  while (low < high) {
    const middle = Math.ceil((low + high) / 2)
    if (starts[middle]! <= offset) low = middle
    else high = middle - 1
  }
  return low
}

/** Where to look after rows came, went or grew, so that what is seen stays where it is. */
export function held(before: Layout, after: Layout, offset: number): number {
  const at = fileAt(before, offset)
  const block = before.blocks[at]
  // Nothing to hold while what is above the files is read.
  if (!block || offset <= 0) return offset
  const isSame = (other: Block | undefined) => other?.listed.path === block.listed.path
  const now = isSame(after.blocks[at]) ? at : after.blocks.findIndex(isSame)
  if (now === -1) return offset
  return after.tops[now]! + heldWithin(block, after.blocks[now]!, offset - before.tops[at]!)
}

function heldWithin(before: Block, after: Block, offset: number): number {
  if (before === after) return offset
  const at = rowAt(before, offset)
  const seen = subjectOf(before.rows[at]!)
  const now = after.rows.findIndex(row => subjectOf(row) === seen)
  if (now !== -1) return after.starts[now]! + offset - before.starts[at]!
  // Of a file that was folded its head is left to see.
  return offset < after.starts.at(-1)! ? offset : 0
}
