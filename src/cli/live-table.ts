import { safeLine } from '../platform/safe-text.ts'
import { type Column, table } from './table.ts'
import type { Terminal } from './terminal.ts'

/** A table that is redrawn in place; for a terminal only. */
export class LiveTable<Row> {
  readonly #terminal: Terminal
  readonly #columns: Column<Row>[]
  #drawn: string[] = []

  constructor(terminal: Terminal, columns: Column<Row>[]) {
    this.#terminal = terminal
    this.#columns = columns.map(column => ({ ...column, value: row => safeLine(column.value(row)) }))
  }

  /** `below`: a line under the table. */
  show(rows: readonly Row[], below: string | 0 = ''): void {
    const lines = table(this.#columns, rows, this.#terminal.width, text => this.#terminal.paint('dim', text))
    if (below) lines.push(below)
    if (lines.join('\n') === this.#drawn.join('\n')) return
    const back = this.#drawn.length ? `\x1b[${this.#drawn.length}A` : ''
    this.#terminal.write(`${back}${lines.map(line => `\x1b[K${line}\n`).join('')}\x1b[J`)
    this.#drawn = lines
  }
}
