import type { SSEServerTransport } from '@modelcontextprotocol/sdk/server/sse.js'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { Forbidden, InvalidInput, NotFound } from '../../domain/errors.ts'
import type { Fleet } from '../../fleet/fleet.ts'
import { noteRefusal } from '../../operations/auditing.ts'
import { isPrincipal, mayUse } from '../../operations/authorize.ts'
import { operationNamed } from '../../operations/index.ts'
import { actorNamed } from '../../operations/inputs.ts'
import type { Caller } from '../../operations/operation.ts'
import type { Explain } from '../answers.ts'
import { fromOf } from '../from.ts'
import { idempotencyKey } from '../key.ts'
import { endWithSignOut } from '../routes.ts'
import { type Asking, loadSdk } from './answering.ts'
import { refusesInProtocol } from './errors.ts'
import { type Message, notAMessage, unknownMethod } from './messages.ts'
import type { Offer } from './offer.ts'
import { protocolServer } from './protocol.ts'
import { declaresForms, newSessionId, OpenRequests, sessionShowsForms } from './requests.ts'

export interface Endpoint {
  path: `/${string}`
  /** What this caller is offered, or a refusal. */
  offer(caller: Caller, request: FastifyRequest): Offer
  /** Whether it is also at `<path>/sse` and `<path>/messages`, for clients of the protocol's first version. */
  legacySse?: boolean
}

export interface McpServing {
  explain: Explain
  /** Aborted to end each open stream and each call. */
  openStreams: Set<AbortController>
  fleet: Fleet
}

/** How often an idle connection is written to, so that one whose other end has vanished is noticed. */
const SIGN_OF_LIFE_MS = 15_000
/** A client that lets more than this pile up does not read, and is cut off. */
const MAX_UNREAD_BYTES = 16 * 1024 * 1024

const SESSION = 'mcp-session-id'

/** No page of ours uses this protocol, so a browser's proof is not accepted. */
const TOKEN_ONLY = { tokenOnly: true }

/** Streamable HTTP without sessions: every request is independent, so a restarted server answers the next one. */
export function addMcp(app: FastifyInstance, endpoint: Endpoint, serving: McpServing): void {
  const requests = new OpenRequests()
  const inProtocol = { config: TOKEN_ONLY, errorHandler: refusesInProtocol(serving.explain) }
  app.post(endpoint.path, inProtocol, async (request, reply) => {
    const sdk = await loadSdk()
    const wrong = notAMessage(sdk, request.body)
    if (wrong) return reply.code(400).send(wrong)
    const unknown = unknownMethod(request.body)
    if (unknown) return reply.send(unknown)
    if (requests.take(request.body)) return reply.code(202).send()
    const offer = offerTo(endpoint, request)
    // The caller is gone already, and no `close` event will say so.
    if (reply.raw.destroyed) return reply.hijack()
    const transport = new sdk.WebStandardStreamableHTTPServerTransport({
      enableJsonResponse: !takesLong(request.body, offer),
    })
    const server = protocolServer(sdk, offer, asking(request, reply, serving, requests))
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
    if (!response) return reply.hijack()
    if (declaresForms((request.body as Message).params?.capabilities)) response.headers.set(SESSION, newSessionId())
    return reply.send(response)
  })
  if (endpoint.legacySse) addLegacySse(app, endpoint, serving, requests)
}

const offerTo = (endpoint: Endpoint, request: FastifyRequest): Offer => endpoint.offer(request.asker!.caller, request)

function asking(
  request: FastifyRequest,
  reply: FastifyReply,
  { explain, openStreams, fleet }: McpServing,
  requests: OpenRequests,
): Asking {
  const closing = new AbortController()
  openStreams.add(closing)
  const stopLooking = endWithSignOut(fleet, request.asker!.caller, closing)
  reply.raw.once('close', () => {
    openStreams.delete(closing)
    stopLooking()
  })
  const { caller } = request.asker!
  const from = fromOf(request)
  return {
    ...{ caller, from, explain, closing: closing.signal, key: keyOf(request), requests },
    notOffered: async name => {
      const operation = operationNamed(name)
      if (operation && !mayUse(operation, caller))
        await noteRefusal({ fleet, caller, from }, name, {}, new Forbidden('This tool is not offered.'))
    },
    showsForms: sessionShowsForms(request.headers[SESSION]),
  }
}

/** With one key for many calls, all but the first would count as repeats. */
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

/** The answer must be a stream if the called tool sends more than its answer. */
function takesLong(body: unknown, { tools }: Offer): boolean {
  const called = ([body].flat() as (Message | undefined)[])
    .filter(message => message?.method === 'tools/call')
    .map(message => message?.params?.name)
  return tools.some(({ name, long }) => long && called.includes(name))
}

/** A token that has less than its person must not use what another of theirs opened. */
const identityOf = (caller: Caller): string =>
  `${actorNamed(caller)} ${isPrincipal(caller) ? (caller.token ?? '') : ''}`

function addLegacySse(app: FastifyInstance, endpoint: Endpoint, serving: McpServing, requests: OpenRequests): void {
  const open = new Map<string, { transport: SSEServerTransport; whose: string }>()
  const messages = `${endpoint.path}/messages`

  app.get(`${endpoint.path}/sse`, { config: TOKEN_ONLY }, async (request, reply) => {
    const offer = offerTo(endpoint, request)
    const sdk = await loadSdk()
    const response = reply.hijack().raw
    if (response.destroyed) return
    for (const [name, value] of Object.entries(reply.getHeaders())) response.setHeader(name, value as string)
    const transport = new sdk.SSEServerTransport(messages, response)
    const about = asking(request, reply, serving, requests)
    const signOfLife = setInterval(() => response.write(':\n\n'), SIGN_OF_LIFE_MS)
    response.once('close', () => {
      clearInterval(signOfLife)
      open.delete(transport.sessionId)
    })
    about.closing.addEventListener('abort', () => void transport.close(), { once: true })
    open.set(transport.sessionId, { transport, whose: identityOf(request.asker!.caller) })
    const send = transport.send.bind(transport)
    transport.send = async message => {
      await send(message)
      if (response.writableLength > MAX_UNREAD_BYTES) response.destroy()
    }
    await protocolServer(sdk, offer, about).connect(transport)
  })

  const inProtocol = { config: TOKEN_ONLY, errorHandler: refusesInProtocol(serving.explain) }
  app.post(messages, inProtocol, async (request, reply) => {
    const { sessionId } = request.query as { sessionId?: unknown }
    const { transport, whose } = open.get(String(sessionId)) ?? {}
    if (request.asker!.caller.kind === 'session' || (whose && whose !== identityOf(request.asker!.caller)))
      throw new Forbidden('This stream belongs to someone else.')
    if (!transport)
      throw new NotFound('open stream', String(sessionId), { try: `Open GET ${endpoint.path}/sse again.` })
    const wrong = notAMessage(await loadSdk(), request.body)
    if (wrong) return reply.code(400).send(wrong)
    if (!requests.take(request.body)) await transport.handleMessage(request.body)
    return reply.code(202).send()
  })
}
