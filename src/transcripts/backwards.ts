import { closeSync, fstatSync, readSync } from 'node:fs'
import type { Stream } from '../agents/contract.ts'
import { fileOf } from '../platform/launch-folder.ts'
import { openPlain } from '../platform/plain-files.ts'
import type { Offsets } from './moments.ts'
import { momentsBefore } from './moments.ts'
import { CHUNK_BYTES, type Line, MAX_LINE_BYTES, NEWLINE, STREAMS } from './reader.ts'

/** Reads one file from a position towards its beginning. */
class LinesBefore {
  readonly #fd: number | undefined
  /** The part of the file in memory, and where it begins. */
  #bytes = Buffer.alloc(0)
  #from = 0
  /** The start of the last line returned. */
  offset: number

  constructor(file: string, offset: number) {
    this.#fd = openPlain(file)
    this.offset = this.#fd === undefined ? 0 : Math.min(offset, fstatSync(this.#fd).size)
    this.#from = this.offset
  }

  /** Where the last whole line ends. What follows is not ready yet, unless it is too long to wait for. */
  wholeLines(): number {
    const end = this.offset
    const start = this.#startOf(end, end)
    return end - start >= MAX_LINE_BYTES ? end : start
  }

  /** The previous line; undefined: none ends after `after`. */
  previous(after: number): { start: number; text: string } | undefined {
    const end = this.offset
    if (end <= after) return undefined
    const start = this.#startOf(end, end - 1)
    const line = this.#bytes.subarray(start - this.#from, end - this.#from)
    const text = line.toString('utf8', 0, line.at(-1) === NEWLINE ? line.length - 1 : line.length)
    this.offset = start
    this.#bytes = this.#bytes.subarray(0, start - this.#from)
    return { start, text }
  }

  close(): void {
    if (this.#fd !== undefined) closeSync(this.#fd)
  }

  /** The position after the last line break before `before`. A line that is too long is cut. */
  #startOf(end: number, before: number): number {
    let looked = before
    for (;;) {
      const at = looked > this.#from ? this.#bytes.lastIndexOf(NEWLINE, looked - this.#from - 1) : -1
      if (at !== -1) return this.#from + at + 1
      if (this.#from === 0) return 0
      if (end - this.#from >= MAX_LINE_BYTES) return end - MAX_LINE_BYTES
      looked = Math.min(looked, this.#from)
      this.#more()
    }
  }

  /** Reads twice as much each time, so a long line is not copied again for each piece. */
  #more(): void {
    const wanted = Math.min(this.#from, Math.max(CHUNK_BYTES, this.#bytes.length))
    const piece = Buffer.allocUnsafe(wanted)
    const got = this.#fd === undefined ? 0 : readSync(this.#fd, piece, 0, wanted, this.#from - wanted)
    this.#bytes = Buffer.concat([piece.fill(0, got), this.#bytes])
    this.#from -= wanted
  }
}

/** Where a transcript ends now. `final`: it is complete, including half a line. */
export function endOf(directory: string, final: boolean): Offsets {
  const at = (stream: Stream): number => {
    const lines = new LinesBefore(fileOf(directory, stream), Infinity)
    try {
      return final ? lines.offset : lines.wholeLines()
    } finally {
      lines.close()
    }
  }
  return { sent: at('sent'), stdout: at('stdout'), stderr: at('stderr') }
}

/** Reads a session's transcript from a position towards its beginning: the same lines in reverse. */
export class TranscriptBackwards {
  readonly #lines: Record<Stream, LinesBefore>
  readonly #moments: ReturnType<typeof momentsBefore>
  #moment: { at: string | null; from: Offsets } | undefined

  constructor(directory: string, upTo: Offsets) {
    const before = (stream: Stream) => new LinesBefore(fileOf(directory, stream), upTo[stream])
    this.#lines = { sent: before('sent'), stdout: before('stdout'), stderr: before('stderr') }
    this.#moments = momentsBefore(directory, upTo)
    // Lines without an end come last, whenever they began.
    const whole = (stream: Stream) => this.#lines[stream].wholeLines()
    this.#moment = { at: null, from: { sent: whole('sent'), stdout: whole('stdout'), stderr: whole('stderr') } }
  }

  /** The line before the last one returned; undefined: that was the first. */
  previous(): Line | undefined {
    for (;;) {
      this.#moment ??= this.#moments.next().value
      if (!this.#moment) return undefined
      const { at, from } = this.#moment
      for (const stream of BACKWARDS) {
        const next = this.#offsets()
        const line = this.#lines[stream].previous(from[stream])
        if (line) return { stream, at, next, ...line }
      }
      this.#moment = undefined
    }
  }

  close(): void {
    for (const stream of STREAMS) this.#lines[stream].close()
    this.#moments.return(undefined)
  }

  #offsets(): Offsets {
    const { sent, stdout, stderr } = this.#lines
    return { sent: sent.offset, stdout: stdout.offset, stderr: stderr.offset }
  }
}

const BACKWARDS = STREAMS.toReversed()
