import { closeSync, fstatSync, readSync } from 'node:fs'
import type { Stream } from '../agents/contract.ts'
import { fileOf } from '../platform/launch-folder.ts'
import { appendPlain, openPlain } from '../platform/plain-files.ts'

/** A size or position in each file of a transcript. */
export type Offsets = Record<Stream, number>

/** The size of each file at a time. */
export interface Moment extends Offsets {
  at: number
}

export const timeOf = ({ at }: Moment): string => new Date(at).toISOString()

/** Records the size of each file, at most a few times a second. */
export class Times {
  readonly #file: string
  #last: Offsets | undefined
  #cutShort = false
  constructor(directory: string) {
    this.#file = fileOf(directory, 'times')
  }

  note(at: number, sizes: Offsets): void {
    // A server that adopts a session reads it from the start. The times recorded before are the right ones.
    this.#last ??= lastOf(this.#file)
    if (!grew(this.#last, sizes)) return
    try {
      // A line that a full disk cut short is ended first.
      appendPlain(this.#file, `${this.#cutShort ? '\n' : ''}${at} ${sizes.sent} ${sizes.stdout} ${sizes.stderr}\n`)
      this.#last = sizes
      this.#cutShort = false
    } catch {
      // A failure here must not stop the server. The time is recorded again as soon as possible.
      this.#cutShort = true
    }
  }
}

const grew = (last: Offsets, now: Offsets): boolean =>
  now.sent >= last.sent &&
  now.stdout >= last.stdout &&
  now.stderr >= last.stderr &&
  now.sent + now.stdout + now.stderr > last.sent + last.stdout + last.stderr

const NOTHING: Offsets = { sent: 0, stdout: 0, stderr: 0 }

function lastOf(file: string): Offsets {
  for (const moment of reading(file, times => times.backwards(times.size))) return moment
  return NOTHING
}

/** The moments with something after these offsets, oldest first. */
export function momentsAfter(directory: string, from: Offsets): Generator<Moment, undefined> {
  const reachesBeyond = (moment: Moment) =>
    moment.sent > from.sent || moment.stdout > from.stdout || moment.stderr > from.stderr
  return reading(fileOf(directory, 'times'), times => times.forwards(times.first(reachesBeyond)))
}

/** The moments with something before these offsets, newest first, and where each began. */
export function* momentsBefore(
  directory: string,
  upTo: Offsets,
): Generator<{ at: string | null; from: Offsets }, undefined> {
  const covers = (moment: Moment) =>
    moment.sent >= upTo.sent && moment.stdout >= upTo.stdout && moment.stderr >= upTo.stderr
  let later: string | null = null
  const noted = reading(fileOf(directory, 'times'), function* (times) {
    const place = times.first(covers)
    for (const moment of times.forwards(place)) {
      later = timeOf(moment)
      break
    }
    yield* times.backwards(place)
  })
  for (const moment of noted) {
    yield { at: later, from: moment }
    later = timeOf(moment)
  }
  yield { at: later, from: NOTHING }
}

function* reading(file: string, read: (times: TimesFile) => Iterable<Moment>): Generator<Moment, undefined> {
  const fd = openPlain(file)
  if (fd === undefined) return
  try {
    yield* read(new TimesFile(fd))
  } finally {
    closeSync(fd)
  }
}

const PIECE_BYTES = 16 * 1024
/** Longer than any line of ours. */
const LINE_BYTES = 128

/** The file of times. Its lines are in order, so a position is found by halving and little is read. */
class TimesFile {
  readonly #fd: number
  readonly size: number

  constructor(fd: number) {
    this.#fd = fd
    this.size = fstatSync(fd).size
  }

  /** The position of the first moment for which this holds, as it does for all later ones; the end: there is none. */
  first(holds: (moment: Moment) => boolean): number {
    let low = 0
    let high = this.size
    while (high - low > PIECE_BYTES) {
      const middle = Math.floor((low + high) / 2)
      const found = this.#lines(middle, LINE_BYTES * 2, middle > 0).find(line => line.moment)
      if (found?.moment && !holds(found.moment)) low = found.start
      else high = middle
    }
    for (const line of this.#lines(low, high - low + LINE_BYTES * 2, false))
      if (line.moment && holds(line.moment)) return line.start
    return this.size
  }

  *forwards(from: number): Generator<Moment> {
    for (let place = from; place < this.size; ) {
      const lines = this.#lines(place, PIECE_BYTES, false)
      if (!lines.length) return
      for (const { moment } of lines) if (moment) yield moment
      place = lines.at(-1)!.end
    }
  }

  *backwards(upTo: number): Generator<Moment> {
    for (let place = upTo; place > 0; ) {
      const from = Math.max(0, place - PIECE_BYTES)
      const lines = this.#lines(from, place - from, from > 0)
      for (const { moment } of lines.toReversed()) if (moment) yield moment
      place = lines[0]?.start ?? 0
      if (from === 0) return
    }
  }

  /** The whole lines in a part of the file. `inside`: it may begin in the middle of a line, which is left out. */
  #lines(from: number, bytes: number, inside: boolean): { start: number; end: number; moment: Moment | undefined }[] {
    const piece = Buffer.alloc(Math.min(bytes, this.size - from))
    const got = readSync(this.#fd, piece, 0, piece.length, from)
    const found: { start: number; end: number; moment: Moment | undefined }[] = []
    let start = inside ? piece.indexOf('\n') + 1 : 0
    if (inside && start === 0) return []
    for (let end = piece.indexOf('\n', start); end !== -1 && end < got; end = piece.indexOf('\n', start)) {
      found.push({ start: from + start, end: from + end + 1, moment: momentIn(piece.toString('latin1', start, end)) })
      start = end + 1
    }
    return found
  }
}

function momentIn(line: string): Moment | undefined {
  if (!/^\d{1,16} \d{1,15} \d{1,15} \d{1,15}$/.test(line)) return undefined
  const [at, sent, stdout, stderr] = line.split(' ').map(Number) as [number, number, number, number]
  return Number.isNaN(new Date(at).getTime()) ? undefined : { at, sent, stdout, stderr }
}
