import type { FastifyRequest } from 'fastify'
import { Forbidden } from '../domain/errors.ts'

/** The names this server answers to. Any other Host is a foreign name that was made to point at this machine. */
export interface OwnNames {
  hosts: ReadonlySet<string>
  origins: ReadonlySet<string>
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
    // An allowed host may be a proxy that speaks TLS for us.
    origins: new Set(
      [...direct, ...allowed].map(name => `${scheme}://${name}`).concat(allowed.map(name => `https://${name}`)),
    ),
  }
}

export function requireOwnHost({ headers }: FastifyRequest, own: OwnNames): void {
  if (headers.host !== undefined && own.hosts.has(headers.host.toLowerCase())) return
  throw new Forbidden('This server does not answer to that Host.', {
    try: 'Use the address that fleet up prints, or start it with --allow-host <name>.',
  })
}

/** A page from elsewhere may link here, but it may not ask, write or listen. */
export function requireOwnOrigin({ headers }: FastifyRequest, own: OwnNames): void {
  const site = headers['sec-fetch-site']
  const foreignSite = site !== undefined && site !== 'same-origin' && site !== 'none'
  const foreignOrigin = headers.origin !== undefined && !own.origins.has(headers.origin.toLowerCase())
  if (foreignSite || foreignOrigin) throw new Forbidden('Another web page may not use this server.')
}

/** A cookie alone does not show which page asks. */
export function requireOrigin({ headers }: FastifyRequest): void {
  if (headers.origin === undefined)
    throw new Forbidden('A browser must say which page a change comes from: the Origin header is missing.')
}
