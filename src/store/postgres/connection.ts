import { setTimeout as delay } from 'node:timers/promises'
import pg from 'pg'
import { Unavailable } from '../port.ts'
import type { Address } from './address.ts'
import { explained, isPassing } from './troubles.ts'

/** How long to go on trying while the server is away. Whoever asked gets an answer before they give up themselves. */
const PATIENCE_MS = 4000
const LONGEST_PAUSE_MS = 400
/** A connection that nobody used for this long is closed. */
const IDLE_MS = 30_000

/** Errors from before anything was sent to the server. */
const unsent = new WeakSet<object>()
export const wasSent = (error: unknown): boolean => !unsent.has(error as object)

/**
 * The connections of one process. Every statement stands alone and has no name, so that it also works through PgBouncer
 * in transaction mode.
 */
export class Connection {
  readonly address: Address
  readonly #pool: pg.Pool
  #isOpen = true

  constructor(address: Address) {
    this.address = address
    this.#pool = new pg.Pool({ ...address.client, max: address.poolSize, idleTimeoutMillis: IDLE_MS })
    // A connection that breaks at rest is replaced when it is needed.
    this.#pool.on('error', () => {})
    // One that breaks before whoever asked for it has it. Without a listener, that would end the process.
    this.#pool.on('connect', client => client.on('error', () => {}))
  }

  /** Runs a statement that may run twice, again and again while the server is away. */
  read<T extends pg.QueryResultRow>(text: string, values: unknown[] = []): Promise<T[]> {
    return this.patiently(() => this.once<T>(text, values))
  }

  /** Throws the error as it came: it says whether the statement may have been carried out. */
  async once<T extends pg.QueryResultRow>(text: string, values: unknown[]): Promise<T[]> {
    return this.lend(async client => (await client.query<T>(text, values)).rows)
  }

  /** Asks once, for what is of no use later. */
  async promptly<T extends pg.QueryResultRow>(text: string, values: unknown[], limitMs: number): Promise<T[]> {
    try {
      return await this.lend(async client => (await client.query<T>(text, values)).rows, limitMs)
    } catch (error) {
      throw explained(error, this.address)
    }
  }

  /** A connection for several statements. After an error it is closed: nobody knows in which state it is. */
  async lend<T>(act: (client: pg.PoolClient) => Promise<T>, limitMs = this.address.statementMs): Promise<T> {
    this.#requireOpen()
    const client = await this.#pool.connect().catch(error => {
      unsent.add(error)
      throw error
    })
    let fail: (error: Error) => void = () => {}
    const broken = new Promise<never>((_, reject) => {
      fail = reject
    })
    client.on('error', fail)
    let timer: NodeJS.Timeout | undefined
    const late = new Promise<never>((_, reject) => {
      timer = setTimeout(() => reject(new Error(`timeout after ${limitMs} ms`)), limitMs)
    })
    try {
      const result = await Promise.race([act(client), broken, late])
      client.off('error', fail)
      client.release()
      return result
    } catch (error) {
      // Its listener stays: a broken connection may fail more than once.
      client.release(true)
      throw error
    } finally {
      clearTimeout(timer)
    }
  }

  /** Tries again after errors that pass, and then says in words what is wrong. */
  async patiently<T>(run: () => Promise<T>): Promise<T> {
    const deadline = performance.now() + PATIENCE_MS
    for (let pause = 5; ; pause = Math.min(pause * 2, LONGEST_PAUSE_MS)) {
      try {
        return await run()
      } catch (error) {
        if (!this.#isOpen || !isPassing(error) || performance.now() + pause > deadline)
          throw explained(error, this.address)
      }
      await delay(pause * (0.5 + Math.random()))
    }
  }

  /** Stops taking statements, and waits for those that run. */
  async close(): Promise<void> {
    if (!this.#isOpen) return
    this.#isOpen = false
    await this.#pool.end()
  }

  #requireOpen(): void {
    if (!this.#isOpen) throw new Unavailable('The store is closed.', { try: 'fleet status' })
  }
}
