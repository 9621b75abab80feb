import { safeLine } from './safe.ts'
import { type Column, table } from './table.ts'
import type { Terminal } from './terminal.ts'

/** A table that is drawn over itself; for a terminal only. */
export class LiveTable<Row> {
  readonly #terminal: Terminal
  readonly #columns: Column<Row>[]
  #drawn: string[] = []

  constructor(terminal: Terminal, columns: Column<Row>[]) {
    this.#terminal = terminal
    this.#columns = columns.map(column => ({ ...column, value: row => safeLine(column.value(row)) }))
  }

  show(rows: readonly Row[]): void {
    const lines = table(this.#columns, rows, this.#terminal.width, text => this.#terminal.paint('dim', text))
    if (lines.join('\n') === this.#drawn.join('\n')) return
    const back = this.#drawn.length ? `\x1b[${this.#drawn.length}A` : ''
    this.#terminal.write(back + lines.map(line => `\x1b[K${line}\n`).join(''))
    this.#drawn = lines
  }
}
