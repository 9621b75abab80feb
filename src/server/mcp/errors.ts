import type { FastifyReply, FastifyRequest } from 'fastify'
import { Refusal } from '../../domain/errors.ts'
import { type Explain, sendAnswer } from '../answers.ts'

/** The numbers of JSON-RPC and of the protocol. */
export const CODES = {
  parseError: -32700,
  invalidRequest: -32600,
  methodNotFound: -32601,
  invalidParams: -32602,
  internal: -32603,
  serverError: -32000,
  resourceNotFound: -32002,
} as const

/** The error that refuses a request. The SDK's own class would put the number before the sentence. */
export const rpcError = (code: number, message: string): Error => Object.assign(new Error(message), { code })

/** The refusal of a request that was understood. */
export function refused(explain: Explain, error: unknown, where: string): Error {
  if (error instanceof Error && typeof (error as { code?: unknown }).code === 'number') return error
  const { status, body } = explain(error, where)
  const code = status === 404 ? CODES.resourceNotFound : status < 500 ? CODES.invalidParams : CODES.internal
  return rpcError(code, inWords(body.error))
}

export const inWords = ({ message, try: hint }: Record<string, unknown>): string =>
  hint ? `${String(message).replace(/\w"?$/, '$&.')} ${hint}` : String(message)

type Id = string | number | null
export const errorAnswer = (id: Id, code: number, message: string, data?: object) => ({
  jsonrpc: '2.0' as const,
  id,
  error: { code, message, ...(data && { data }) },
})

/** Answers a refusal that comes before any message is read: the status is HTTP's, the body is JSON-RPC's. */
export const refusesInProtocol =
  (explain: Explain) =>
  (error: unknown, { method, routeOptions }: FastifyRequest, reply: FastifyReply): FastifyReply => {
    if (!(error instanceof Refusal) && (error as { statusCode?: number }).statusCode === 400)
      return sendAnswer(reply, { status: 400, body: errorAnswer(null, CODES.parseError, 'This is not JSON.') })
    const { status, body } = explain(error, `${method} ${routeOptions.url}`)
    const code = status === 400 ? CODES.invalidRequest : status < 500 ? CODES.serverError : CODES.internal
    const { message, ...data } = body.error
    return sendAnswer(reply, { status, body: errorAnswer(null, code, inWords(body.error), data) })
  }
