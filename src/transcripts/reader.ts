import { closeSync, fstatSync, readSync } from 'node:fs'
import type { Stream } from '../agents/contract.ts'
import { fileOf } from '../platform/launch-folder.ts'
import { openPlain } from '../platform/plain-files.ts'
import { type Moment, momentsAfter, type Offsets, timeOf } from './moments.ts'

/**
 * A session's transcript is what it printed, kept as printed: append-only files. A cursor is one offset per file,
 * always at the start of a line. A small file of times, written while it grows, says when each byte had arrived,
 * so that the files can be read in the order things happened.
 */
export const STREAMS: readonly Stream[] = ['sent', 'stdout', 'stderr']
export const START: Readonly<Offsets> = { sent: 0, stdout: 0, stderr: 0 }

export interface Line {
  stream: Stream
  text: string
  at: string | null
  /** Where it begins in its stream. */
  start: number
  /** Where reading continues after this line. */
  next: Offsets
}

export const cursorOf = ({ sent, stdout, stderr }: Offsets): string => `${sent}-${stdout}-${stderr}`

export function offsetsOf(cursor: string | undefined): Offsets {
  const match = /^(\d{1,15})-(\d{1,15})-(\d{1,15})$/.exec(cursor ?? '0-0-0')
  return match ? { sent: Number(match[1]), stdout: Number(match[2]), stderr: Number(match[3]) } : { ...START }
}

/** A longer line is returned in pieces, so it is not held in memory. */
export const MAX_LINE_BYTES = 8 * 1024 * 1024
export const CHUNK_BYTES = 64 * 1024
export const NEWLINE = 0x0a
const chunk = Buffer.allocUnsafe(CHUNK_BYTES)

/** Reads whole lines from one growing file. Bytes are split before they are decoded, so no character is cut in two. */
export class LineTail {
  #fd: number | undefined
  readonly #file: string
  #held: Buffer[] = []
  #heldBytes = 0
  /** The position after the last whole line returned. */
  offset: number
  /** The position after the last byte read. */
  position: number

  constructor(file: string, offset: number) {
    this.#file = file
    this.offset = offset
    this.position = offset
  }

