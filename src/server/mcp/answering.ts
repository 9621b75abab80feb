import type { RequestHandlerExtra } from '@modelcontextprotocol/sdk/shared/protocol.js'
import type { ServerNotification, ServerRequest } from '@modelcontextprotocol/sdk/types.js'
import type { Caller, From } from '../../operations/operation.ts'
import { parseInput } from '../../operations/shape.ts'
import type { Explain } from '../answers.ts'
import type { OpenRequests } from './requests.ts'

export interface Asking {
  caller: Caller
  from: From
  /** Notes a call of a tool that this caller is not offered. */
  notOffered(tool: string): Promise<void>
  explain: Explain
  /** Aborted when the server stops. */
  closing: AbortSignal
  key?: string
  /** Whether the client shows forms to its person. */
  showsForms: boolean
  requests: OpenRequests
}

export type Sdk = typeof import('./sdk.ts')
export const loadSdk = (): Promise<Sdk> => import('./sdk.ts')

/** The context of one request. */
export type Extra = RequestHandlerExtra<ServerRequest, ServerNotification>
/** Sends a message to the client on the stream of this request. */
export type Send = (message: object, extra: Extra) => Promise<void>
/** Answers one method. */
export type Answer = (request: object, extra: Extra) => Promise<object>
export type Answers = Record<string, Answer>

interface RequestSchema<P> {
  safeParse(request: unknown): { success: boolean; data?: { params?: P } }
}

/** Answers requests of this form. Any other form is refused, and the refusal names the field. */
export const answering =
  <P>(schema: RequestSchema<P>, run: (params: P, extra: Extra) => object | Promise<object>): Answer =>
  async (request, extra) => {
    const { params } = parseInput({ input: schema as never }, request) as { params: P }
    return run(params, extra)
  }
