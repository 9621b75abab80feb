import type { WebSocket } from 'ws'
import type { SocketLimits } from './socket-limits.ts'

/**
 * Sends messages to one reader. Whoever has much to send waits for room first, so that what is not yet read stays in
 * the store or the transcript, and a reader that never reads costs no more than `maxUnreadBytes` and a few answers.
 */
export class Outbox {
  readonly #socket: WebSocket
  readonly #limits: Pick<SocketLimits, 'maxUnreadBytes' | 'stuckMs'>
  readonly #onStuck: () => void
  #stuck: NodeJS.Timeout | undefined
  #waiting: (() => void)[] = []

  constructor(socket: WebSocket, limits: Pick<SocketLimits, 'maxUnreadBytes' | 'stuckMs'>, onStuck: () => void) {
    this.#socket = socket
    this.#limits = limits
    this.#onStuck = onStuck
    socket.once('close', () => this.#wake())
  }

  send(message: object): void {
    if (this.#socket.readyState !== this.#socket.OPEN) return
    this.#socket.send(JSON.stringify(message), () => {
      if (!this.#isFull()) this.#wake()
    })
    if (this.#isFull()) this.#stuck ??= setTimeout(this.#onStuck, this.#limits.stuckMs)
  }

  /** Whether there is room now, or within this time. False also if the reader is gone. */
  async room(ms?: number): Promise<boolean> {
    if (this.#isFull()) await this.#drained(ms)
    return !this.#isFull() && this.#socket.readyState === this.#socket.OPEN
  }

  #isFull(): boolean {
    return this.#socket.bufferedAmount >= this.#limits.maxUnreadBytes
  }

  #drained(ms: number | undefined): Promise<void> {
    return new Promise(resolve => {
      const timer = ms === undefined ? undefined : setTimeout(resolve, ms)
      this.#waiting.push(() => {
        clearTimeout(timer)
        resolve()
      })
    })
  }

  #wake(): void {
    clearTimeout(this.#stuck)
    this.#stuck = undefined
    for (const wake of this.#waiting.splice(0)) wake()
  }
}
