import { cut, widthOf } from '../platform/safe-text.ts'

export interface Column<Row> {
  title: string
  value: (row: Row) => string
  /** Shrinks first if the terminal is narrow. */
  flexible?: boolean
  right?: boolean
  /** Left out if the terminal is too narrow, the last one first. */
  extra?: boolean
  paint?: (text: string, row: Row) => string
}

const GAP = 2
const NARROWEST = 8
/** So much of a flexible column should be seen before an extra one is. */
const READABLE = 20

/** The lines of a table that fits the width; `Infinity` without a terminal. Values must be safe single lines. */
export function table<Row>(
  wanted: Column<Row>[],
  rows: readonly Row[],
  width: number,
  head: (text: string) => string = text => text,
): string[] {
  const naturalOf = (column: Column<Row>): number =>
    Math.max(widthOf(column.title), ...rows.map(row => widthOf(column.value(row))))
  const columns = thatFit(wanted, wanted.map(naturalOf), width)
  const cells = rows.map(row => columns.map(column => column.value(row)))
  const widths = fitted(columns, columns.map(naturalOf), width)
  const pad = (text: string, i: number): [string, string] => {
    const short = cut(text, widths[i]!)
    const space = ' '.repeat(widths[i]! - widthOf(short))
    return columns[i]!.right ? [space, short] : [short, i === columns.length - 1 ? '' : space]
  }
  const header = columns.map((column, i) => head(pad(column.title, i).join('')))
  const lines = rows.map((row, at) =>
    columns.map((column, i) => {
      const [left, right] = pad(cells[at]![i]!, i)
      const paint = column.paint ?? (text => text)
      return column.right ? left + paint(right, row) : paint(left, row) + right
    }),
  )
  return [header, ...lines].map(line => line.join(' '.repeat(GAP)).trimEnd())
}

/** Drops extra columns, as long as the rest needs more room than there is. */
function thatFit<Row>(columns: Column<Row>[], natural: number[], width: number): Column<Row>[] {
  const least = columns.map((column, i) => (column.flexible ? Math.min(natural[i]!, READABLE) : natural[i]!))
  const needed = least.reduce((sum, each) => sum + each, GAP * (columns.length - 1))
  const last = columns.findLastIndex(column => column.extra)
  if (needed <= width || last < 0) return columns
  const without = <T>(list: T[]): T[] => list.filter((_, i) => i !== last)
  return thatFit(without(columns), without(natural), width)
}

function fitted<Row>(columns: Column<Row>[], natural: number[], width: number): number[] {
  const widths = [...natural]
  let excess = widths.reduce((sum, each) => sum + each, GAP * (widths.length - 1)) - width
  while (excess > 0) {
    const widest = columns.reduce(
      (best, column, i) => (column.flexible && widths[i]! > (widths[best] ?? 0) ? i : best),
      -1,
    )
    if (widest < 0 || widths[widest]! <= NARROWEST) break
    widths[widest] = widths[widest]! - 1
    excess--
  }
  return widths
}
