import type { ServerResponse } from 'node:http'
import type { Tokens, Turn } from './scenario.ts'

/** A request for a model turn in any wire format. */
export interface Asked {
  /** All user text, oldest first, each with the number of model turns that came after it. */
  said: { text: string; turnsAfter: number }[]
  /** Names of the tools the client offers. */
  tools: string[]
}

/** The protocol of one vendor. */
export interface Wire {
  /** Requests for a model turn; anything else on the wire goes to `aside`. */
  isTurn(method: string, path: string): boolean
  /** Answers small requests besides turns, such as the list of models; undefined: unknown. */
  aside(method: string, path: string, body: unknown): unknown
  asked(body: unknown): Asked
  /** Answers with the step in the client's own tools. Returns the usage that it reported. */
  reply(response: ServerResponse, body: unknown, turn: Turn): Tokens
  fail(response: ServerResponse, status: number, retryAfter: number | undefined): void
}
