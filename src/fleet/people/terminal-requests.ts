import { createHash, randomBytes, randomInt } from 'node:crypto'

/** Letters that nobody takes for another one, and that make no words. */
const LETTERS = 'BCDFGHJKLMNPQRSTVWXZ'
const CODE_LETTERS = 8
export const REQUEST_LASTS_MS = 10 * 60_000
export const POLL_EVERY_SECONDS = 5
const SLOWER_BY_SECONDS = 5
/** More than these are no people. The oldest ends. */
const MOST_OF_ADDRESS = 5
const MOST = 1000

/** A terminal that wants to be signed in, as the person sees it who decides. */
export interface TerminalRequest {
  name: string
  address: string
  at: string
}

/** Who allowed it: a person, or the owner of the home. */
export interface Allowed {
  principal: { id: string; epoch: number } | null
  actor: string
}

export type Polled =
  | { kind: 'pending' }
  | { kind: 'slow_down' }
  | { kind: 'expired' }
  | { kind: 'denied' }
  | { kind: 'allowed'; by: Allowed; name: string }

interface Waiting extends TerminalRequest {
  userCode: string
  untilMs: number
  everySeconds: number
  polledMs: number
  decision?: Allowed | 'denied'
}

const hashOf = (code: string): string => createHash('sha256').update(code).digest('base64url')

/** A code as it is compared: people type small letters, spaces and other dashes. */
const plain = (code: string): string => code.toUpperCase().replace(/[^A-Z]/g, '')

/**
 * Terminals that wait to be signed in (RFC 8628). In memory only, because strangers ask: after a restart a terminal
 * asks again.
 */
export class TerminalRequests {
  /** By the hash of the code that only the terminal knows. */
  readonly #waiting = new Map<string, Waiting>()

  begin(asked: TerminalRequest, nowMs: number): { deviceCode: string; userCode: string } {
    for (const [code, { untilMs }] of this.#waiting) if (untilMs <= nowMs) this.#waiting.delete(code)
    const same = [...this.#waiting].filter(([, { address }]) => address === asked.address)
    const [[oldest] = []] = same.length >= MOST_OF_ADDRESS ? same : this.#waiting.size >= MOST ? this.#waiting : []
    if (oldest) this.#waiting.delete(oldest)
    const deviceCode = randomBytes(32).toString('base64url')
    const letters = Array.from({ length: CODE_LETTERS }, () => LETTERS[randomInt(LETTERS.length)]).join('')
    const times = { untilMs: nowMs + REQUEST_LASTS_MS, everySeconds: POLL_EVERY_SECONDS, polledMs: 0 }
    this.#waiting.set(hashOf(deviceCode), { ...asked, userCode: letters, ...times })
    return { deviceCode, userCode: `${letters.slice(0, 4)}-${letters.slice(4)}` }
  }

  /** Undefined: there is none, it is too old, or somebody has decided. */
  find(userCode: string, nowMs: number): TerminalRequest | undefined {
    const found = this.#open(userCode, nowMs)
    return found && { name: found.name, address: found.address, at: found.at }
  }

  /** Decided once. Returns whether it was. */
  decide(userCode: string, decision: Allowed | 'denied', nowMs: number): boolean {
    const found = this.#open(userCode, nowMs)
    if (found) found.decision = decision
    return found !== undefined
  }

  /** The terminal asks what became of it. What was decided is told once. */
  poll(deviceCode: string, nowMs: number): Polled {
    const code = hashOf(deviceCode)
    const found = this.#waiting.get(code)
    if (!found || found.untilMs <= nowMs) return { kind: 'expired' }
    const { decision, name } = found
    if (decision) this.#waiting.delete(code)
    if (decision === 'denied') return { kind: 'denied' }
    if (decision) return { kind: 'allowed', by: decision, name }
    const tooSoon = nowMs - found.polledMs < found.everySeconds * 1000
    found.polledMs = nowMs
    if (!tooSoon) return { kind: 'pending' }
    found.everySeconds += SLOWER_BY_SECONDS
    return { kind: 'slow_down' }
  }

  #open(userCode: string, nowMs: number): Waiting | undefined {
    const wanted = plain(userCode)
    return this.#waiting
      .values()
      .find(each => each.userCode === wanted && each.untilMs > nowMs && each.decision === undefined)
  }
}
