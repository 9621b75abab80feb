import { cut, safe, safeLine, widthOf } from '../platform/safe-text.ts'
import { type Column, table } from './table.ts'
import { wrapped } from './wrap.ts'

/** The input and output of a command. A test has its own. */
export interface Streams {
  stdin: NodeJS.ReadableStream & { isTTY?: boolean }
  stdout: NodeJS.WritableStream & { isTTY?: boolean; columns?: number }
  stderr: NodeJS.WritableStream & { isTTY?: boolean; columns?: number }
  env: NodeJS.ProcessEnv
  cwd: string
}

const COLOURS = { bold: 1, dim: 2, red: 31, green: 32, yellow: 33, blue: 34, cyan: 36 } as const
export type Colour = keyof typeof COLOURS

export class Terminal {
  readonly streams: Streams
  readonly json: boolean
  readonly #colours: boolean
  #progress = ''

  constructor(streams: Streams, json: boolean) {
    this.streams = streams
    this.json = json
    this.#colours = !!streams.stdout.isTTY && !streams.env.NO_COLOR && streams.env.TERM !== 'dumb'
  }

  get interactive(): boolean {
    return !!this.streams.stdout.isTTY && !!this.streams.stdin.isTTY
  }

  /** In a pipe, lines are as long as they are, unless COLUMNS says otherwise. */
  get width(): number {
    if (this.streams.stdout.isTTY) return this.streams.stdout.columns ?? 80
    return Number(this.streams.env.COLUMNS) || Number.POSITIVE_INFINITY
  }

  paint(colour: Colour, text: string): string {
    return this.#colours && text ? `\x1b[${COLOURS[colour]}m${text}\x1b[0m` : text
  }

  /** Text from agents or repositories: harmless on a terminal, unchanged in a pipe. */
  foreign(text: string): string {
    return this.streams.stdout.isTTY ? safe(text) : text
  }

  print(line = ''): void {
    this.write(`${line}\n`)
  }

  write(text: string | Uint8Array): void {
    this.#behindProgress(() => this.streams.stdout.write(text))
  }

  data(value: unknown): void {
    this.print(JSON.stringify(value, null, 2))
  }

  /** Prints the whole answer for a program, or words for a person. */
  tell(answer: unknown, words: () => void): void {
    if (this.json) this.data(answer)
    else words()
  }

  /** For the person, not for the program that reads the output. */
  note(line: string): void {
    const { stdout, stderr } = this.streams
    // Where only the notes go to a terminal, nothing was made harmless before, and nothing is coloured.
    const shown = stderr.isTTY && !stdout.isTTY ? safe(line) : line
    this.#behindProgress(() => stderr.write(`${shown}\n`))
  }

  table<Row>(columns: Column<Row>[], rows: readonly Row[]): void {
    const cells = columns.map(column => ({ ...column, value: (row: Row) => safeLine(column.value(row)) }))
    for (const line of table(cells, rows, this.width, text => this.paint('dim', text))) this.print(line)
  }

  /** Lines of `name  value`, those without a value left out. */
  facts(pairs: readonly (readonly [string, string | null | undefined])[]): void {
    const shown = pairs.filter((pair): pair is [string, string] => !!pair[1])
    const width = Math.max(0, ...shown.map(([name]) => name.length))
    for (const [name, value] of shown) {
      const lines = wrapped(this.foreign(value), this.width - width - 2)
      this.print(`${this.paint('dim', name.padEnd(width))}  ${lines.join(`\n${' '.repeat(width + 2)}`)}`)
    }
  }

  /** What something is called, in one line: the title gives way to what is said after it, down to half of the line. */
  headline(id: string, title: string, after = ''): void {
    const room = this.width - widthOf(id) - 2
    const said = cut(safeLine(after), Math.floor(room / 2))
    const shown = cut(safeLine(title), room - widthOf(said))
    this.print(`${this.paint('bold', id)}  ${shown}${this.paint('dim', said)}`)
  }

  /** One line that is overwritten while work goes on. It is not shown without a terminal. An empty text removes it. */
  progress(text: string): void {
    if (!this.streams.stderr.isTTY) return
    const width = (this.streams.stderr.columns ?? 80) - 1
    const next = safeLine(text).slice(0, width)
    if (next === this.#progress) return
    this.#progress = next
    this.streams.stderr.write(`\r\x1b[K${next}`)
  }

  #behindProgress(write: () => void): void {
    if (this.#progress) this.streams.stderr.write('\r\x1b[K')
    write()
    if (this.#progress) this.streams.stderr.write(this.#progress)
  }
}
