import type { Usage } from '../../domain/records/session.ts'
import type { AgentEvent, Stream } from '../contract.ts'
import { editsOf } from '../edits.ts'
import { type Json, list, number, object, parseObject, string, text } from '../json.ts'
import { notStarted } from '../mcp-servers.ts'
import { ASKING_TOOL, inWords, questionsIn } from './questions.ts'

/** Messages of the protocol itself. They stay in the transcript's file and are of no use to a reader. */
const QUIET = new Set([
  'command_lifecycle',
  'keep_alive',
  'control_response',
  'system/hook_started',
  'system/hook_progress',
  'system/hook_response',
  'system/status',
  'system/thinking_tokens',
  'system/task_progress',
  'system/task_started',
  'system/task_updated',
  'system/task_notification',
  'system/session_state_changed',
])

const PIECE = '{"type":"stream_event"'
const TELLS_USAGE = /^\{"type":"stream_event","event":\{"type":"message_(start|delta)"/

/** Turns one line of stream-json into events. Never throws: an unknown line comes out as raw. */
export function readClaude(line: string, stream: Stream): AgentEvent[] {
  // The client repeats what was sent once it has taken it.
  if (stream === 'sent') return readSent(parseObject(line))
  if (!line.trim()) return []
  if (stream === 'stderr') return [{ type: 'raw', text: line }]
  // These are pieces of messages that come complete later. Most lines are such pieces, so they are not parsed.
  if (line.startsWith(PIECE) && !TELLS_USAGE.test(line)) return []
  const message = parseObject(line)
  if (!message) return [{ type: 'raw', text: line }]
  return events(message) ?? [{ type: 'raw', text: line }]
}

function readSent(message: Json | undefined): AgentEvent[] {
  const interrupts = message?.type === 'control_request' && object(message.request)?.subtype === 'interrupt'
  return interrupts ? [{ type: 'interrupted', id: text(message.request_id) }] : []
}

function events(message: Json): AgentEvent[] | undefined {
  const kind = message.type === 'system' ? `system/${text(message.subtype)}` : text(message.type)
  if (QUIET.has(kind)) return []
  switch (kind) {
    case 'system/init':
      return [
        { type: 'started', conversation: string(message.session_id), model: string(message.model) },
        ...list(message.mcp_servers).flatMap(server),
      ]
    case 'assistant':
      return assistant(message)
    case 'stream_event':
      return answering(message)
    case 'user':
      return user(message)
    case 'system/api_retry':
      return [retry(message)]
    case 'system/permission_denied':
      return [
        {
          ...{ type: 'permission', id: text(message.tool_use_id), call: text(message.tool_use_id) },
          ...{ tool: text(message.tool_name), input: null, denied: true },
        },
      ]
    case 'control_request':
      return control(message)
    case 'rate_limit_event':
      return limit(message)
    case 'result':
      return result(message)
    default:
      return undefined
  }
}

function server(value: unknown): AgentEvent[] {
  const { name, status } = object(value) ?? {}
  const isUp = status === 'connected' || status === 'pending'
  return isUp ? [] : [notStarted(text(name), text(status))]
}

/** The client asks whether it may use a tool, and waits. */
function control(message: Json): AgentEvent[] | undefined {
  const request = object(message.request)
  if (request?.subtype !== 'can_use_tool') return undefined
  const tool = text(request.tool_name)
  const id = text(message.request_id)
  const questions = tool === ASKING_TOOL ? questionsIn(request.input) : undefined
  if (questions) return [{ type: 'question', id, text: inWords(questions) }]
  const call = string(request.tool_use_id)
  return [
    {
      ...{ type: 'permission', id, tool, input: request.input ?? null, denied: false },
      ...editsOf(tool, request.input),
      ...(call && { call }),
    },
  ]
}

function assistant(message: Json): AgentEvent[] | undefined {
  const said = object(message.message)
  if (!said) return undefined
  // The client reports its own failures as words of the model.
  const ownWords = typeof message.error === 'string'
  const found = list(said.content).flatMap(block => assistantBlock(block, ownWords, helper(message)))
  const told = ownWords ? [] : answer(message, said.id, object(said.usage), string(said.model))
  return found.length || told.length ? [...found, ...told] : undefined
}

/** The usage that a line of the client reports, as a meter of its own. */
export function usageIn(message: Json, meter: string): AgentEvent[] {
  const told = message.type === 'result' ? result(message) : message.type === 'stream_event' ? answering(message) : []
  return told.flatMap(event => (event.type === 'usage' ? [{ ...event, meter }] : []))
}

/**
 * An answer reports its usage when it begins, and with its whole output when it ends. Each of its parts repeats the
 * first figures.
 */
function answering(message: Json): AgentEvent[] {
  const event = object(message.event)
  const begun = object(event?.message)
  if (begun) return answer(message, begun.id, object(begun.usage), string(begun.model))
  return answer(message, message.api_message_id, object(event?.usage), null)
}

function answer(message: Json, id: unknown, usage: Json | undefined, model: string | null): AgentEvent[] {
  if (!usage || typeof id !== 'string') return []
  const used = tokens(usage)
  return [
    { type: 'usage', usage: { ...used, turns: 1 }, counts: 'estimate', of: id, ...(model && { model }) },
    // A helper has its own context window.
    ...(message.parent_tool_use_id ? [] : [{ type: 'context', used: total(used), window: null } as const]),
  ]
}

/** A helper names the tool call it works for. */
function helper(message: Json): { within?: string } {
  const within = string(message.parent_tool_use_id)
  return within ? { within } : {}
}

function assistantBlock(value: unknown, ownWords: boolean, by: { within?: string }): AgentEvent[] {
  const block = object(value) ?? {}
  switch (block.type) {
    case 'text':
      return [ownWords ? { type: 'error', text: text(block.text) } : { type: 'text', text: text(block.text), ...by }]
    case 'thinking':
      return [{ type: 'thinking', text: text(block.thinking), ...by }]
    case 'tool_use': {
      const call = { id: text(block.id), name: text(block.name), input: block.input ?? null }
      return [{ type: 'tool_call', ...call, ...editsOf(call.name, call.input), ...by }]
    }
    default:
      return [{ type: 'raw', text: JSON.stringify(value) }]
  }
}

function user(message: Json): AgentEvent[] | undefined {
  const content = object(message.message)?.content
  if (message.isReplay === true) return [{ type: 'said', id: text(message.uuid), text: plain(content) }]
  if (typeof content === 'string') return [{ type: 'raw', text: content }]
  const found = list(content).map(block => userBlock(block, helper(message)))
  return found.length ? found : undefined
}

function userBlock(value: unknown, by: { within?: string }): AgentEvent {
  const block = object(value) ?? {}
  if (block.type !== 'tool_result')
    return { type: 'raw', text: typeof block.text === 'string' ? block.text : JSON.stringify(value) }
  return {
    type: 'tool_result',
    id: text(block.tool_use_id),
    output: plain(block.content),
    failed: block.is_error === true,
    ...by,
  }
}

export function retry(message: Json): AgentEvent {
  const status = number(message.error_status)
  const why = [status ? `HTTP ${status}` : null, string(message.error)].filter(Boolean).join(', ')
  const wait = message.retry_delay_ms
  return {
    ...{ type: 'retry', attempt: number(message.attempt), of: number(message.max_retries) || null },
    why: why || 'unknown',
    ...(status && { status }),
    ...(typeof wait === 'number' && { wait_seconds: wait / 1000 }),
  }
}

/** Only a refusal is a rate limit. The client also reports how near the limit is. */
function limit(message: Json): AgentEvent[] | undefined {
  const info = object(message.rate_limit_info)
  if (!info) return undefined
  const windows = windowsIn(info)
  if (info.status !== 'rejected') return windows
  return [
    ...windows,
    {
      type: 'rate_limit',
      until: time(info.resetsAt),
      text: `Limit reached: ${string(info.rateLimitType) ?? 'unnamed'}.`,
    },
  ]
}

/** All windows if the client reports them, otherwise the one it names. */
export function windowsIn(info: Json): AgentEvent[] {
  const all = Object.entries(object(info.unifiedWindows) ?? {})
  const told = all.length ? all : [[text(info.rateLimitType), info] as const]
  return told.flatMap(([name, value]) => {
    const { utilization, resetsAt } = object(value) ?? {}
    if (!name || typeof utilization !== 'number') return []
    return [{ type: 'provider_window', name, used_percent: Math.round(utilization * 100), resets_at: time(resetsAt) }]
  })
}

function result(message: Json): AgentEvent[] {
  const ok = message.subtype === 'success' && message.is_error === false
  const status = number(message.api_error_status)
  const said = string(message.result) ?? list(message.errors).map(plain).join('\n')
  const found: AgentEvent[] = [{ type: 'usage', usage: spent(message), counts: 'more' }]
  const window = windowIn(message)
  if (window) found.push({ type: 'context', used: null, window })
  if (status === 429) found.push({ type: 'rate_limit', until: null, text: said })
  found.push({ type: 'result', ok, text: said, reason: ok ? null : status ? `http_${status}` : text(message.subtype) })
  return found
}

/**
 * The cost since the last result. `total_cost_usd` would count a resumed conversation twice, because it continues from
 * the earlier session.
 */
function spent(message: Json): Partial<Usage> {
  const turns = number(message.num_turns)
  const models = modelsIn(message)
  if (!models.length) return { ...tokens(object(message.usage) ?? {}), turns }
  const sum = (key: string) => models.reduce((total, model) => total + number(model[key]), 0)
  return {
    input_tokens: sum('inputTokens'),
    output_tokens: sum('outputTokens'),
    reasoning_tokens: sum('thinkingTokens'),
    cache_read_tokens: sum('cacheReadInputTokens'),
    cache_write_tokens: sum('cacheCreationInputTokens'),
    cost_usd: sum('costUSD'),
    turns,
  }
}

const modelsIn = (message: Json): Json[] =>
  Object.values(object(message.model_usage_since_last_result) ?? {}).map(model => object(model) ?? {})

/** The window of the model that did most of the work. Small models run errands beside it. */
function windowIn(message: Json): number | null {
  const read = (model: Json) => number(model.inputTokens) + number(model.cacheReadInputTokens)
  const [main] = modelsIn(message).toSorted((a, b) => read(b) - read(a))
  return number(main?.contextWindow) || null
}

const total = ({
  input_tokens = 0,
  output_tokens = 0,
  cache_read_tokens = 0,
  cache_write_tokens = 0,
}: Partial<Usage>) => input_tokens + output_tokens + cache_read_tokens + cache_write_tokens

function tokens(usage: Json): Partial<Usage> {
  return {
    input_tokens: number(usage.input_tokens),
    output_tokens: number(usage.output_tokens),
    reasoning_tokens: number(object(usage.output_tokens_details)?.thinking_tokens),
    cache_read_tokens: number(usage.cache_read_input_tokens),
    cache_write_tokens: number(usage.cache_creation_input_tokens),
  }
}

function plain(content: unknown): string {
  if (typeof content === 'string') return content
  if (!Array.isArray(content)) return content == null ? '' : JSON.stringify(content)
  return content.map(blockInWords).join('\n')
}

/** The bytes of an image are of no use to a reader. */
function blockInWords(block: unknown): string {
  const { type, text: words } = object(block) ?? {}
  return string(words) ?? (type === 'image' ? '[image]' : JSON.stringify(block))
}

function time(seconds: unknown): string | null {
  const date = new Date(number(seconds) * 1000)
  return number(seconds) > 0 && !Number.isNaN(date.getTime()) ? date.toISOString() : null
}
