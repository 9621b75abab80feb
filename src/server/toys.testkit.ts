import { setTimeout as passed } from 'node:timers/promises'
import * as z from 'zod'
import { NotFound } from '../domain/errors.ts'
import { command, type Operation, query, stream } from '../operations/operation.ts'

/** Small operations with every kind of input, for tests where the real ones would need a whole fleet. */
export const TOYS = [
  query({
    name: 'echo_query',
    may: 'missions.read',
    mcp: false,
    summary: 'Say back what was understood',
    http: 'GET /api/toys/:toy_id',
    input: z.object({
      toy_id: z.string(),
      limit: z.number().int().max(100).default(10),
      live: z.boolean().optional(),
      tags: z.array(z.string()).optional(),
      colour: z.enum(['red', 'blue']).optional(),
    }),
    output: z.looseObject({}),
    agentMay: (caller, input) => caller.mission_id === input.toy_id,
    run: async (_, input) => input,
  }),
  command({
    name: 'echo_command',
    may: 'missions.read',
    mcp: false,
    summary: 'Say back what was understood',
    http: 'POST /api/toys',
    input: z.object({ title: z.string().min(1), size: z.number().optional() }),
    output: z.object({ title: z.string(), bytes: z.number(), key: z.string().optional() }),
    run: async ({ key }, { title }) => ({ title, bytes: Buffer.byteLength(title), key, hidden: 'not in the output' }),
  }),
  command({
    name: 'echo_wide',
    may: 'missions.read',
    mcp: false,
    summary: 'Count what is longer than usual',
    http: 'POST /api/toys/:toy_id/wide',
    bodyBytes: 3 * 1024 * 1024,
    input: z.object({ toy_id: z.string(), title: z.string() }),
    output: z.object({ bytes: z.number() }),
    run: async (_, { title }) => ({ bytes: Buffer.byteLength(title) }),
  }),
  command({
    name: 'break',
    may: 'missions.read',
    mcp: false,
    summary: 'Fail as nobody expected',
    http: 'POST /api/toys/:toy_id/break',
    input: z.object({ toy_id: z.string(), words: z.string() }),
    output: z.object({}),
    run: async (_, { words }) => {
      throw new Error(words)
    },
  }),
  stream({
    name: 'count',
    may: 'missions.read',
    mcp: false,
    summary: 'Count upwards from where the reader was',
    http: 'GET /api/toys/:toy_id/stream',
    input: z.object({ toy_id: z.string(), after: z.string().optional() }),
    output: z.object({ n: z.number() }),
    run: async function* ({ signal }, { toy_id, after }) {
      if (toy_id === 'nothing') throw new NotFound('toy', toy_id)
      counting.add(toy_id)
      try {
        const last = toy_id === 'endless' ? Number.POSITIVE_INFINITY : Number(after ?? 0) + 3
        const padding = toy_id === 'endless' ? 'x'.repeat(10_000) : ''
        for (let n = Number(after ?? 0) + 1; n <= last && !signal.aborted; n++)
          yield { cursor: String(n), kind: 'number', data: { n, padding } }
        if (toy_id === 'broken') throw new Error('in the middle of it')
        if (toy_id === 'waiting') await passed(60_000, undefined, { signal }).catch(() => {})
      } finally {
        counting.delete(toy_id)
      }
    },
  }),
] as unknown as readonly Operation[]

/** The streams that are read now. */
export const counting = new Set<string>()
