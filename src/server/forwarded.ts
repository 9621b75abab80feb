import type { FastifyInstance } from 'fastify'
import type { Fleet } from '../fleet/fleet.ts'
import { carryOut, FORWARDED, Letterbox } from '../operations/forwarding.ts'
import type { Operation } from '../operations/operation.ts'

/** Beside the longest body of an operation, the letter and who asks. */
const LETTER_BYTES = 64 * 1024

/** For other servers of this fleet, which sign what they pass on. Only there if several servers share the store. */
export function addForwarded(app: FastifyInstance, operations: readonly Operation[], fleet: Fleet): void {
  if (!fleet.fellows) return
  const box = new Letterbox(fleet.keys)
  const byName = new Map(operations.map(each => [each.name, each]))
  const longest = Math.max(...operations.map(({ bodyBytes = 2 * 1024 * 1024 }) => bodyBytes))
  app.route({
    method: 'POST',
    url: FORWARDED,
    // A letter is JSON in JSON.
    bodyLimit: 2 * longest + LETTER_BYTES,
    config: { open: true },
    handler: async (request, reply) => {
      const asked = await box.open((request.body ?? {}) as object, Date.now())
      const ending = new AbortController()
      reply.raw.once('close', () => ending.abort('gone'))
      const output = await carryOut(fleet, byName.get(asked.operation), asked, ending.signal)
      return reply.type('application/json; charset=utf-8').send(JSON.stringify({ output }))
    },
  })
}
