import { randomBytes } from 'node:crypto'
import type { Principal } from '../../domain/records/principal.ts'

/** A ticket opens one connection, once, within this time. */
export const TICKET_LASTS_MS = 30_000
/** More than this many unused tickets are no longer one person's. The oldest ends. */
const MOST_UNUSED = 100

/** What a ticket opens, and how whoever asked for it is signed in. */
export interface Grant {
  mission_id: string
  /** The browser, where it has a name. */
  device: string | undefined
  token?: string
  expires_at?: string | null
  /** The roles they had. With others, the connection ends. */
  since?: Principal['grants']
}

/** Tickets for live connections. They are in memory only: those of an earlier run are not valid. */
export class Tickets {
  readonly #unused = new Map<string, { grant: Grant; until: number }>()

  issue(grant: Grant, nowMs: number): { ticket: string; expires_at: string } {
    for (const [ticket, { until }] of this.#unused) if (until <= nowMs) this.#unused.delete(ticket)
    const [oldest] = this.#unused.keys()
    if (oldest && this.#unused.size >= MOST_UNUSED) this.#unused.delete(oldest)
    const ticket = randomBytes(32).toString('base64url')
    const until = nowMs + TICKET_LASTS_MS
    this.#unused.set(ticket, { grant, until })
    return { ticket, expires_at: new Date(until).toISOString() }
  }

  /** Undefined: it was used, is too old, or never was. */
  take(ticket: string, nowMs: number): Grant | undefined {
    const found = this.#unused.get(ticket)
    this.#unused.delete(ticket)
    return found && found.until > nowMs ? found.grant : undefined
  }
}
