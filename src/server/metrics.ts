import type { FastifyInstance, FastifyRequest } from 'fastify'
import type { Fleet } from '../fleet/fleet.ts'
import { asText } from '../fleet/metrics/exposing.ts'
import { readiness } from '../fleet/metrics/readiness.ts'
import { authorize } from '../operations/authorize.ts'
import { readMetrics } from '../operations/metrics.ts'
import type { Operation } from '../operations/operation.ts'
import { VERSION } from '../platform/version.ts'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The operation that this address carries out. */
    operation?: string
    /** Whether the token of a scraper is enough. */
    forMonitors?: boolean
  }
}

const OPEN = { config: { open: true } }
const METRICS = readMetrics as unknown as Operation
export const isForMonitors = ({ may }: Pick<Operation, 'may'>): boolean => may === METRICS.may

/** Addresses for whoever watches the server from outside. The first two are open, and say nothing about the work. */
export function addWatching(app: FastifyInstance, fleet: Fleet): void {
  app.get('/health', OPEN, async () => ({ status: 'ok', version: VERSION }))
  app.get('/ready', OPEN, async (_, reply) => {
    const state = await readiness(fleet)
    return reply.code(state.ready ? 200 : 503).send({ ...state, version: VERSION })
  })
  app.get('/metrics', { config: { operation: METRICS.name, forMonitors: true } }, async (request, reply) => {
    await authorize(METRICS, { fleet, caller: request.asker!.caller }, {})
    const { type, text } = await asText(fleet)
    return reply.type(type).send(text)
  })
}

/** Requests that reach no operation. An address that does not exist is one label, however many there are. */
const UNKNOWN = 'unknown'
const OTHERS = [UNKNOWN, 'page', 'mcp', 'other']
const STATUSES = ['2xx', '3xx', '4xx', '5xx']
/** Known from the start, so that a rate sees the first of each. Others appear when they happen. */
const CODES = [
  'unauthorized',
  'forbidden',
  'not_found',
  'method_not_allowed',
  'invalid_input',
  'wrong_state',
  'internal',
]

/** Counts and times every request. Labels are names of operations, never addresses. */
export function measureRequests(app: FastifyInstance, { measurements }: Fleet, operations: readonly Operation[]): void {
  const streams = new Set(operations.filter(({ kind }) => kind === 'stream').map(({ name }) => name))
  for (const status of STATUSES) for (const other of OTHERS) measurements.requests.expect(other, status)
  for (const other of OTHERS) measurements.requestSeconds.expect(other)
  for (const result of ['passed', 'failed']) measurements.checkSeconds.expect(result)
  for (const code of CODES) measurements.refusals.expect(code)
  measurements.isServing = true
  app.addHook('onResponse', async (request, reply) => {
    const operation = operationOf(request)
    measurements.requests.add(operation, classOf(reply.statusCode))
    if (!streams.has(operation)) measurements.requestSeconds.add(reply.elapsedTime / 1000, operation)
  })
}

const classOf = (status: number): string => `${Math.floor(status / 100)}xx`

/** A request whose address cannot be read reaches no hook. */
export const countUnroutable = ({ measurements }: Fleet, status: number): void =>
  measurements.requests.add(UNKNOWN, classOf(status))

function operationOf({ is404, routeOptions: { config } }: FastifyRequest): string {
  if (is404) return UNKNOWN
  return config.operation ?? (config.open ? 'page' : config.tokenOnly ? 'mcp' : 'other')
}
