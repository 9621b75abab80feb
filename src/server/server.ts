import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import type { ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { networkInterfaces } from 'node:os'
import { setTimeout as passed } from 'node:timers/promises'
import Fastify, { type FastifyInstance } from 'fastify'
import { InvalidInput } from '../domain/errors.ts'
import type { Fleet } from '../fleet/fleet.ts'
import { actorNamed } from '../operations/inputs.ts'
import type { Operation } from '../operations/operation.ts'
import { signInUrl } from '../platform/tokens.ts'
import { type Trusted, trustedAt } from './addresses.ts'
import { answerErrors, BODY_LIMIT_BYTES, type Explain, explainer, sendAnswer } from './answers.ts'
import { addClaudeFleet } from './claude-fleet.ts'
import { addExchange } from './exchange.ts'
import { addForwarded } from './forwarded.ts'
import { guard } from './guard.ts'
import { rawAnswer, SECURITY_HEADERS } from './headers.ts'
import { Limits } from './limits.ts'
import { requireSafeAddress, whyNotListening } from './listening.ts'
import { type Log, openLog } from './log.ts'
import { addMcp, type Endpoint } from './mcp/index.ts'
import { addWatching, countUnroutable, measureRequests } from './metrics.ts'
import { addOpenapi } from './openapi.ts'
import { inUrl, type OwnNames, ownNames, reachableAt } from './origin.ts'
import { addPages, errorPages } from './pages.ts'
import { digestOf, openProofs } from './proof.ts'
import { notHttp } from './refusals.ts'
import { addOperations } from './routes.ts'
import { SOCKET_LIMITS, type SocketLimits } from './socket-limits.ts'
import { addSockets } from './sockets.ts'
import { STREAM_LIMITS, type StreamLimits } from './sse.ts'
import { addTerminals } from './terminals.ts'

export interface ServerOptions {
  host?: string
  port: number
  /** Files in PEM form. */
  tlsCert?: string
  tlsKey?: string
  /** Other names for this server, such as that of a proxy. */
  allowedHosts?: readonly string[]
  /** Addresses and networks of proxies, which say whose request they pass on. */
  trustedProxies?: readonly string[]
  /** Listen for other machines even without TLS. */
  allowInsecure?: boolean
  streamLimits?: Partial<StreamLimits>
  socketLimits?: Partial<SocketLimits>
  /** The log for requests and errors; one per process, because the file is rotated when it is full. */
  log?: Log
  /** A line for a person: start, stop and unexpected errors. */
  say?: (line: string) => void
}

export interface Server {
  readonly url: string
  /** Where other machines reach it, the likeliest first; empty if it is for this machine only. */
  readonly reachableAt: readonly string[]
  /** An address that signs one browser in, once, within ten minutes. */
  signInUrl(): Promise<string>
  close(): Promise<void>
}

/** How long open requests may take to finish once the server closes. */
const CLOSE_GRACE_MS = 2000
/** How long a request may take to arrive; its answer, such as a stream, may take any time. */
const REQUEST_TIMEOUT_MS = 60_000
/** As long as an address can be, so that the guard comes first and the schema then refuses what is too long. */
const MAX_PARAM_LENGTH = 16 * 1024

/** Offers the operations over HTTP. It keeps nothing in memory that a restart would lose. */
export async function serve(
  fleet: Fleet,
  operations: readonly Operation[],
  options: ServerOptions,
  endpoints: readonly Endpoint[] = [],
): Promise<Server> {
  const { host = '127.0.0.1', port, allowedHosts = [], allowInsecure = false } = options
  const https = readTls(options)
  const tls = https !== null
  requireSafeAddress({ host, tls, allowInsecure })

  const say = options.say ?? (line => process.stderr.write(`fleet: ${line}\n`))
  const log = options.log ?? (await openLog(fleet))
  const explain = explainer(log, say, code => fleet.measurements.refusals.add(code))
  const openStreams = new Set<AbortController>()
  let own: OwnNames = ownNames({ host, port, tls, allowedHosts })

  const isTrusted = trustedAt(options.trustedProxies ?? [])
  const app = makeApp(https, explain, fleet, isTrusted)
  const underWay = requestsUnderWay(app)
  acceptJsonOnly(app)
  logRequests(app, log)
  measureRequests(app, fleet, operations)
  const proofs = openProofs(fleet)
  answerErrors(app, explain, errorPages(fleet, proofs))
  const limits = new Limits()
  guard(app, fleet, proofs, limits, () => own)
  addWatching(app, fleet)
  addPages(app, { fleet, proofs, limits, log })
  addExchange(app, { fleet, limits })
  addClaudeFleet(app, { fleet, explain })
  addTerminals(app, { fleet, limits })
  addForwarded(app, operations, fleet)
  addOpenapi(app, operations)
  addOperations(app, operations, {
    fleet,
    explain,
    streamLimits: { ...STREAM_LIMITS, ...options.streamLimits },
    openStreams,
    limits,
  })
  addSockets(app.server, {
    fleet,
    own: () => own,
    isTrusted,
    limits: { ...SOCKET_LIMITS, ...options.socketLimits },
    rates: limits,
    openStreams,
    explain,
    log,
  })
  for (const endpoint of endpoints) addMcp(app, endpoint, { explain, openStreams, fleet })

  await app.listen({ host, port }).catch(error => {
    throw whyNotListening(error, { host, port, tls }) ?? error
  })
  const actualPort = (app.server.address() as AddressInfo).port
  own = ownNames({ host, port: actualPort, tls, allowedHosts })
  const url = `${tls ? 'https' : 'http'}://${inUrl(['0.0.0.0', '::'].includes(host) ? 'localhost' : host)}:${actualPort}`
  log.info({ url }, 'listening')
  say(`listening on ${url}`)

  return {
    url,
    reachableAt: reachableAt({ host, port: actualPort, tls, allowedHosts }, addressesOfThisMachine()),
    signInUrl: () => signInUrl(fleet.keys, url, Date.parse(fleet.now())),
    async close() {
      for (const stream of openStreams) stream.abort()
      const closed = app.close()
      await Promise.race([underWay.over(), passed(CLOSE_GRACE_MS, undefined, { ref: false })])
      // Includes connections that a browser opened in advance and never used; close would wait for them.
      app.server.closeAllConnections()
      await closed
      log.info('closed')
      say('closed')
    },
  }
}

/** Addresses that a phone in the same network can reach; link-local ones mean nothing elsewhere. */
function addressesOfThisMachine(): string[] {
  const all = Object.values(networkInterfaces()).flatMap(each => each ?? [])
  const outside = all.filter(({ internal, address }) => !internal && !address.startsWith('fe80:'))
  return outside.toSorted((a, b) => a.family.localeCompare(b.family)).map(({ address }) => address)
}

function requestsUnderWay(app: FastifyInstance): { over(): Promise<unknown> } {
  const responses = new Set<ServerResponse>()
  app.server.on('request', (_, response: ServerResponse) => {
    responses.add(response)
    response.once('close', () => responses.delete(response))
  })
  return { over: () => Promise.all(Array.from(responses, response => once(response, 'close'))) }
}

interface Tls {
  cert: Buffer
  key: Buffer
}

function makeApp(https: Tls | null, explain: Explain, fleet: Fleet, isTrusted: Trusted): FastifyInstance {
  return Fastify({
    https,
    trustProxy: isTrusted,
    logger: false,
    bodyLimit: BODY_LIMIT_BYTES,
    exposeHeadRoutes: false,
    forceCloseConnections: 'idle',
    requestTimeout: REQUEST_TIMEOUT_MS,
    routerOptions: { maxParamLength: MAX_PARAM_LENGTH },
    // No route has a schema of Fastify's. Without these, its compilers are loaded: the largest part of it.
    schemaController: { compilersFactory: { buildValidator: unused, buildSerializer: unused } },
    frameworkErrors: (error, _, reply) => {
      const answer = explain(error, 'the router')
      countUnroutable(fleet, answer.status)
      return sendAnswer(reply.headers(SECURITY_HEADERS), answer)
    },
    clientErrorHandler(error, socket) {
      if (error.code === 'ECONNRESET' || socket.destroyed) return
      const { status, body } = explain(notHttp(error), 'a connection')
      countUnroutable(fleet, status)
      socket.end(rawAnswer(status, body), () => socket.destroy())
    },
  }) as FastifyInstance
}

const unused = (): never => {
  throw new Error('operations check their input themselves')
}

/** A form on a foreign page can send text/plain without asking first; it cannot send JSON. */
function acceptJsonOnly(app: FastifyInstance): void {
  const parse = app.getDefaultJsonParser('error', 'error')
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('application/json', { parseAs: 'string' }, (request, body: string, done) => {
    if (body && request.asker?.by === 'proof') request.bodyDigest = digestOf(body)
    if (body === '') done(null, undefined)
    else parse(request, body, done)
  })
}

/** Logs changes and refusals, but no headers, bodies or query strings. */
function logRequests(app: FastifyInstance, log: Log): void {
  app.addHook('onResponse', async (request, reply) => {
    if (request.method === 'GET' && reply.statusCode < 400) return
    const { method, asker } = request
    const actor = asker && actorNamed(asker.caller)
    const by = actor === 'person' ? 'owner' : actor
    log.info(
      { method, path: loggedPath(request.url), status: reply.statusCode, ms: Math.round(reply.elapsedTime), by },
      'request',
    )
  })
}

/** An address without its query. What is neither a word nor an id in it may be anything, such as a password. */
const loggedPath = (url: string): string =>
  url
    .split('?')[0]!
    .split('/')
    .map(part => (/^[\w.:@-]{0,64}$/.test(part) ? part : '[hidden]'))
    .join('/')

function readTls({ tlsCert, tlsKey }: ServerOptions): Tls | null {
  if (tlsCert === undefined && tlsKey === undefined) return null
  return { cert: readPem('tls-cert', tlsCert), key: readPem('tls-key', tlsKey) }
}

function readPem(option: string, path: string | undefined): Buffer {
  if (path === undefined) throw new InvalidInput(option, 'is missing; the certificate and its key go together')
  try {
    return readFileSync(path)
  } catch (error) {
    throw new InvalidInput(option, `${path} cannot be read: ${(error as Error).message}`)
  }
}
