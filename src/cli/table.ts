import { cut, widthOf } from '../platform/safe-text.ts'

export interface Column<Row> {
  title: string
  value: (row: Row) => string
  /** Shrinks first if the terminal is narrow. */
  flexible?: boolean
  right?: boolean
  paint?: (text: string, row: Row) => string
}

const GAP = 2
const NARROWEST = 8

/** The lines of a table that fits the width; `Infinity` without a terminal. Values must be safe single lines. */
export function table<Row>(
  columns: Column<Row>[],
  rows: readonly Row[],
  width: number,
  head: (text: string) => string = text => text,
): string[] {
  const cells = rows.map(row => columns.map(column => column.value(row)))
  const widths = fitted(
    columns,
    columns.map((column, i) => Math.max(widthOf(column.title), ...cells.map(line => widthOf(line[i]!)))),
    width,
  )
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

function fitted<Row>(columns: Column<Row>[], natural: number[], width: number): number[] {
  const widths = [...natural]
  let excess = widths.reduce((sum, each) => sum + each, GAP * (widths.length - 1)) - width
  while (excess > 0) {
    const widest = columns.reduce(
      (best, column, i) => (column.flexible && widths[i]! > (widths[best] ?? 0) ? i : best),
      -1,
    )
    if (widest < 0 || widths[widest]! <= NARROWEST) break
    widths[widest]!--
    excess--
  }
  return widths
}
