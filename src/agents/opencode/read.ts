import type { Usage } from '../../domain/records/session.ts'
import type { AgentEvent, Stream } from '../contract.ts'
import { editsOf } from '../edits.ts'
import { type Json, number, object, parseObject, string, text } from '../json.ts'

/** A line of its log. Retries of a small model beside the conversation hold nothing up. */
const RETRY = / level=ERROR .*message="stream error" .*\bsmall=false .*\berror\.error="(?:\w+: )?([^"]+)"/

/** Turns one line of its JSON into events. Never throws: an unknown line comes out as raw. */
export function readOpencode(line: string, stream: Stream): AgentEvent[] {
  if (stream === 'sent' || !line.trim()) return []
  const why = stream === 'stderr' && RETRY.exec(line)?.[1]
  // The log says neither the number of the try nor when the next one comes.
  if (why) return [{ type: 'retry', attempt: 0, of: null, why }]
  const message = stream === 'stdout' ? parseObject(line) : undefined
  return (message && events(message)) ?? [{ type: 'raw', text: line }]
}

function events(message: Json): AgentEvent[] | undefined {
  if (message.type === 'error') return failure(message)
  const part = object(message.part)
  if (!part) return undefined
  switch (message.type) {
    case 'step_start':
      // No line marks the beginning, but every line names the conversation.
      return [
        { type: 'started', conversation: string(message.sessionID), model: null },
        // Usage is reported when its tools are done. Until then it is only known that there is an answer.
        { type: 'usage', usage: { turns: 1, untold_answers: 1 }, counts: 'estimate', of: text(part.id) },
      ]
    case 'text':
      return [{ type: 'text', text: text(part.text) }]
    case 'reasoning':
      return [{ type: 'thinking', text: text(part.text) }]
    case 'tool_use':
      return tool(part)
    case 'step_finish':
      return finish(part)
    default:
      return undefined
  }
}

/** Tool calls are reported once they are over. */
function tool(part: Json): AgentEvent[] | undefined {
  const state = object(part.state)
  if (!state) return undefined
  const id = text(part.callID)
  const failed = state.status !== 'completed'
  const name = text(part.tool)
  return [
    { type: 'tool_call', id, name, input: state.input ?? null, ...editsOf(name, state.input) },
    { type: 'tool_result', id, output: text(failed ? state.error : state.output), failed },
  ]
}

/** The turn is over with the first step that calls no tool. */
function finish(part: Json): AgentEvent[] {
  const usage = spent(part)
  const context = usage.input_tokens + usage.cache_read_tokens + usage.cache_write_tokens + usage.output_tokens
  const used: AgentEvent[] = [
    { type: 'usage', usage, counts: 'more' },
    { type: 'context', used: context, window: null },
  ]
  if (part.reason === 'tool-calls') return used
  const ok = part.reason === 'stop'
  return [...used, { type: 'result', ok, text: '', reason: ok ? null : text(part.reason) || 'unknown' }]
}

function spent(part: Json): Usage {
  const tokens = object(part.tokens) ?? {}
  const cache = object(tokens.cache) ?? {}
  return {
    input_tokens: number(tokens.input),
    output_tokens: number(tokens.output) + number(tokens.reasoning),
    reasoning_tokens: number(tokens.reasoning),
    cache_read_tokens: number(cache.read),
    cache_write_tokens: number(cache.write),
    cost_usd: number(part.cost),
    turns: 1,
    untold_answers: 0,
  }
}

function failure(message: Json): AgentEvent[] | undefined {
  const error = object(message.error)
  if (!error) return undefined
  const data = object(error.data) ?? {}
  const status = number(data.statusCode)
  const said = string(data.message) ?? text(error.name)
  const found: AgentEvent[] = [{ type: 'error', text: said }]
  if (status === 429) found.push({ type: 'rate_limit', until: until(message.timestamp, data), text: said })
  found.push({ type: 'result', ok: false, text: said, reason: status ? `http_${status}` : text(error.name) || 'error' })
  return found
}

/** The time at which the provider says to come back. */
function until(now: unknown, data: Json): string | null {
  const seconds = Number(object(data.responseHeaders)?.['retry-after'])
  const date = new Date(number(now) + seconds * 1000)
  return seconds > 0 && number(now) > 0 && !Number.isNaN(date.getTime()) ? date.toISOString() : null
}
