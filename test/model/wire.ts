import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Turn } from './scenario.ts'

/** A request for a model turn, whatever the wire format. */
export interface Asked {
  /** All user text, oldest first, each with the number of model turns that came after it. */
  said: { text: string; turnsAfter: number }[]
  /** Names of the tools the client offers. */
  tools: string[]
}

export interface Call {
  name: string
  input: Record<string, unknown>
}

/** How one vendor's protocol is spoken. */
export interface Wire {
  /** Requests for a model turn; anything else on the wire goes to `aside`. */
  isTurn(method: string, path: string): boolean
  /** Small questions beside the turns, such as the list of models; undefined: not known. */
  aside(method: string, path: string, body: unknown): unknown
  asked(body: unknown): Asked
  /** How the step is done with the tools offered; undefined where the turn calls none. */
  call(turn: Turn, tools: readonly string[]): Call | undefined
  reply(request: IncomingMessage, response: ServerResponse, body: unknown, turn: Turn, call: Call | undefined): void
  fail(response: ServerResponse, status: number, retryAfter: number | undefined): void
}
