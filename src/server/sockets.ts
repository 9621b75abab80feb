import type { IncomingMessage, Server } from 'node:http'
import type { Duplex } from 'node:stream'
import type { WebSocket, WebSocketServer } from 'ws'
import { Forbidden, Refusal, Unauthorized } from '../domain/errors.ts'
import type { Fleet } from '../fleet/fleet.ts'
import type { Grant } from '../fleet/people/tickets.ts'
import { callerKey } from '../operations/live.ts'
import type { Caller } from '../operations/operation.ts'
import { addressOf, type Trusted } from './addresses.ts'
import type { Explain } from './answers.ts'
import { callerOf } from './auth.ts'
import { rawAnswer } from './headers.ts'
import type { Limits } from './limits.ts'
import type { Log } from './log.ts'
import { type OwnNames, requireOrigin, requireOwnHost, requireOwnOrigin } from './origin.ts'
import { errorBody, TooMany } from './refusals.ts'
import { CLOSED, type CloseCode, close, keepAlive, type SocketLimits } from './socket-limits.ts'
import { byTicket, byToken, type Standing, watchStanding } from './standing.ts'
import { showTerminal } from './terminal-socket.ts'
import { TopicSocket } from './topic-socket.ts'

interface Sockets {
  fleet: Fleet
  own: () => OwnNames
  isTrusted: Trusted
  limits: SocketLimits
  rates: Pick<Limits, 'require'>
  /** Ends every open stream. */
  openStreams: Set<AbortController>
  explain: Explain
  log: Log
}

/** Who may come in, and for what: the terminal of a mission, or topics. */
interface Admitted {
  caller: Caller
  address?: string
  standing: Standing
  mission_id?: string
}

const SOCKET_PATH = '/ws'
const PROTOCOL = 'fleet'
const TICKET = /^ticket\.([\w-]{43})$/
/** More than this is refused by the protocol itself, before it is read. */
const MOST_MESSAGE_BYTES = 64 * 1024

/**
 * Live connections at /ws. A page opens one with a ticket, which an operation gave to whoever may have it; it is sent as
 * a WebSocket protocol, because an address would be in logs. Other programs send their token as everywhere else.
 * Nothing is loaded before either is found valid.
 */