  /** The new whole lines, up to `limit` bytes of the file, which bounds the cost of one call. */
  read(limit: number): { text: string; next: number }[] {
    const lines: { text: string; next: number }[] = []
    while (this.position < limit) {
      const got = this.#fill(Math.min(CHUNK_BYTES, limit - this.position))
      if (got === 0) break
      const bytes = chunk.subarray(0, got)
      let start = 0
      for (let end = bytes.indexOf(NEWLINE); end !== -1; end = bytes.indexOf(NEWLINE, start)) {
        lines.push(this.#line(bytes.subarray(start, end), 1))
        start = end + 1
      }
      if (start < got) this.#hold(bytes.subarray(start))
      if (this.#heldBytes > MAX_LINE_BYTES) lines.push(this.#line(Buffer.alloc(0), 0))
    }
    return lines
  }

  /** What follows the last line break. Only for a file that will not grow any more. */
  rest(): { text: string; next: number } | undefined {
    return this.#heldBytes ? this.#line(Buffer.alloc(0), 0) : undefined
  }

  /** The size of the file now. */
  size(): number {
    this.#fd ??= openPlain(this.#file)
    return this.#fd === undefined ? 0 : fstatSync(this.#fd).size
  }

  close(): void {
    if (this.#fd !== undefined) closeSync(this.#fd)
    this.#fd = undefined
  }

  #fill(bytes: number): number {
    this.#fd ??= openPlain(this.#file)
    if (this.#fd === undefined) return 0
    const got = readSync(this.#fd, chunk, 0, bytes, this.position)
    this.position += got
    return got
  }

  #hold(bytes: Buffer): void {
    this.#held.push(Buffer.from(bytes))
    this.#heldBytes += bytes.length
  }

  #line(end: Buffer, newline: 0 | 1): { text: string; next: number } {
    const bytes = this.#heldBytes ? Buffer.concat([...this.#held, end]) : end
    this.#held = []
    this.#heldBytes = 0
    this.offset += bytes.length + newline
    return { text: bytes.toString('utf8'), next: this.offset }
  }
}

/** The line that begins here; undefined: there is none. */
export function lineAt(directory: string, stream: Stream, start: number): { text: string; next: number } | undefined {
  const tail = new LineTail(fileOf(directory, stream), start)
  try {
    for (let before = -1; tail.position > before; ) {
      before = tail.position
      const [line] = tail.read(before + CHUNK_BYTES)
      if (line) return line
    }
    return tail.rest()
  } finally {
    tail.close()
  }
}

/** How many bytes of a file one read takes. It bounds memory and time, whatever an agent prints. */
const TURN_BYTES = 1024 * 1024

/**
 * Reads a session's transcript from a cursor on, in the order of the recorded times. Lines after the last recorded time
 * come as they are found. Within a moment one stream comes after the other.
 */
export class TranscriptReader {
  readonly #tails: Record<Stream, LineTail>
  readonly #offsets: Offsets
  readonly #moments: Generator<Moment, undefined>
  #moment: { upTo: Offsets; at: string | null } | undefined

  constructor(directory: string, from: Offsets) {
    this.#offsets = { ...from }
    this.#tails = {
      sent: new LineTail(fileOf(directory, 'sent'), from.sent),
      stdout: new LineTail(fileOf(directory, 'stdout'), from.stdout),
      stderr: new LineTail(fileOf(directory, 'stderr'), from.stderr),
    }
    this.#moments = momentsAfter(directory, from)
  }

  /**
   * The next lines, oldest first; empty: none yet. `final`: the files are complete, including half a line. `now`: the
   * time of lines without a recorded one.
   */
  read(final: boolean, now: string | null = null): Line[] {
    for (;;) {
      this.#moment ??= this.#next(now)
      if (!this.#moment) break
      const lines = this.#take(this.#moment)
      if (lines.length) return lines
      this.#moment = undefined
    }
    return final ? STREAMS.flatMap(stream => this.#placed(stream, [this.#tails[stream].rest() ?? []].flat(), null)) : []
  }

  close(): void {
    for (const stream of STREAMS) this.#tails[stream].close()
    this.#moments.return(undefined)
  }

  /** The next recorded moment, then what is there now; undefined: nothing more. */
  #next(now: string | null): { upTo: Offsets; at: string | null } | undefined {
    for (let noted = this.#moments.next(); !noted.done; noted = this.#moments.next())
      if (STREAMS.some(stream => noted.value[stream] > this.#tails[stream].position))
        return { upTo: noted.value, at: timeOf(noted.value) }
    const upTo = sizesOf(this.#tails)
    const grew = STREAMS.some(stream => upTo[stream] > this.#tails[stream].position)
    return grew ? { upTo, at: now } : undefined
  }

  #take({ upTo, at }: { upTo: Offsets; at: string | null }): Line[] {
    for (const stream of STREAMS) {
      const tail = this.#tails[stream]
      while (tail.position < upTo[stream]) {
        const before = tail.position
        const lines = tail.read(Math.min(upTo[stream], before + TURN_BYTES))
        if (lines.length) return this.#placed(stream, lines, at)
        if (tail.position === before) break
      }
    }
    return []
  }

  #placed(stream: Stream, lines: { text: string; next: number }[], at: string | null): Line[] {
    return lines.map(({ text, next }) => {
      const start = this.#offsets[stream]
      this.#offsets[stream] = next
      return { stream, text, at, start, next: { ...this.#offsets } }
    })
  }
}

const sizesOf = (tails: Record<Stream, LineTail>): Offsets => ({
  sent: tails.sent.size(),
  stdout: tails.stdout.size(),
  stderr: tails.stderr.size(),
})
