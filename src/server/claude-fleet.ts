import type { FastifyInstance } from 'fastify'
import type { Fleet } from '../fleet/fleet.ts'
import { CLAUDE_FLEET_ROUTES } from '../operations/aliases/claude-fleet/index.ts'
import { askOf } from '../operations/ask.ts'
import type { Operation } from '../operations/operation.ts'
import { routeOf } from '../operations/shape.ts'
import { type Answer, type Explain, sendAnswer } from './answers.ts'
import { fromOf } from './from.ts'
import { inputReader } from './input.ts'
import { idempotencyKey } from './key.ts'

/** The addresses of claude-fleet. Each runs our operations in the name of whoever asks, and nothing else. */
export function addClaudeFleet(app: FastifyInstance, { fleet, explain }: { fleet: Fleet; explain: Explain }): void {
  for (const each of CLAUDE_FLEET_ROUTES) {
    const { method, path } = routeOf(each)
    const read = inputReader({ ...each, name: '', kind: 'query' } as unknown as Operation)
    app.route({
      method,
      url: path,
      errorHandler: (error, request, reply) =>
        sendAnswer(reply, inTheirWords(explain(error, `${request.method} ${path}`, request.routeOptions.bodyLimit))),
      handler: async (request, reply) => {
        const { caller } = request.asker!
        const ending = new AbortController()
        reply.raw.once('close', () => ending.abort())
        const asking = { caller, from: fromOf(request), key: idempotencyKey(request), signal: ending.signal }
        const answer = await each.run({ ask: askOf(fleet, asking), caller }, read(request))
        return reply.type('application/json; charset=utf-8').send(JSON.stringify(answer))
      },
    })
  }
}

/** `{error, hint?}`, with what else we say about a refusal beside it. */
function inTheirWords({ status, body }: Answer): Answer {
  const { message, try: hint, ...facts } = body.error
  return { status, body: { error: message, ...(hint !== undefined && { hint }), ...facts } as never }
}
