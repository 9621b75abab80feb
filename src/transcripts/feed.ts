import { every } from '../platform/timers.ts'
import type { Offsets } from './moments.ts'
import { type Line, TranscriptReader } from './reader.ts'

const LOOK_EVERY_MS = 50
/** A viewer with this much unread gets no more for now. It reads the files itself when it comes back. */
const MOST_UNREAD_CHARS = 1024 * 1024

type Listener = (lines: readonly Line[]) => void

/** Reads one transcript as it grows, for all its viewers. */
class Feed {
  readonly #reader: TranscriptReader
  readonly #timer: NodeJS.Timeout
  readonly #listeners = new Set<Listener>()

  constructor(directory: string, from: Offsets) {
    this.#reader = new TranscriptReader(directory, from)
    // A read that fails now is repeated the next time.
    this.#timer = every(
      LOOK_EVERY_MS,
      () => this.read(),
      () => {},
    )
  }

  /** Passes on what has come. */
  read(): void {
    const now = new Date().toISOString()
    for (let lines = this.#reader.read(false, now); lines.length; lines = this.#reader.read(false, now))
      for (const listener of this.#listeners) listener(lines)
  }

  add(listener: Listener): void {
    this.#listeners.add(listener)
  }

  /** Returns whether nobody is left. */
  remove(listener: Listener): boolean {
    this.#listeners.delete(listener)
    if (this.#listeners.size) return false
    clearInterval(this.#timer)
    this.#reader.close()
    return true
  }
}

const feeds = new Map<string, Feed>()

/**
 * One viewer of a growing transcript. It reads the past by itself; from then on all viewers of the same transcript
 * share one reader.
 */
export class Viewer {
  readonly #directory: string
  readonly #onLines: () => void
  #offsets: Readonly<Offsets>
  /** Reads what the other viewers had already. */
  #own: TranscriptReader | null
  #unread: Line[] = []
  #unreadChars = 0

  constructor(directory: string, from: Offsets, onLines: () => void) {
    this.#directory = directory
    this.#offsets = from
    this.#onLines = onLines
    this.#own = new TranscriptReader(directory, from)
  }

  /** The new lines in order; empty: none yet, and `onLines` says when. */
  read(): Line[] {
    if (this.#own) return this.#catchUp(this.#own)
    const lines = this.#unread
    const isBehind = this.#unreadChars > MOST_UNREAD_CHARS
    this.#unread = []
    this.#unreadChars = 0
    if (isBehind) {
      this.#leave()
      this.#own = new TranscriptReader(this.#directory, this.#endOf(lines))
    }
    return lines.length || !this.#own ? this.#placed(lines) : this.#catchUp(this.#own)
  }

  /** The rest of a complete transcript, a part at a time; empty: that was all. */
  finish(): Line[] {
    const lines = this.#unread
    this.#unread = []
    if (lines.length) return this.#placed(lines)
    this.#leave()
    this.#own ??= new TranscriptReader(this.#directory, this.#offsets)
    return this.#placed(this.#own.read(true, null))
  }

  close(): void {
    this.#leave()
    this.#own?.close()
    this.#own = null
  }

  #catchUp(own: TranscriptReader): Line[] {
    const now = new Date().toISOString()
    const lines = this.#placed(own.read(false, now))
    if (lines.length) return lines
    // The others read first: what they have is in the files, and this viewer reads it before it joins them.
    const feed = feeds.get(this.#directory)
    feed?.read()
    const rest: Line[] = []
    for (let more = own.read(false, now); more.length; more = own.read(false, now)) rest.push(...this.#placed(more))
    own.close()
    this.#own = null
    this.#join(feed)
    return rest
  }

  #join(feed = new Feed(this.#directory, this.#offsets)): void {
    feeds.set(this.#directory, feed)
    feed.add(this.#take)
  }

  #leave(): void {
    const feed = feeds.get(this.#directory)
    if (!this.#own && feed?.remove(this.#take)) feeds.delete(this.#directory)
  }

  #take = (lines: readonly Line[]): void => {
    if (this.#unreadChars > MOST_UNREAD_CHARS) return
    for (const line of lines) {
      // Lines that it read itself before it joined.
      if (line.start < this.#offsets[line.stream]) continue
      this.#unread.push(line)
      this.#unreadChars += line.text.length
    }
    if (this.#unread.length) this.#onLines()
  }

  /** The position of this viewer after each line: it may have read the streams in another order. */
  #placed(lines: readonly Line[]): Line[] {
    return lines.map(line => {
      this.#offsets = { ...this.#offsets, [line.stream]: line.next[line.stream] }
      return { ...line, next: { ...this.#offsets } }
    })
  }

  #endOf(lines: readonly Line[]): Offsets {
    const end = { ...this.#offsets }
    for (const { stream, next } of lines) end[stream] = next[stream]
    return end
  }
}
