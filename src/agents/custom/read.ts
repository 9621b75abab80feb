import * as z from 'zod'
import type { AgentEvent, Stream } from '../contract.ts'
import { type Json, number, parseObject } from '../json.ts'

const Path = z.string().min(1).max(200).describe('its path in the line, such as message.text or parts.0.id')
const When = z
  .record(Path, z.union([z.string(), z.number(), z.boolean(), z.null()]))
  .default({})
  .describe('what the line must contain; empty: every line')

const rule = <E extends string, F extends z.ZodRawShape>(event: E, fields: F) =>
  z.strictObject({ event: z.literal(event), when: When, ...fields })

/** One rule: which lines it reads, which event they become, and where its parts are. */
export const EventRule = z.discriminatedUnion('event', [
  rule('started', { conversation: Path.optional(), model: Path.optional() }),
  rule('text', {
    text: Path,
    piece: z.boolean().default(false).describe('it continues the text of the event before it'),
  }),
  rule('thinking', { text: Path }),
  rule('tool_call', { id: Path, name: Path, input: Path.optional() }),
  rule('tool_result', { id: Path, output: Path.optional(), failed: z.boolean().default(false) }),
  rule('usage', {
    counts: z.enum(['more', 'total']),
    ...{ input_tokens: Path.optional(), output_tokens: Path.optional(), reasoning_tokens: Path.optional() },
    ...{ cache_read_tokens: Path.optional(), cache_write_tokens: Path.optional() },
    ...{ cost_usd: Path.optional(), turns: Path.optional() },
  }),
  rule('context', { used: Path.describe('tokens in the context window now'), window: Path.optional() }),
  rule('provider_window', { name: Path, used_percent: Path, resets_at: Path.optional() }),
  rule('rate_limit', { until: Path.optional(), text: Path.optional() }),
  rule('error', { text: Path }),
  rule('result', { ok: z.boolean(), text: Path.optional() }),
])
export type EventRule = z.infer<typeof EventRule>

/** Turns one line into events, one for each rule that matches. Never throws. */
export function readMapped(
  rules: readonly EventRule[],
  others: 'text' | 'raw',
  line: string,
  stream: Stream,
): AgentEvent[] {
  if (stream === 'sent' || !line.trim()) return []
  if (stream === 'stderr') return [{ type: 'raw', text: line }]
  const said = parseObject(line)
  const events = said ? rules.filter(each => reads(each, said)).map(each => eventOf(each, said)) : []
  return events.length ? events : [{ type: others, text: line }]
}

const reads = ({ when }: EventRule, said: Json): boolean =>
  Object.entries(when).every(([path, value]) => (at(said, path) ?? null) === value)

function at(said: Json, path: string): unknown {
  let found: unknown = said
  for (const step of path.split('.')) {
    if (typeof found !== 'object' || found === null || !Object.hasOwn(found, step)) return undefined
    found = (found as Json)[step]
  }
  return found
}

function eventOf(rule: EventRule, said: Json): AgentEvent {
  const words = (path: string | undefined): string => plain(path === undefined ? undefined : at(said, path))
  const maybe = (path: string | undefined): string | null => words(path) || null
  const moment = (path: string | undefined) => time(path === undefined ? undefined : at(said, path))
  switch (rule.event) {
    case 'started':
      return { type: 'started', conversation: maybe(rule.conversation), model: maybe(rule.model) }
    case 'text':
      return { type: 'text', text: words(rule.text), ...(rule.piece && { piece: true as const }) }
    case 'thinking':
    case 'error':
      return { type: rule.event, text: words(rule.text) }
    case 'tool_call':
      return {
        type: 'tool_call',
        id: words(rule.id),
        name: words(rule.name),
        input: (rule.input && at(said, rule.input)) ?? null,
      }
    case 'tool_result':
      return { type: 'tool_result', id: words(rule.id), output: words(rule.output), failed: rule.failed }
    case 'usage': {
      const { event: _, when: __, counts, ...paths } = rule
      const found = Object.entries(paths).map(([name, path]) => [name, number(path === undefined ? 0 : at(said, path))])
      return { type: 'usage', usage: Object.fromEntries(found), counts }
    }
    case 'context': {
      const window = rule.window === undefined ? 0 : number(at(said, rule.window))
      return { type: 'context', used: number(at(said, rule.used)), window: window || null }
    }
    case 'provider_window':
      return {
        type: 'provider_window',
        name: words(rule.name),
        used_percent: number(at(said, rule.used_percent)),
        resets_at: moment(rule.resets_at),
      }
    case 'rate_limit':
      return {
        type: 'rate_limit',
        until: moment(rule.until),
        text: words(rule.text),
      }
    case 'result':
      return { type: 'result', ok: rule.ok, text: words(rule.text), reason: rule.ok ? null : 'failed' }
  }
}

const plain = (value: unknown): string =>
  typeof value === 'string' ? value : value === undefined || value === null ? '' : JSON.stringify(value)

/** Seconds since 1970, or a date in words. */
function time(value: unknown): string | null {
  const date = typeof value === 'number' ? new Date(value * 1000) : new Date(plain(value))
  return Number.isNaN(date.getTime()) ? null : date.toISOString()
}
