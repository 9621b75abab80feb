import type { IncomingMessage } from 'node:http'
import { Forbidden } from '../domain/errors.ts'

/** A request, or what opens a WebSocket. */
type Asked = Pick<IncomingMessage, 'headers' | 'socket'>

/** The names this server answers to. Any other Host is a foreign name that points at this machine. */
export interface OwnNames {
  hosts: ReadonlySet<string>
  origins: ReadonlySet<string>
  /** Set if it listens on every address of this machine; then the requested IP address counts as a name of its own. */
  everyAddress: { scheme: string; port: number } | null
}

const LOOPBACK = ['127.0.0.1', 'localhost', '[::1]']
const EVERY_ADDRESS = ['0.0.0.0', '::']

export const isLoopback = (host: string): boolean =>
  host === 'localhost' || host === '::1' || /^127(\.\d{1,3}){3}$/.test(host)

export const inUrl = (host: string): string => (host.includes(':') ? `[${host}]` : host)

export function ownNames(place: {
  host: string
  port: number
  tls: boolean
  allowedHosts: readonly string[]
}): OwnNames {
  const { host, port, tls, allowedHosts } = place
  const scheme = tls ? 'https' : 'http'
  const isDefaultPort = port === (tls ? 443 : 80)
  const bound = EVERY_ADDRESS.includes(host) ? LOOPBACK : [...LOOPBACK, inUrl(host.toLowerCase())]
  const direct = bound.flatMap(name => (isDefaultPort ? [name, `${name}:${port}`] : [`${name}:${port}`]))
  const allowed = allowedHosts.map(name => name.toLowerCase()).flatMap(name => [name, `${name}:${port}`])
  return {
    hosts: new Set([...direct, ...allowed]),
    // An allowed host may be a proxy that does TLS for us.
    origins: new Set(
      [...direct, ...allowed].map(name => `${scheme}://${name}`).concat(allowed.map(name => `https://${name}`)),
    ),
    everyAddress: EVERY_ADDRESS.includes(host) ? { scheme, port } : null,
  }
}

/** Unlike a name, an IP address cannot be made to point elsewhere: the client meant this machine. */
function addressAskedFor({ socket }: Asked, { everyAddress }: OwnNames): string | undefined {
  const address = socket.localAddress?.replace(/^::ffff:(?=\d+\.)/, '')
  return everyAddress && address ? `${inUrl(address)}:${everyAddress.port}` : undefined
}

/** Where other machines reach a server, the likeliest first; empty if nowhere. */
export function reachableAt(
  place: { host: string; port: number; tls: boolean; allowedHosts: readonly string[] },
  addresses: readonly string[],
): string[] {
  const { host, port, tls, allowedHosts } = place
  // If the machine listens only to itself, a name belongs to a proxy or a tunnel that does TLS for us.
  const named = allowedHosts.map(name => {
    const direct = !isLoopback(host) && !name.includes(':')
    return `${tls || isLoopback(host) ? 'https' : 'http'}://${name}${direct ? `:${port}` : ''}`
  })
  if (isLoopback(host)) return named
  const own = EVERY_ADDRESS.includes(host) ? addresses : [host]
  return [...named, ...own.map(address => `${tls ? 'https' : 'http'}://${inUrl(address)}:${port}`)]
}

export function requireOwnHost(request: Asked, own: OwnNames): void {
  const host = request.headers.host?.toLowerCase()
  if (host !== undefined && (own.hosts.has(host) || host === addressAskedFor(request, own))) return
  throw new Forbidden('This server does not answer to that Host.', {
    try: 'Use the address that fleet up prints, or start it with --allow-host <name>.',
  })
}

/** A page from elsewhere may link here, but it may not send requests, change anything or listen. */
export function requireOwnOrigin(request: Asked, own: OwnNames): void {
  const { headers } = request
  const site = headers['sec-fetch-site']
  const foreignSite = site !== undefined && site !== 'same-origin' && site !== 'none'
  const byNumber = addressAskedFor(request, own)
  const origin = headers.origin?.toLowerCase()
  const isOwn =
    origin === undefined ||
    own.origins.has(origin) ||
    (byNumber !== undefined && origin === `${own.everyAddress!.scheme}://${byNumber}`)
  if (foreignSite || !isOwn) throw new Forbidden('Another web page may not use this server.')
}

/** A browser always says which page a change comes from. */
export function requireOrigin({ headers }: Pick<Asked, 'headers'>): void {
  if (headers.origin === undefined)
    throw new Forbidden('A browser must say which page a change comes from: the Origin header is missing.')
}
