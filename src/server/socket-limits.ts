import type { WebSocket } from 'ws'

export interface SocketLimits {
  /** How often a connection is pinged. One that did not answer the last ping is dropped. */
  pingMs: number
  /** Live connections in all, twice as many with those who have only one, and of one caller. */
  mostOpen: number
  mostOfOne: number
  /** Topics that one connection, and all connections of one caller, follow at once. */
  mostTopics: number
  mostTopicsOfOne: number
  /** How long a message to the server may be. */
  maxMessageBytes: number
  /** A message counts once, and once more for each further topic it names. */
  messagesPerSecond: number
  burst: number
  /** Nothing more is read for a connection with this much unread. */
  maxUnreadBytes: number
  /** After this time with so much unread, its topics end with a `gap`. */
  slowMs: number
  /** After this time it is closed. */
  stuckMs: number
}

export const SOCKET_LIMITS: SocketLimits = {
  pingMs: 30_000,
  mostOpen: 200,
  mostOfOne: 20,
  mostTopics: 50,
  mostTopicsOfOne: 100,
  maxMessageBytes: 32 * 1024,
  messagesPerSecond: 20,
  burst: 100,
  maxUnreadBytes: 256 * 1024,
  slowMs: 2000,
  stuckMs: 20_000,
}

/** Why a socket is closed. Numbers from 4000 on are ours, others are those of every WebSocket. */
export const CLOSED = {
  goingAway: 1001,
  misused: 1008,
  broken: 1011,
  badMessage: 4400,
  signedOut: 4401,
  refused: 4403,
  tooSlow: 4408,
  replaced: 4409,
  tooMany: 4429,
} as const
export type CloseCode = (typeof CLOSED)[keyof typeof CLOSED]

const CLOSE_MS = 500

/** Closes it, also if the other side does not answer. */
export function close(socket: WebSocket, code: CloseCode): void {
  socket.close(code)
  const timer = setTimeout(() => socket.terminate(), CLOSE_MS)
  socket.once('close', () => clearTimeout(timer))
}

/** A browser that does not answer is gone. Returns how to stop. */
export function keepAlive(socket: WebSocket, pingMs: number): () => void {
  let isAlive = true
  socket.on('pong', () => {
    isAlive = true
  })
  const timer = setInterval(() => {
    if (!isAlive) return socket.terminate()
    isAlive = false
    socket.ping()
  }, pingMs)
  return () => clearInterval(timer)
}

/** Lets so many pass per second, and `burst` at once after a rest. */
export class Allowance {
  readonly #perMs: number
  readonly #most: number
  #left: number
  #at: number

  constructor({ messagesPerSecond, burst }: Pick<SocketLimits, 'messagesPerSecond' | 'burst'>, nowMs: number) {
    this.#perMs = messagesPerSecond / 1000
    this.#most = burst
    this.#left = burst
    this.#at = nowMs
  }

  take(count: number, nowMs: number): boolean {
    this.#left = Math.min(this.#most, this.#left + (nowMs - this.#at) * this.#perMs) - count
    this.#at = nowMs
    return this.#left >= 0
  }
}
