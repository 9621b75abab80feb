import { type IncomingMessage, type Server, STATUS_CODES } from 'node:http'
import type { Duplex } from 'node:stream'
import type { WebSocket, WebSocketServer } from 'ws'
import { Forbidden, Refusal, Unauthorized } from '../domain/errors.ts'
import type { Fleet } from '../fleet/fleet.ts'
import { standingOf } from '../fleet/people/signed-in.ts'
import type { Grant } from '../fleet/people/tickets.ts'
import type { Log } from './log.ts'
import { type OwnNames, requireOrigin, requireOwnHost, requireOwnOrigin } from './origin.ts'
import { endWithSignIn } from './routes.ts'
import { CLOSED, showTerminal } from './terminal-socket.ts'

interface Sockets {
  fleet: Fleet
  own: () => OwnNames
  /** Ends every open stream. */
  openStreams: Set<AbortController>
  log: Log
}

const SOCKET_PATH = '/ws'
const PROTOCOL = 'fleet'
const TICKET = /^ticket\.([\w-]{43})$/
const MOST_OPEN = 50
const MOST_MESSAGE_BYTES = 64 * 1024
const PING_MS = 20_000

/**
 * Live connections at /ws. Each is opened with a ticket, which an operation gave out to whoever may have it; it is sent
 * as a WebSocket protocol, because an address would be in logs. Nothing is loaded before a valid ticket arrives.
 */
export function addSockets(server: Server, { fleet, own, openStreams, log }: Sockets): void {
  let open = 0
  let made: WebSocketServer | undefined
  // Other upgrades, such as to HTTP/2, are answered as ordinary requests where this version of Node can do that.
  Object.assign(server, { shouldUpgradeCallback: isWebSocket })

  const admit = async (request: IncomingMessage): Promise<Grant> => {
    requireOwnHost(request, own())
    requireOwnOrigin(request, own())
    requireOrigin(request)
    if (request.url !== SOCKET_PATH || !isWebSocket(request)) throw new NoSocket()
    if (open >= MOST_OPEN) throw new Forbidden('Too many live connections are open.')
    const protocols = (request.headers['sec-websocket-protocol'] ?? '').split(',').map(each => each.trim())
    const [, ticket] = protocols.map(each => TICKET.exec(each)).find(found => found) ?? []
    const now = Date.parse(fleet.now())
    const grant = ticket && protocols.includes(PROTOCOL) ? fleet.terminals.host?.tickets.take(ticket, now) : undefined
    if (!grant || (await standingOf(fleet, grant, grant.since)) !== 'in')
      throw new Unauthorized('This ticket is not valid.')
    return grant
  }

  const connected = (socket: WebSocket, grant: Grant) => {
    open++
    const ending = new AbortController()
    openStreams.add(ending)
    const stopLooking = endWithSignIn(fleet, grant, ending)
    const stopPinging = keepAlive(socket)
    const isOver = showTerminal(socket, fleet, grant, log)
    ending.signal.addEventListener('abort', async () => {
      const isSignedOut = (await standingOf(fleet, grant, grant.since).catch(() => 'in')) !== 'in'
      isOver({ signedOut: isSignedOut })
      close(socket, isSignedOut ? CLOSED.signedOut : CLOSED.goingAway)
    })
    socket.once('close', () => {
      open--
      openStreams.delete(ending)
      stopLooking()
      stopPinging()
      isOver({ signedOut: false })
    })
  }

  server.on('upgrade', async (request: IncomingMessage, connection: Duplex, head: Buffer) => {
    connection.on('error', () => connection.destroy())
    try {
      const grant = await admit(request)
      const { WebSocketServer } = await import('ws')
      made ??= new WebSocketServer({
        noServer: true,
        clientTracking: false,
        maxPayload: MOST_MESSAGE_BYTES,
        perMessageDeflate: false,
        handleProtocols: () => PROTOCOL,
      })
      made.handleUpgrade(request, connection, head, socket => connected(socket, grant))
    } catch (error) {
      const status = error instanceof Refusal ? error.status : 500
      if (status === 500) log.error({ err: error }, 'opening a live connection')
      const answer = `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`
      // The other side may never close its half.
      connection.end(answer, () => connection.destroy())
    }
  })
}

const isWebSocket = ({ headers }: IncomingMessage): boolean => headers.upgrade?.toLowerCase() === 'websocket'

class NoSocket extends Refusal {
  readonly code = 'not_found'
  readonly status = 404
  readonly exit = 4
  constructor() {
    super('There is no live connection at this address.')
  }
}

/** A browser that does not answer is gone. Returns how to stop. */
function keepAlive(socket: WebSocket): () => void {
  let isAlive = true
  socket.on('pong', () => {
    isAlive = true
  })
  const timer = setInterval(() => {
    if (!isAlive) return socket.terminate()
    isAlive = false
    socket.ping()
  }, PING_MS)
  return () => clearInterval(timer)
}

const CLOSE_MS = 500

/** Closes it, also if the other side does not answer. */
function close(socket: WebSocket, code: number): void {
  socket.close(code)
  const timer = setTimeout(() => socket.terminate(), CLOSE_MS)
  socket.once('close', () => clearTimeout(timer))
}
