import { randomBytes } from 'node:crypto'

/** A ticket opens one connection, once, within this time. */
export const TICKET_LASTS_MS = 30_000
/** More than this many unused tickets are no longer one person's. The oldest ends. */
const MOST_UNUSED = 100

/** What a ticket opens, and the browser that asked for it, where it has a name. */
export interface Grant {
  mission_id: string
  device: string | undefined
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
