import type { Sdk } from './answering.ts'
import { CODES, errorAnswer } from './errors.ts'

export interface Message {
  id?: string | number
  method?: string
  params?: { name?: string; capabilities?: unknown }
}

/** Refuses a body in which something is no message of the protocol. Then nothing in it is carried out. */
export function notAMessage(sdk: Sdk, body: unknown): object | undefined {
  if (body === undefined) return errorAnswer(null, CODES.parseError, 'This is not JSON: it is empty.')
  const messages = Array.isArray(body) ? body : [body]
  if (!messages.length) return errorAnswer(null, CODES.invalidRequest, 'This batch is empty.')
  const wrong = messages.findIndex(message => !sdk.JSONRPCMessageSchema.safeParse(message).success)
  if (wrong < 0) return undefined
  const { id } = (messages[wrong] ?? {}) as { id?: unknown }
  const which = Array.isArray(body) ? `Message ${wrong + 1} of this batch` : 'This'
  return errorAnswer(
    typeof id === 'string' || typeof id === 'number' ? id : null,
    CODES.invalidRequest,
    `${which} is neither a request, nor a notification, nor an answer of JSON-RPC 2.0.`,
  )
}

const METHODS =
  /^(initialize|ping|notifications\/.+|(tools|prompts|resources|resources\/templates)\/list|tools\/call|prompts\/get|resources\/read|completion\/complete)$/

/** Newer clients first try methods of newer protocols, with headers to match, and wait for a refusal. */
export function unknownMethod(body: unknown): object | undefined {
  const { id, method } = (body ?? {}) as Message
  if (id === undefined || typeof method !== 'string' || METHODS.test(method)) return undefined
  return errorAnswer(id, CODES.methodNotFound, `There is no method ${method} here.`)
}
