import { setTimeout as pause } from 'node:timers/promises'
import { WebSocket } from 'ws'
import type { Heard } from '../../src/server/topics.testkit.ts'

/** Follows one topic as a careful client does: it keeps its last cursor, and comes back with it whenever it is cut off. */
export class Follower {
  readonly topic: string
  /** Everything that happened, in the order in which it came. */
  readonly seen: Heard[] = []
  readonly refused: Heard[] = []
  connections = 0
  #cursor: string | null
  #socket: WebSocket | undefined
  #isOver = false
  readonly #where: () => { url: string; token: string }

  constructor(topic: string, where: () => { url: string; token: string }, after: string | null = null) {
    this.topic = topic
    this.#where = where
    this.#cursor = after
  }

  /** Whether it has a place to come back to. */
  get hasCursor(): boolean {
    return this.#cursor !== null
  }

  async run(): Promise<void> {
    while (!this.#isOver) {
      await this.#connection()
      await pause(10)
    }
  }

  /** The connection breaks; what is on its way is lost. */
  get isConnected(): boolean {
    return this.#socket?.readyState === WebSocket.OPEN
  }

  cut(): void {
    this.#socket?.terminate()
  }

  end(): void {
    this.#isOver = true
    this.cut()
  }

  #connection(): Promise<void> {
    const { url, token } = this.#where()
    const socket = new WebSocket(`${url.replace('http', 'ws')}/ws`, { headers: { authorization: `Bearer ${token}` } })
    this.#socket = socket
    return new Promise(resolve => {
      socket.on('error', () => {})
      socket.on('close', () => resolve())
      socket.on('open', () => {
        this.connections++
        socket.send(
          JSON.stringify({ type: 'subscribe', topics: [this.topic], ...(this.#cursor && { after: this.#cursor }) }),
        )
      })
      socket.on('message', data => {
        // What arrives after the connection was cut was lost on its way.
        if (socket.readyState === WebSocket.OPEN) this.#hear(JSON.parse(data.toString()))
      })
    })
  }

  #hear(message: Heard): void {
    if (message.type === 'refused') this.refused.push(message)
    else if (message.type === 'subscribed') this.#cursor = message.topics[0].cursor
    else {
      if (message.type === 'gap') this.cut()
      else this.seen.push(message)
      this.#cursor = message.cursor
    }
  }
}
