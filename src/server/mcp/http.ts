import type { SSEServerTransport } from '@modelcontextprotocol/sdk/server/sse.js'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { Forbidden, InvalidInput, NotFound } from '../../domain/errors.ts'
import type { Caller } from '../../operations/operation.ts'
import type { Explain } from '../answers.ts'
import { idempotencyKey } from '../key.ts'
import type { Offer } from './offer.ts'
import { type Asking, loadSdk, protocolServer } from './protocol.ts'

export interface Endpoint {
  path: `/${string}`
  /** What this asker is offered, or a refusal. */
  offer(caller: Caller, request: FastifyRequest): Offer
  /** Whether it is also at `<path>/sse` with `<path>/messages`, for clients of the protocol's first version. */
  legacySse?: boolean
}

export interface McpServing {
  explain: Explain
  /** Ends each open stream and each call under way. */
  openStreams: Set<AbortController>
}

/** Lets idle connections whose other end has vanished come to light. */
const SIGN_OF_LIFE_MS = 15_000
/** Who lets more than this pile up does not read, and is cut off. */
const MAX_UNREAD_BYTES = 16 * 1024 * 1024

/** No page of ours speaks this protocol. */
const TOKEN_ONLY = { config: { tokenOnly: true } }

/** Streamable HTTP without sessions: every request stands for itself, so a restarted server answers the next one. */
export function addMcp(app: FastifyInstance, endpoint: Endpoint, serving: McpServing): void {
  app.post(endpoint.path, TOKEN_ONLY, async (request, reply) => {
    const unknown = unknownMethod(request.body)
    if (unknown) return reply.send(unknown)
    const offer = offerTo(endpoint, request)
    const sdk = await loadSdk()
    // Nobody will say any more that this asker is gone.
    if (reply.raw.destroyed) return reply.hijack()
    const transport = new sdk.WebStandardStreamableHTTPServerTransport({
      enableJsonResponse: !takesLong(request.body, offer),
    })
    const server = protocolServer(sdk, offer, asking(request, reply, serving))
    const gone = new Promise<undefined>(resolve => {
      reply.raw.once('close', () => {
        resolve(undefined)
        void server.close()
      })
    })
    await server.connect(transport)
    const response = await Promise.race([
      transport.handleRequest(asWebRequest(request), { parsedBody: request.body }),
      gone,
    ])
    return response ? reply.send(response) : reply.hijack()
  })
  if (endpoint.legacySse) addLegacySse(app, endpoint, serving)
}

const offerTo = (endpoint: Endpoint, request: FastifyRequest): Offer => endpoint.offer(request.asker!.caller, request)

function asking(request: FastifyRequest, reply: FastifyReply, { explain, openStreams }: McpServing): Asking {
  const closing = new AbortController()
  openStreams.add(closing)
  reply.raw.once('close', () => openStreams.delete(closing))
  return { caller: request.asker!.caller, explain, closing: closing.signal, key: keyOf(request) }
}

/** With one key for many calls, all but the first would seem to have been made before. */
function keyOf(request: FastifyRequest): string | undefined {
  const key = idempotencyKey(request)
  if (key !== undefined && Array.isArray(request.body))
    throw new InvalidInput('Idempotency-Key', 'is for one call', { try: 'Send the calls one by one.' })
  return key
}

function asWebRequest(request: FastifyRequest): Request {
  const headers = Object.entries(request.headers).flatMap(([name, value]) =>
    [value ?? []].flat().map((each): [string, string] => [name, each]),
  )
  return new Request(new URL(request.url, 'http://fleet.invalid'), { method: request.method, headers })
}

interface Message {
  id?: string | number
  method?: string
  params?: { name?: string }
}

/** The answer has to be a stream if the tool that is called says more than its answer. */
function takesLong(body: unknown, { tools }: Offer): boolean {
  const called = ([body].flat() as (Message | undefined)[])
    .filter(message => message?.method === 'tools/call')
    .map(message => message?.params?.name)
  return tools.some(({ name, long }) => long && called.includes(name))
}

const METHODS =
  /^(initialize|ping|notifications\/.+|(tools|prompts|resources|resources\/templates)\/list|tools\/call|prompts\/get|resources\/read|completion\/complete)$/
const METHOD_NOT_FOUND = -32601

/** Newer clients first ask for methods of newer protocols, with headers to match, and wait until they are told no. */
function unknownMethod(body: unknown): object | undefined {
  const { id, method } = (body ?? {}) as Message
  if (id === undefined || typeof method !== 'string' || METHODS.test(method)) return undefined
  return { jsonrpc: '2.0', id, error: { code: METHOD_NOT_FOUND, message: `There is no method ${method} here.` } }
}

function addLegacySse(app: FastifyInstance, endpoint: Endpoint, serving: McpServing): void {
  const open = new Map<string, SSEServerTransport>()
  const messages = `${endpoint.path}/messages`

  app.get(`${endpoint.path}/sse`, TOKEN_ONLY, async (request, reply) => {
    const offer = offerTo(endpoint, request)
    const sdk = await loadSdk()
    const response = reply.hijack().raw
    if (response.destroyed) return
    for (const [name, value] of Object.entries(reply.getHeaders())) response.setHeader(name, value as string)
    const transport = new sdk.SSEServerTransport(messages, response)
    const about = asking(request, reply, serving)
    const signOfLife = setInterval(() => response.write(':\n\n'), SIGN_OF_LIFE_MS)
    response.once('close', () => {
      clearInterval(signOfLife)
      open.delete(transport.sessionId)
    })
    about.closing.addEventListener('abort', () => void transport.close(), { once: true })
    open.set(transport.sessionId, transport)
    const send = transport.send.bind(transport)
    transport.send = async message => {
      await send(message)
      if (response.writableLength > MAX_UNREAD_BYTES) response.destroy()
    }
    await protocolServer(sdk, offer, about).connect(transport)
  })

  app.post(messages, TOKEN_ONLY, async (request, reply) => {
    const { sessionId } = request.query as { sessionId?: unknown }
    if (request.asker!.caller.kind !== 'owner') throw new Forbidden('This stream belongs to someone else.')
    const transport = open.get(String(sessionId))
    if (!transport)
      throw new NotFound('open stream', String(sessionId), { try: `Open GET ${endpoint.path}/sse again.` })
    await transport.handleMessage(request.body).catch(() => {
      throw new InvalidInput('body', 'is not a message of the protocol')
    })
    return reply.code(202).send()
  })
}
