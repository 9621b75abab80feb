import type { Listed, PlacedComment, Row } from './rows.ts'

/** The assumed height of each row until it is measured. */
export const HEIGHTS: Record<Row['kind'], number> = {
  file: 41,
  unread: 120,
  note: 32,
  gap: 28,
  line: 20,
  pair: 20,
  comment: 96,
  writing: 168,
  end: 14,
}

/** The rows of one file. */
export interface Block<R extends PlacedComment = PlacedComment> {
  listed: Listed
  rows: readonly Row<R>[]
  /** The top of each row within the file, and last the end of the file. */
  starts: Float64Array
}

/** All files, one below the other. Building it takes time by the number of files, not of lines. */
export interface Layout<R extends PlacedComment = PlacedComment> {
  blocks: readonly Block<R>[]
  /** The top of each file, and last the end of all. */
  tops: readonly number[]
}

/** The measured heights, by the object that a row shows. */
export type Heights = WeakMap<object, number>

/** The object that a row shows. It has the same height in any row. */
export function subjectOf(row: Row): object {
  if (row.kind === 'line') return row.line
  if (row.kind === 'pair') return (row.pair.right ?? row.pair.left)!
  if (row.kind === 'comment') return row.comment
  return row.kind === 'writing' ? row.place : row
}

export function blockOf<R extends PlacedComment>(rows: readonly Row<R>[], heights: Heights): Block<R> {
  const starts = new Float64Array(rows.length + 1)
  for (let at = 0; at < rows.length; at++) {
    const row = rows[at]!
    starts[at + 1] = starts[at]! + (heights.get(subjectOf(row)) ?? HEIGHTS[row.kind])
  }
  return { listed: rows[0]!.listed, rows, starts }
}

/** The same block with new heights for some rows. */
export function resized<R extends PlacedComment>(block: Block<R>, heights: ReadonlyMap<number, number>): Block<R> {
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

export function layoutOf<R extends PlacedComment>(blocks: readonly Block<R>[]): Layout<R> {
  const tops = [0]
  for (const [at, { starts }] of blocks.entries()) tops.push(tops[at]! + starts.at(-1)!)
  return { blocks, tops }
}

export const heightAt = ({ starts }: Block, row: number): number => starts[row + 1]! - starts[row]!

/** The file at this offset; the first one if it is above all, the last one if it is below. */
export const fileAt = ({ tops }: Layout, offset: number): number => partAt(tops, offset)

/** The row at this offset in its file. */
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

/** The new scroll position after rows were added, removed or resized, so that the visible part does not move. */
export function held(before: Layout, after: Layout, offset: number): number {
  const at = fileAt(before, offset)
  const block = before.blocks[at]
  // While the part above the files is visible, nothing has to be adjusted.
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
  // Only the header is left of a folded file.
  return offset < after.starts.at(-1)! ? offset : 0
}