export function addSockets(
  server: Server,
  { fleet, own, isTrusted, limits, rates, openStreams, explain, log }: Sockets,
): void {
  let open = 0
  /** By caller. */
  const shares = new Map<string, { sockets: number; topics: number }>()
  let made: WebSocketServer | undefined
  // Other upgrades, such as to HTTP/2, are answered as ordinary requests where this version of Node can do that.
  Object.assign(server, { shouldUpgradeCallback: isWebSocket })

  const admit = async (request: IncomingMessage): Promise<Admitted> => {
    requireOwnHost(request, own())
    requireOwnOrigin(request, own())
    if (request.url !== SOCKET_PATH || !isWebSocket(request)) throw new NoSocket()
    const { authorization } = request.headers
    const admitted = authorization === undefined ? await withTicket(request) : await withToken(authorization)
    rates.require(admitted.caller)
    // A few who hold all of them keep nobody out who has none.
    const most = shares.has(callerKey(admitted.caller)) ? limits.mostOpen : 2 * limits.mostOpen
    if (open >= most) throw new TooMany('Too many live connections are open.')
    return { ...admitted, address: addressOf(request, isTrusted) }
  }

  const withToken = async (authorization: string): Promise<Admitted> => {
    const caller = await callerOf(fleet, authorization)
    return { caller, standing: byToken(fleet, authorization, caller) }
  }

  const withTicket = async (request: IncomingMessage): Promise<Admitted> => {
    const protocols = protocolsOf(request)
    const [, ticket] = protocols.map(each => TICKET.exec(each)).find(found => found) ?? []
    if (!ticket || !protocols.includes(PROTOCOL))
      throw new Unauthorized('This needs a token or a ticket.', {
        try: 'Send Authorization: Bearer <token>, or the protocols fleet and ticket.<ticket>, which POST /api/live gives.',
      })
    requireOrigin(request)
    const grant = fleet.tickets.take(ticket, Date.parse(fleet.now()))
    const admitted = grant && admittedBy(grant)
    if (!admitted || (await admitted.standing()) !== 'in') throw new Unauthorized('This ticket is not valid.')
    return admitted
  }

  const admittedBy = (grant: Grant): Admitted => {
    const caller = grant.caller as Caller
    const standing = byTicket(fleet, caller)
    return { caller, standing, ...(grant.opens === 'terminal' && { mission_id: grant.mission_id }) }
  }

  const connected = (socket: WebSocket, { caller, address, standing, mission_id }: Admitted) => {
    const key = callerKey(caller)
    const share = shares.get(key) ?? { sockets: 0, topics: 0 }
    shares.set(key, share)
    share.sockets++
    open++
    fleet.measurements.sockets = open
    const served =
      mission_id === undefined
        ? new TopicSocket(socket, {
            fleet,
            caller,
            from: { way: 'websocket', address },
            limits,
            explain,
            shared: share,
          })
        : terminal(socket, mission_id)
    const ended = (why: 'changed' | 'out') =>
      why === 'out'
        ? served.end(CLOSED.signedOut, new Unauthorized('You are signed out.', { try: 'Sign in again.' }))
        : served.end(CLOSED.refused, new Forbidden('Your roles have changed.', { try: 'Connect again.' }))
    const stops = [watchStanding(fleet, standing, limits.pingMs, ended), keepAlive(socket, limits.pingMs)]
    const stopping = new AbortController()
    openStreams.add(stopping)
    stopping.signal.addEventListener('abort', () => served.end(CLOSED.goingAway))
    socket.once('close', () => {
      open--
      fleet.measurements.sockets = open
      if (--share.sockets === 0) shares.delete(key)
      openStreams.delete(stopping)
      for (const stop of stops) stop()
    })
    if (share.sockets > limits.mostOfOne)
      served.end(CLOSED.tooMany, new TooMany(`You have ${limits.mostOfOne} live connections open already.`))
  }

  const terminal = (socket: WebSocket, mission_id: string): Served => {
    const isOver = showTerminal(socket, fleet, mission_id, log)
    socket.once('close', () => isOver({ signedOut: false }))
    return {
      end(code) {
        isOver({ signedOut: code === CLOSED.signedOut })
        close(socket, code)
      },
    }
  }

  server.on('upgrade', async (request: IncomingMessage, connection: Duplex, head: Buffer) => {
    connection.on('error', () => connection.destroy())
    try {
      const admitted = await admit(request)
      const { WebSocketServer } = await import('ws')
      made ??= new WebSocketServer({
        noServer: true,
        clientTracking: false,
        maxPayload: MOST_MESSAGE_BYTES,
        perMessageDeflate: false,
        handleProtocols: offered => offered.has(PROTOCOL) && PROTOCOL,
      })
      made.handleUpgrade(request, connection, head, socket => connected(socket, admitted))
    } catch (error) {
      if (error instanceof Unauthorized) fleet.measurements.strangers++
      refuse(connection, error)
    }
  })

  const refuse = (connection: Duplex, error: unknown) => {
    const { status, body } =
      error instanceof Refusal ? { status: error.status, body: errorBody(error) } : explain(error, SOCKET_PATH)
    // The other side may never close its half.
    connection.end(rawAnswer(status, body), () => connection.destroy())
  }
}

interface Served {
  end(code: CloseCode, refusal?: Refusal): void
}

const isWebSocket = ({ headers }: IncomingMessage): boolean => headers.upgrade?.toLowerCase() === 'websocket'
const protocolsOf = ({ headers }: IncomingMessage): string[] =>
  (headers['sec-websocket-protocol'] ?? '').split(',').map(each => each.trim())

class NoSocket extends Refusal {
  readonly code = 'not_found'
  readonly status = 404
  readonly exit = 4
  constructor() {
    super('There is no live connection at this address.', { try: 'Connect to /ws; nothing may follow it.' })
  }
}
