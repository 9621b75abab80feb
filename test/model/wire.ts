import type { ServerResponse } from 'node:http'
import type { Tokens, Turn } from './scenario.ts'

/** A request for a model turn, whatever the wire format. */
export interface Asked {
  /** All user text, oldest first, each with the number of model turns that came after it. */
  said: { text: string; turnsAfter: number }[]
  /** Names of the tools the client offers. */
  tools: string[]
}

/** How one vendor's protocol is spoken. */
export interface Wire {
  /** Requests for a model turn; anything else on the wire goes to `aside`. */
  isTurn(method: string, path: string): boolean
  /** Small questions beside the turns, such as the list of models; undefined: not known. */
  aside(method: string, path: string, body: unknown): unknown
  asked(body: unknown): Asked
  /** The step, done with the client's own tools; and what the client was told that it used. */
  reply(response: ServerResponse, body: unknown, turn: Turn): Tokens
  fail(response: ServerResponse, status: number, retryAfter: number | undefined): void
}
