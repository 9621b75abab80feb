import { randomBytes } from 'node:crypto'

/** A ticket opens one connection, once, within this time. */
export const TICKET_LASTS_MS = 30_000
/** More unused tickets than these are no longer one caller's, or one server's. The oldest ends. */
const MOST_OF_ONE = 20
const MOST_UNUSED = 1000

/** What a ticket opens. `by` names whoever asked for it. */
export type Grant = { by: string } /** `caller` is whoever asked, as the operations know them. */ & (
  | { opens: 'terminal'; mission_id: string; caller: unknown }
  | { opens: 'topics'; caller: unknown }
)

/** Tickets for live connections. They are in memory only: those of an earlier run are not valid. */
export class Tickets {
  readonly #unused = new Map<string, { grant: Grant; until: number }>()

  issue(grant: Grant, nowMs: number): { ticket: string; expires_at: string } {
    for (const [ticket, { until }] of this.#unused) if (until <= nowMs) this.#unused.delete(ticket)
    const own = [...this.#unused].filter(([, unused]) => unused.grant.by === grant.by).map(([ticket]) => ticket)
    if (own[0] && own.length >= MOST_OF_ONE) this.#unused.delete(own[0])
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
