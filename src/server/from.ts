import type { FastifyRequest } from 'fastify'
import { clipped } from '../domain/text.ts'
import type { From } from '../operations/operation.ts'
import { TERMINAL_AGENT } from '../operations/wire.ts'

/** A browser signs in, so it has proved nothing yet. */
export const fromPage = ({ ip }: Pick<FastifyRequest, 'ip'>): From => ({ way: 'page', address: shown(ip) })

/** A proxy that is trusted may pass anything on. */
const shown = (ip: string): string => clipped(ip, 60)

/** From where a request comes. That it is a terminal is what its program says. */
export function fromOf({ asker, ip, headers, routeOptions }: FastifyRequest): From {
  const address = shown(ip)
  if (asker?.by === 'proof') return { way: 'page', address }
  if (routeOptions.config?.tokenOnly) return { way: 'mcp', address }
  return { way: headers['user-agent'] === TERMINAL_AGENT ? 'terminal' : 'rest', address }
}
