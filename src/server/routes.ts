import { setTimeout as passed } from 'node:timers/promises'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { Forbidden } from '../domain/errors.ts'
import type { Fleet } from '../fleet/fleet.ts'
import { type SignIn, signInOf, standingOf } from '../fleet/people/signed-in.ts'
import { audited } from '../operations/auditing.ts'
import { authorize, authorizeAnywhere } from '../operations/authorize.ts'
import { withoutCosts } from '../operations/costs.ts'
import type { Caller, Context, Operation, Query, Streaming } from '../operations/operation.ts'
import { routeOf } from '../operations/shape.ts'
import type { Answer, Explain } from './answers.ts'
import { fromOf } from './from.ts'
import { inputReader } from './input.ts'
import { idempotencyKey } from './key.ts'
import type { Limits } from './limits.ts'
import { isForMonitors } from './metrics.ts'
import { signedOut } from './proof.ts'
import { frame, type StreamLimits, Watcher } from './sse.ts'

export interface Serving {
  fleet: Fleet
  explain: Explain
  streamLimits: StreamLimits
  /** Ends every open stream. */
  openStreams: Set<AbortController>
  limits: Limits
}

/** How long a stream's first message may decide the status of the answer, before the stream is opened anyway. */
const FIRST_WORD_MS = 250
/** Several commits in a row cause one look at who is still signed in. */
const LOOK_EVERY_MS = 200
/** A longer one would be over at once. */
const LONGEST_TIMER_MS = 2 ** 31 - 1

/** One route per operation; anything special about one is in its definition. */
export function addOperations(app: FastifyInstance, operations: readonly Operation[], serving: Serving): void {
  for (const operation of operations) {
    const { method, path } = routeOf(operation)
    app.route({
      method,
      url: path,
      ...(operation.bodyBytes && { bodyLimit: operation.bodyBytes }),
      config: { operation: operation.name, forMonitors: isForMonitors(operation) },
      handler: operation.kind === 'stream' ? streams(operation, serving) : answers(operation, serving),
    })
  }
}

type Handler = (request: FastifyRequest, reply: FastifyReply) => Promise<unknown>

function answers(operation: Query, { fleet }: Serving): Handler {
  const read = readerFor(operation)
  return async (request, reply) => {
    const { caller } = request.asker!
    const from = fromOf(request)
    const ending = new AbortController()
    const { signal } = ending
    reply.raw.once('close', () => ending.abort('gone'))
    const output = await audited(operation, { fleet, caller, from }, namedIn(request), async audit => {
      const { input } = read(request)
      const seen = await authorize(operation, { fleet: audit, caller }, input)
      const context: Context = { fleet: seen, caller, from, key: idempotencyKey(request), signal }
      // A query may wait for an hour. A command that was carried out says so, also if it signs its caller out.
      const stopLooking = operation.kind === 'query' ? endWithSignOut(fleet, caller, ending) : () => {}
      return withoutCosts(caller, operation.output.parse(await operation.run(context, input).finally(stopLooking)))
    })
    if (signal.reason === 'out') throw signedOut()
    if (signal.reason === 'changed') throw new Forbidden('Your roles have changed.', { try: 'Ask again.' })
    return reply.type('application/json; charset=utf-8').send(JSON.stringify(output))
  }
}

function streams(operation: Streaming, { fleet, explain, streamLimits, openStreams, limits }: Serving): Handler {
  const read = readerFor(operation)
  return async (request, reply) => {
    const { caller } = request.asker!
    const asking = { fleet, caller, from: fromOf(request) }
    const { input, seen, letGo } = await audited(operation, asking, namedIn(request), async () => {
      const { input } = read(request)
      return { input, seen: await authorize(operation, { fleet, caller }, input), letGo: limits.openStream(caller) }
    })
    const ending = new AbortController()
    const { signal } = ending
    openStreams.add(ending)
    fleet.measurements.streams++
    reply.raw.once('close', () => {
      fleet.measurements.streams--
      openStreams.delete(ending)
      letGo()
      ending.abort()
    })
    const stopLooking = endWithSignOut(fleet, caller, ending)
    const items = operation.run({ fleet: seen, caller, signal }, input)[Symbol.asyncIterator]()
    let next = items.next()
    await Promise.race([next, passed(FIRST_WORD_MS, undefined, { signal }).catch(() => {})])
    const watcher = new Watcher(reply.hijack().raw, reply.getHeaders() as Record<string, string>, streamLimits)
    if (signal.aborted) watcher.end()
    else signal.addEventListener('abort', () => watcher.end(), { once: true })
    try {
      for (let item = await next; !item.done && !signal.aborted; item = await next) {
        await watcher.send(frame(withoutCosts(caller, item.value)))
        next = items.next()
      }
    } catch (error) {
      if (!signal.aborted) await watcher.send(lastWord(explain(error, operation.http)))
    }
    stopLooking()
    watcher.end()
    // Not awaited: an iterable that is still waiting ends when it notices the signal.
    items.return?.().catch(() => {})
  }
}

/**
 * Ends open streams of somebody who is signed out or whose roles change, here or by another process. Returns how to
 * stop looking.
 */
export const endWithSignOut = (fleet: Fleet, caller: Caller, ending: AbortController): (() => void) =>
  endWithSignIn(fleet, signInOf(caller), ending)

function endWithSignIn(fleet: Fleet, by: SignIn, ending: AbortController): () => void {
  if (by.device === undefined && by.token === undefined) return () => {}
  let look: NodeJS.Timeout | undefined
  let expiry: NodeJS.Timeout | undefined
  const check = async () => {
    look = undefined
    const standing = await standingOf(fleet, by).catch(() => 'in')
    if (standing !== 'in') ending.abort(standing)
  }
  const stop = fleet.store.watch(() => {
    look ??= setTimeout(check, LOOK_EVERY_MS)
  })
  // No commit says that a token has expired.
  const awaitExpiry = () => {
    const left = Date.parse(by.expires_at!) - Date.parse(fleet.now())
    if (left <= 0) return void check()
    expiry = setTimeout(awaitExpiry, Math.min(left + 1, LONGEST_TIMER_MS))
  }
  if (by.expires_at) awaitExpiry()
  const stopLooking = () => {
    clearTimeout(look)
    clearTimeout(expiry)
    stop()
  }
  ending.signal.addEventListener('abort', stopLooking, { once: true })
  return stopLooking
}

/** What a request names, whether or not it can be read. */
const namedIn = (request: FastifyRequest) => () => {
  const body = typeof request.body === 'object' && !Array.isArray(request.body) ? request.body : {}
  return { ...body, ...(request.query as object), ...(request.params as object) } as Record<string, unknown>
}

const lastWord = ({ body }: Answer): string => `event: refusal\ndata: ${JSON.stringify(body)}\n\n`

/** Reads the input. Who may not use the operation at all is refused before. */
function readerFor(
  operation: Operation,
): (request: FastifyRequest) => { caller: Caller; input: Record<string, unknown> } {
  const readInput = inputReader(operation)
  return request => {
    const { caller } = request.asker!
    authorizeAnywhere(operation, caller)
    return { caller, input: readInput(request) }
  }
}
