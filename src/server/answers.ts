import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { Unauthorized } from '../domain/errors.ts'
import { newId } from '../domain/ids.ts'
import type { Log } from './log.ts'
import { asRefusal, errorBody, MethodNotAllowed, NoSuchAddress } from './refusals.ts'

/** The most a body may have unless its operation says otherwise; the longest field, a prompt, has a million characters. */
export const BODY_LIMIT_BYTES = 2 * 1024 * 1024

export interface Answer {
  status: number
  body: { error: Record<string, unknown> }
}

/** Turns an error into an answer. An unexpected one is only in the log, under the id that the caller gets. */
export type Explain = (error: unknown, where: string, bodyBytes?: number) => Answer

export function explainer(log: Log, say: (line: string) => void, count: (code: string) => void = () => {}): Explain {
  return (error, where, bodyBytes = BODY_LIMIT_BYTES) => {
    const refusal = asRefusal(error, bodyBytes)
    count(refusal?.code ?? 'internal')
    if (refusal) return { status: refusal.status, body: errorBody(refusal) }
    const id = newId()
    log.error({ id, where, err: error }, 'unexpected error')
    say(`error ${id} in ${where}; details are in the log`)
    const message = 'Something went wrong inside the server.'
    return {
      status: 500,
      body: { error: { code: 'internal', message, id, try: `Look for ${id} in logs/server.log of the home.` } },
    }
  }
}

/** What a browser shows instead of an answer for programs. */
export interface ErrorPages {
  signedOut(): string
  nothingHere(): string
}

const HTML = 'text/html; charset=utf-8'

/** A person typed the address or followed a link: no program reads the answer. */
const isTyped = ({ method, headers }: FastifyRequest): boolean =>
  method === 'GET' && headers['sec-fetch-mode'] === 'navigate'

/** Answers errors, unknown addresses and wrong methods in the same way. */
export function answerErrors(app: FastifyInstance, explain: Explain, pages: ErrorPages): void {
  const methods = new Map<string, string[]>()
  app.addHook('onRoute', ({ url, method }) => {
    methods.set(url, [...(methods.get(url) ?? []), ...[method].flat()])
  })

  app.setErrorHandler((error, request, reply) => {
    const { page = isTyped(request) } = request.routeOptions.config ?? {}
    // At an unknown address signing in would not help, and a browser that follows a link sends no proof.
    if (page && (error instanceof NoSuchAddress || (error instanceof Unauthorized && request.is404)))
      return reply.code(404).type(HTML).send(pages.nothingHere())
    if (page && error instanceof Unauthorized) return reply.code(401).type(HTML).send(pages.signedOut())
    const { url = 'an unknown address', bodyLimit } = request.routeOptions
    return sendAnswer(reply, explain(error, `${request.method} ${url}`, bodyLimit))
  })

  app.setNotFoundHandler((request, reply) => {
    const path = request.url.split('?')[0]!
    const allowed = [...methods].find(([url]) => matches(url, path))?.[1]
    if (!allowed) throw new NoSuchAddress(request.method, path)
    reply.header('allow', allowed.join(', '))
    throw new MethodNotAllowed(request.method, path, allowed)
  })
}

export function sendAnswer(reply: FastifyReply, { status, body }: Answer): FastifyReply {
  if (status === 401) reply.header('www-authenticate', 'Bearer')
  if (status === 429 || body.error.retry_after_seconds)
    reply.header('retry-after', String(body.error.retry_after_seconds ?? 1))
  return reply.code(status).type('application/json; charset=utf-8').send(JSON.stringify(body))
}

function matches(pattern: string, path: string): boolean {
  const [wanted, given] = [pattern.split('/'), path.split('/')]
  return (
    wanted.length === given.length &&
    wanted.every((part, at) => part === given[at] || (part.startsWith(':') && given[at] !== ''))
  )
}
