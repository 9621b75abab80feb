import { closeSync, fstatSync, readSync } from 'node:fs'
import { join } from 'node:path'
import type { Stream } from '../agents/contract.ts'
import { appendPlain, openPlain, readPlain } from './folders.ts'

/**
 * A session's transcript is what it printed, kept as printed: append-only files. A cursor is one offset per file,
 * always at the start of a line. A small file of times, written while it grows, says when each byte had arrived,
 * so that the files can be read in the order things happened.
 */
const STREAMS: readonly Stream[] = ['sent', 'stdout', 'stderr']
export type Offsets = Record<Stream, number>
export const START: Readonly<Offsets> = { sent: 0, stdout: 0, stderr: 0 }

export interface Line {
  stream: Stream
  text: string
  at: string | null
  /** Where reading goes on after this line. */
  next: Offsets
}

export const cursorOf = ({ sent, stdout, stderr }: Offsets): string => `${sent}-${stdout}-${stderr}`

export function offsetsOf(cursor: string | undefined): Offsets {
  const match = /^(\d{1,15})-(\d{1,15})-(\d{1,15})$/.exec(cursor ?? '0-0-0')
  return match ? { sent: Number(match[1]), stdout: Number(match[2]), stderr: Number(match[3]) } : { ...START }
}

/** Where the last bytes of each file begin, at the start of a line. */
export function nearEnd(directory: string, bytes: number): Offsets {
  const at = (stream: Stream): number => {
    const fd = openPlain(join(directory, stream))
    if (fd === undefined) return 0
    try {
      const from = fstatSync(fd).size - bytes
      if (from <= 0) return 0
      const got = readSync(fd, chunk, 0, CHUNK_BYTES, from - 1)
      const newline = chunk.subarray(0, got).indexOf(NEWLINE)
      return newline === -1 ? from + got : from + newline
    } finally {
      closeSync(fd)
    }
  }
  return { sent: at('sent'), stdout: at('stdout'), stderr: at('stderr') }
}

/** A line longer than this is handed on in pieces rather than held in memory. */
const MAX_LINE_BYTES = 8 * 1024 * 1024
const CHUNK_BYTES = 64 * 1024
const NEWLINE = 0x0a
const chunk = Buffer.allocUnsafe(CHUNK_BYTES)

/** Reads whole lines from one growing file. Bytes are split before they are decoded, so no character is cut in two. */
export class LineTail {
  #fd: number | undefined
  readonly #file: string
  #held: Buffer[] = []
  #heldBytes = 0
  /** Behind the last whole line handed out. */
  offset: number
  /** Behind the last byte read. */
  position: number

  constructor(file: string, offset: number) {
    this.#file = file
    this.offset = offset
    this.position = offset
  }

  /** The whole lines that have come since, up to `limit` bytes of file, which bounds what one call may cost. */
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

  /** What stands behind the last end of line; only for a file that will not grow any more. */
  rest(): { text: string; next: number } | undefined {
    return this.#heldBytes ? this.#line(Buffer.alloc(0), 0) : undefined
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

interface Moment extends Offsets {
  at: number
}

/** Notes how far each file had grown, at most a few times a second. */
export class Times {
  readonly #file: string
  #last = ''
  #cutShort = false
  constructor(directory: string) {
    this.#file = join(directory, 'times')
  }

  note(at: number, sizes: Offsets): void {
    const sizesNow = `${sizes.sent} ${sizes.stdout} ${sizes.stderr}`
    if (sizesNow === this.#last) return
    try {
      // What a full disk cut short is ended first.
      appendPlain(this.#file, `${this.#cutShort ? '\n' : ''}${at} ${sizesNow}\n`)
      this.#last = sizesNow
      this.#cutShort = false
    } catch {
      // The order of the streams is not worth a server: it is noted again as soon as it can be.
      this.#cutShort = true
    }
  }
}

/** More than a session of weeks would write. */
const TIMES_BYTES = 64 * 1024 * 1024

function momentsOf(directory: string): Moment[] {
  const text = readPlain(join(directory, 'times'), TIMES_BYTES) ?? ''
  return text
    .split('\n')
    .slice(0, -1)
    .filter(line => /^\d+ \d+ \d+ \d+$/.test(line))
    .map(line => {
      const [at, sent, stdout, stderr] = line.split(' ').map(Number) as [number, number, number, number]
      return { at, sent, stdout, stderr }
    })
}

/** How many bytes of each file one turn of reading may take: bounds memory and time, whatever an agent prints. */
const TURN_BYTES = 1024 * 1024

/** Reads a session's transcript from a cursor on: first in the order the times tell, then whatever else is there. */
export class TranscriptReader {
  readonly #tails: Record<Stream, LineTail>
  readonly #offsets: Offsets
  #moments: Moment[]

  constructor(directory: string, from: Offsets) {
    this.#offsets = { ...from }
    this.#tails = {
      sent: new LineTail(join(directory, 'sent'), from.sent),
      stdout: new LineTail(join(directory, 'stdout'), from.stdout),
      stderr: new LineTail(join(directory, 'stderr'), from.stderr),
    }
    this.#moments = momentsOf(directory).filter(m => STREAMS.some(stream => m[stream] > from[stream]))
  }

  /** The next lines, oldest first; empty when there are none yet. `final`: the files are complete, half a line included. */
  read(final: boolean): Line[] {
    while (this.#moments.length) {
      const moment = this.#moments[0]!
      const before = this.#position()
      const lines = this.#take(moment, new Date(moment.at).toISOString())
      // A moment of much text is read in several turns; one that yields nothing more is over.
      if (this.#position() === before || STREAMS.every(stream => this.#tails[stream].position >= moment[stream]))
        this.#moments.shift()
      if (lines.length) return lines
    }
    const now = new Date().toISOString()
    const lines = this.#take({ sent: Infinity, stdout: Infinity, stderr: Infinity }, final ? null : now)
    if (lines.length || !final) return lines
    return STREAMS.flatMap(stream => this.#line(stream, this.#tails[stream].rest(), null))
  }

  close(): void {
    for (const stream of STREAMS) this.#tails[stream].close()
  }

  #take(upTo: Offsets, at: string | null): Line[] {
    return STREAMS.flatMap(stream => {
      const tail = this.#tails[stream]
      const before = tail.position
      const lines = tail.read(Math.min(upTo[stream], before + TURN_BYTES))
      return lines.flatMap(line => this.#line(stream, line, at))
    })
  }

  #line(stream: Stream, line: { text: string; next: number } | undefined, at: string | null): Line[] {
    if (!line) return []
    this.#offsets[stream] = line.next
    return [{ stream, text: line.text, at, next: { ...this.#offsets } }]
  }

  #position(): number {
    return STREAMS.reduce((sum, stream) => sum + this.#tails[stream].position, 0)
  }
}
