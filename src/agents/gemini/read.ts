import type { Usage } from '../../domain/records/session.ts'
import type { AgentEvent, Stream } from '../contract.ts'
import { editsOf } from '../edits.ts'
import { type Json, number, object, parseObject, string, text } from '../json.ts'

const SERVERS = /^MCP issues detected\b/

/** Turns one line of stream-json into events. Never throws: an unknown line comes out as raw. */
export function readGemini(line: string, stream: Stream): AgentEvent[] {
  if (stream === 'sent' || !line.trim()) return []
  if (stream === 'stderr' && SERVERS.test(line))
    return [{ type: 'warning', text: 'An MCP server did not start; Gemini CLI does not say which.' }]
  const retry = stream === 'stderr' && retryIn(line)
  if (retry) return [retry]
  const message = stream === 'stdout' ? parseObject(line) : undefined
  return (message && events(message)) ?? [{ type: 'raw', text: line }]
}

/** The client's own words on standard error, which has nothing of the conversation. */
const RETRY = /^Attempt (\d+) failed(?: with status (\d+))?\. Retrying with backoff/
/** This is always a 429. The provider's words before the time may span several lines. */
const LIMITED = /^Attempt (\d+) failed: (?!.*Max attempts reached$)(.*?)(?:\. Retrying after (\d+)ms\.\.\.)?$/
const WAITING = /\. Retrying after (\d+)ms\.\.\.$/

function retryIn(line: string): AgentEvent | undefined {
  const [, attempt, status] = RETRY.exec(line) ?? []
  const found = { type: 'retry', of: null } as const
  if (attempt) {
    const why = status ? `HTTP ${status}` : 'no answer'
    return { ...found, attempt: Number(attempt), why, ...(status && { status: Number(status) }) }
  }
  const [, limited, why, wait] = LIMITED.exec(line) ?? []
  const [, later = wait] = WAITING.exec(line) ?? []
  const seconds = later && { wait_seconds: Number(later) / 1000 }
  if (limited) return { ...found, attempt: Number(limited), why: why!, status: 429, ...seconds }
  return seconds ? { ...found, attempt: 0, why: line, ...seconds, again: true } : undefined
}

function events(message: Json): AgentEvent[] | undefined {
  switch (message.type) {
    case 'init':
      return [{ type: 'started', conversation: string(message.session_id), model: string(message.model) }]
    case 'message':
      return said(message)
    case 'tool_use':
      return toolUse(message)
    case 'tool_result':
      return toolResult(message)
    case 'error':
      return [{ type: 'error', text: text(message.message) }]
    case 'result':
      return result(message)
    default:
      return undefined
  }
}

function said({ role, content, delta, timestamp }: Json): AgentEvent[] | undefined {
  if (role === 'user') return [{ type: 'said', id: text(timestamp), text: text(content) }]
  if (role !== 'assistant') return undefined
  return [{ type: 'text', text: text(content), ...(delta === true && { piece: true as const }) }]
}

function toolUse({ tool_id, tool_name, parameters }: Json): AgentEvent[] {
  const id = text(tool_id)
  const name = text(tool_name)
  return [
    { type: 'tool_call', id, name, input: parameters ?? null, ...editsOf(name, parameters) },
    { type: 'usage', usage: { turns: 1 }, counts: 'estimate', of: id },
  ]
}

function toolResult({ tool_id, status, output, error }: Json): AgentEvent[] {
  const id = text(tool_id)
  const problem = object(error)
  const failed = status !== 'success'
  const found: AgentEvent[] = []
  if (problem?.type === 'policy_violation')
    found.push({ type: 'permission', id, call: id, tool: '', input: null, denied: true })
  found.push({ type: 'tool_result', id, output: string(output) ?? text(problem?.message), failed })
  return found
}

/** Part of the message about a limit, once the client itself does not wait. */
const COME_BACK = /\bSuggested retry after (\d+)s\./

function limit(words: string, now: unknown): AgentEvent[] {
  const until = new Date(Date.parse(text(now)) + Number(COME_BACK.exec(words)?.[1]) * 1000)
  return Number.isNaN(until.getTime()) ? [] : [{ type: 'rate_limit', until: until.toISOString(), text: words }]
}

function result({ status, error, stats, timestamp }: Json): AgentEvent[] {
  const problem = object(error)
  const ok = status === 'success'
  return [
    ...usage(object(stats) ?? {}),
    ...(ok ? [] : limit(text(problem?.message), timestamp)),
    { type: 'result', ok, text: text(problem?.message), reason: ok ? null : (string(problem?.type) ?? 'error') },
  ]
}

/** The sum, then each model's share if the client gives them: models differ in price. */
function usage(stats: Json): AgentEvent[] {
  const turns: Partial<Usage> = { turns: number(stats.tool_calls) + 1 }
  const models = Object.entries(object(stats.models) ?? {})
  if (!models.length) return [{ type: 'usage', usage: { ...spent(stats), ...turns }, counts: 'total' }]
  return [
    { type: 'usage', usage: turns, counts: 'total' },
    ...models.map(
      ([model, share]): AgentEvent => ({
        type: 'usage',
        usage: spent(object(share) ?? {}),
        counts: 'more',
        model,
      }),
    ),
  ]
}

/**
 * The usage of this run. The client does not count turns: each tool call counts as one, and so does its last message.
 */
function spent(stats: Json): Partial<Usage> {
  const prompt = number(stats.input_tokens)
  const cached = number(stats.cached)
  // The total includes thinking.
  const thought = Math.max(0, number(stats.total_tokens) - prompt - number(stats.output_tokens))
  return {
    input_tokens: Math.max(0, prompt - cached),
    output_tokens: number(stats.output_tokens) + thought,
    reasoning_tokens: thought,
    cache_read_tokens: cached,
  }
}
