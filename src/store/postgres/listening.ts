import pg from 'pg'
import type { Connection } from './connection.ts'

/** Commits of other processes are announced. In case one gets lost, or the process died before it announced it: */
const LOOK_EVERY_MS = 1000
/** Where announcements do not get through, as behind PgBouncer in transaction mode. */
const LOOK_OFTEN_MS = 200
/** How long an announcement of our own may take to come back. */
const HEARD_MS = 2000
const CONNECT_AGAIN_MS = 1000

/**
 * Notices commits of other processes: through LISTEN on a connection of its own, and by looking at the number of
 * commits now and then.
 */
export class Listening {
  readonly #connection: Connection
  readonly #channel: string
  readonly #hint: () => void
  #client: pg.Client | undefined
  #isHeard = false
  #seen: string | undefined
  #timer: NodeJS.Timeout | undefined
  #again: NodeJS.Timeout | undefined
  #isOver = false

  constructor(connection: Connection, channel: string, hint: () => void) {
    this.#connection = connection
    this.#channel = channel
    this.#hint = hint
    void this.#listen()
    void this.#look()
  }

  /** Whether announcements get through. */
  get isHeard(): boolean {
    return this.#isHeard
  }

  stop(): void {
    this.#isOver = true
    clearTimeout(this.#timer)
    clearTimeout(this.#again)
    this.#close()
  }

  async #look(): Promise<void> {
    try {
      const [row] = await this.#connection.read<{ commits: string }>(
        `SELECT commits FROM ${this.#connection.address.schema}.store`,
      )
      if (this.#seen !== undefined && row?.commits !== this.#seen) this.#hint()
      this.#seen = row?.commits
    } catch {
      // Everybody who asks is told that the store is away.
    }
    if (this.#isOver) return
    this.#timer = setTimeout(() => void this.#look(), this.#isHeard ? LOOK_EVERY_MS : LOOK_OFTEN_MS).unref()
  }

  async #listen(): Promise<void> {
    if (this.#isOver) return
    const client = new pg.Client(this.#connection.address.client)
    this.#client = client
    client.on('error', () => this.#lost(client))
    client.on('end', () => this.#lost(client))
    client.on('notification', () => {
      if (this.#client !== client) return
      this.#isHeard = true
      this.#hint()
    })
    try {
      await client.connect()
      await client.query(`LISTEN ${this.#channel}`)
      // A pooler may swallow announcements. One of our own shows whether they arrive.
      await this.#connection.read('SELECT pg_notify($1, $2)', [this.#channel, ''])
      this.#again = setTimeout(() => !this.#isHeard && this.#close(), HEARD_MS).unref()
    } catch {
      this.#lost(client)
    }
  }

  #lost(client: pg.Client): void {
    if (this.#client !== client) return
    this.#close()
    if (!this.#isOver) this.#again = setTimeout(() => void this.#listen(), CONNECT_AGAIN_MS).unref()
  }

  #close(): void {
    const client = this.#client
    this.#client = undefined
    this.#isHeard = false
    client?.end().catch(() => {})
  }
}
