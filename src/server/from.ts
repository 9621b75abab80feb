import type { FastifyRequest } from 'fastify'
import type { From } from '../operations/operation.ts'
import { TERMINAL_AGENT } from '../operations/wire.ts'

/** A browser signs in, so it has proved nothing yet. */
export const fromPage = ({ ip }: Pick<FastifyRequest, 'ip'>): From => ({ way: 'page', address: ip })

/** From where a request comes. That it is a terminal is what its program says. */
export function fromOf({ asker, ip, headers, routeOptions }: FastifyRequest): From {
  if (asker?.by === 'proof') return { way: 'page', address: ip }
  if (routeOptions.config?.tokenOnly) return { way: 'mcp', address: ip }
  return { way: headers['user-agent'] === TERMINAL_AGENT ? 'terminal' : 'rest', address: ip }
}
