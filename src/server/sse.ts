import type { ServerResponse } from 'node:http'
import type { Item } from '../operations/operation.ts'

export interface StreamLimits {
  /** Lines that arrive within this time go into one write. */
  gatherMs: number
  /** Nothing more is read for a watcher with this much unread. */
  maxUnreadBytes: number
  /** A watcher that takes longer than this is disconnected; it may come back with the last id it saw. */
  stuckMs: number
  /** How often to send a sign of life when there is nothing else. */
  quietMs: number
}

export const STREAM_LIMITS: StreamLimits = {
  gatherMs: 15,
  maxUnreadBytes: 1024 * 1024,
  stuckMs: 20_000,
  quietMs: 15_000,
}

/** An item as text of an event stream. A sign of life has data too, or a reader would skip it and its cursor. */
export function frame({ cursor, kind, data }: Item<unknown>): string {
  // An empty id would make a browser forget its last one.
  const id = cursor && `id: ${cursor.replace(/[\r\n\0]/g, '')}\n`
  return `${id}event: ${kind}\ndata: ${JSON.stringify(data)}\n\n`
}

/**
 * Writes an event stream to one watcher. It holds at most `maxUnreadBytes`: `send` resolves when there is room again, so
 * the reader simply waits, and what is not yet read stays in the store or the transcript.
 */
export class Watcher {
  readonly #response: ServerResponse
  readonly #limits: StreamLimits
  readonly #quiet: NodeJS.Timeout
  #gathered = ''
  #flush: NodeJS.Timeout | undefined

  constructor(response: ServerResponse, headers: Record<string, string>, limits: StreamLimits) {
    this.#response = response
    this.#limits = limits
    response.writeHead(200, { ...headers, 'content-type': 'text/event-stream', 'x-accel-buffering': 'no' })
    response.write('retry: 1000\n\n')
    this.#quiet = setInterval(() => this.#write(':\n\n'), limits.quietMs)
    response.on('close', () => this.#stopTimers())
  }

  async send(text: string): Promise<void> {
    this.#gathered += text
    if (this.#gathered.length >= this.#limits.maxUnreadBytes / 4) this.#writeGathered()
    else this.#flush ??= setTimeout(() => this.#writeGathered(), this.#limits.gatherMs)
    if (this.#response.writableLength >= this.#limits.maxUnreadBytes) await this.#room()
  }

  end(): void {
    this.#writeGathered()
    this.#stopTimers()
    this.#response.end()
  }

  #writeGathered(): void {
    clearTimeout(this.#flush)
    this.#flush = undefined
    if (this.#gathered) this.#write(this.#gathered)
    this.#gathered = ''
  }

  #write(text: string): void {
    if (!this.#response.writable) return
    this.#response.write(text)
    this.#quiet.refresh()
  }

  #room(): Promise<void> {
    return new Promise(resolve => {
      const cut = setTimeout(() => this.#response.destroy(), this.#limits.stuckMs)
      const done = () => {
        clearTimeout(cut)
        this.#response.off('drain', done).off('close', done)
        resolve()
      }
      this.#response.on('drain', done).on('close', done)
    })
  }

  #stopTimers(): void {
    clearInterval(this.#quiet)
    clearTimeout(this.#flush)
  }
}
