import * as z from 'zod'
import { Forbidden, Unreachable } from '../domain/errors.ts'
import { asJson } from '../fleet/metrics/exposing.ts'
import { makeScrapeToken, revokeScrapeToken } from '../fleet/metrics/scrape-token.ts'
import { ask } from './inputs.ts'
import { type Caller, command, query } from './operation.ts'

const Metric = z.object({
  name: z.string(),
  help: z.string(),
  type: z.enum(['counter', 'gauge', 'histogram']),
  samples: z.array(
    z.object({
      suffix: z.enum(['_bucket', '_sum', '_count']).optional().describe('which part of a histogram it is'),
      labels: z.record(z.string(), z.string()),
      value: z.number(),
    }),
  ),
})

/** A plugin or an agent must not gain access that outlives it. */
function requirePerson(caller: Caller): void {
  if (caller.kind !== 'owner' || caller.plugin) throw new Forbidden('Only a person can make or revoke a scrape token.')
}

export const readMetrics = {
  ...query({
    name: 'get_metrics',
    may: 'metrics.read',
    mcp: 'system',
    summary: 'Show what the server measures: counts, durations, queues; /metrics has it in the format of Prometheus',
    http: 'GET /metrics/json',
    input: z.object({}),
    output: z.object({ metrics: z.array(Metric) }),
    run: async ({ fleet }) => {
      if (!fleet.measurements.isServing)
        throw new Unreachable('Only a running server measures, and none is running.', { try: 'fleet up --detach' })
      return { metrics: await asJson(fleet) }
    },
  }),
  // The terminal asks the server, and each measures itself. Not in the definition above: that would refuse once the
  // lease is lost, and then measurements are needed most.
  inServer: 'any' as const,
}

export const metrics = [
  readMetrics,
  command({
    name: 'create_scrape_token',
    may: 'settings.write',
    // The answer is a secret for the person's Prometheus, and not for a model.
    mcp: false,
    summary: 'Create a token that reads measurements and nothing else; the one before it stops working',
    http: 'POST /api/metrics/token',
    input: z.object({}),
    output: z.object({
      token: z.string().describe('shown only now: the fleet keeps a hash of it'),
      replaced: z.boolean().describe('there was one before, which no longer works'),
    }),
    run: async context => {
      requirePerson(context.caller)
      return makeScrapeToken(context.fleet, ask(context, 'create_scrape_token'))
    },
  }),
  command({
    name: 'revoke_scrape_token',
    may: 'settings.write',
    mcp: false,
    summary: 'Revoke the token that reads measurements; its next request is refused',
    http: 'DELETE /api/metrics/token',
    input: z.object({}),
    output: z.object({ revoked: z.boolean().describe('false: there was none') }),
    run: async context => {
      requirePerson(context.caller)
      return { revoked: await revokeScrapeToken(context.fleet, ask(context, 'revoke_scrape_token')) }
    },
  }),
]
