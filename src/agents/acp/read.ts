import type { Usage } from '../../domain/records/session.ts'
import type { Edit } from '../../domain/records/transcript.ts'
import { retry, usageIn, windowsIn } from '../claude/read.ts'
import type { AgentEvent, Stream } from '../contract.ts'
import { diffsIn, editsOf } from '../edits.ts'
import { type Json, list, number, object, parseObject, string, text } from '../json.ts'

/** The ids of our requests. They let an answer be read without remembering the request. */
export const SESSION = 'session'
export const TAKEN_UP = 'session:'
export const SAID = 'say-'
/** In our answer to a request for permission: the tool that was not allowed. */
export const DENIED = 'flotilla/denied'
/** In our request to stop: the id of the interruption. */
export const INTERRUPT = 'flotilla/interrupt'
/** A notification of ours: the mission has images, and the agent takes none. */
export const NO_IMAGES = '_flotilla/no_images'

/** The raw messages of Claude Code: see `metaOf` in the dialogue. */
const RAW = '_claude/sdkMessage'

/** The error codes of the protocol, and those of HTTP where an agent passes on its provider's status. */
const REASONS: Record<number, string> = { [-32000]: 'not_signed_in', 401: 'not_signed_in', 403: 'forbidden' }
const TOO_MANY_REQUESTS = 429

/** Messages of the protocol itself. They stay in the transcript's file and are of no use to a reader. */
const QUIET = new Set([
  'available_commands_update',
  'config_option_update',
  'current_mode_update',
  'session_info_update',
  'user_message_chunk',
])

/** The protocol does not count turns. Each tool that ran or was refused counts as one, and each answer. */
const TURN: AgentEvent = { type: 'usage', usage: { turns: 1 }, counts: 'more' }

/** Turns one line of JSON-RPC into events. Never throws: an unknown line comes out as raw. */
export function readAcp(line: string, stream: Stream): AgentEvent[] {
  if (!line.trim()) return []
  if (stream === 'sent') return readSent(parseObject(line))
  const message = stream === 'stdout' ? parseObject(line) : undefined
  return (message && events(message)) ?? [{ type: 'raw', text: line }]
}

/** The agent does not repeat what it was sent, so messages and refusals are found only in what we sent. */
function readSent(message: Json | undefined): AgentEvent[] {
  const id = text(message?.id)
  const interrupt = string(object(object(message?.params)?._meta)?.[INTERRUPT])
  if (interrupt !== null) return [{ type: 'interrupted', id: interrupt }]
  if (message?.method === NO_IMAGES)
    return [{ type: 'error', text: 'It takes no images: its answer to initialize offers none.' }]
  if (id.startsWith(SAID)) return [{ type: 'said', id, text: promptIn(message!) }]
  const denied = string(object(object(message?.result)?._meta)?.[DENIED])
  if (denied === null) return []
  return [{ type: 'permission', id: String(message!.id), tool: denied, input: null, denied: true }, TURN]
}

const promptIn = (message: Json): string =>
  list(object(message.params)?.prompt)
    .map(block => text(object(block)?.text))
    .join('\n')

function events(message: Json): AgentEvent[] | undefined {
  if (message.method === 'session/update') return update(object(object(message.params)?.update) ?? {})
  if (message.method === 'session/request_permission') return permission(message)
  if (message.method === RAW) return rawOf(object(object(message.params)?.message) ?? {})
  if (message.method !== undefined) return undefined
  const error = object(message.error)
  if (error) return failure(error)
  const result = object(message.result)
  return result && answer(text(message.id), result)
}

function rawOf(message: Json): AgentEvent[] {
  return message.subtype === 'api_retry' ? [retry(message)] : usageIn(message, 'client')
}

function answer(id: string, result: Json): AgentEvent[] {
  if (typeof result.stopReason === 'string') return ending(result.stopReason, result)
  if (id === SESSION || id.startsWith(TAKEN_UP)) {
    const conversation = string(result.sessionId) ?? id.slice(TAKEN_UP.length)
    return [{ type: 'started', conversation, model: string(object(result.models)?.currentModelId) }]
  }
  return []
}

function ending(stopReason: string, result: Json): AgentEvent[] {
  const ok = stopReason === 'end_turn'
  return [
    { type: 'usage', usage: tokens(result), counts: 'more' },
    TURN,
    { type: 'result', ok, text: '', reason: ok ? null : stopReason },
  ]
}

/**
 * The usage of this turn. Some agents still have it in a field of their own, because the protocol's field came late.
 */
function tokens(result: Json): Partial<Usage> {
  const usage = object(result.usage)
  if (!usage) {
    const count = object(object(object(result._meta)?.quota)?.token_count)
    return { input_tokens: number(count?.input_tokens), output_tokens: number(count?.output_tokens) }
  }
  return {
    input_tokens: number(usage.inputTokens),
    output_tokens: number(usage.outputTokens) + number(usage.thoughtTokens),
    reasoning_tokens: number(usage.thoughtTokens),
    cache_read_tokens: number(usage.cachedReadTokens),
    cache_write_tokens: number(usage.cachedWriteTokens),
  }
}

function failure(error: Json): AgentEvent[] {
  const detail = object(error.data)
  const said = [text(error.message), string(detail?.details)].filter(Boolean).join(': ')
  const limited = error.code === TOO_MANY_REQUESTS || detail?.errorKind === 'rate_limit'
  const code = number(error.code)
  const reason = limited ? 'rate_limit' : (REASONS[code] ?? `error_${code}`)
  return [
    { type: 'error', text: said },
    ...(limited ? [{ type: 'rate_limit', until: null, text: said } as const] : []),
    { type: 'result', ok: false, text: said, reason },
  ]
}

function permission(message: Json): AgentEvent[] | undefined {
  const call = object(object(message.params)?.toolCall)
  if (!call || message.id === undefined) return undefined
  return [
    {
      ...{ type: 'permission', id: String(message.id), call: text(call.toolCallId) },
      ...{ tool: toolOf(call), input: inputOf(call), denied: false, ...diffsOf(call) },
    },
  ]
}

function update(said: Json): AgentEvent[] | undefined {
  const kind = text(said.sessionUpdate)
  if (QUIET.has(kind)) return []
  switch (kind) {
    case 'agent_message_chunk':
      return chunk(said, text => ({ type: 'text', text, piece: true }))
    case 'agent_thought_chunk':
      return chunk(said, text => ({ type: 'thinking', text, piece: true }))
    case 'tool_call':
      return toolCall(said)
    case 'tool_call_update':
      return toolUpdate(said)
    case 'usage_update':
      return context(said)
    case 'plan':
      return [{ type: 'thinking', text: list(said.entries).map(planned).join('\n') }]
    default:
      return undefined
  }
}

/** The cost given here includes earlier sessions of a resumed conversation, so it is not used. */
function context({ used, size, _meta }: Json): AgentEvent[] {
  const beyond = object(_meta) ?? {}
  const model = string(beyond['_claude/model'])
  return [
    { type: 'context', used: number(used), window: number(size) || null, ...(model && { model }) },
    ...windowsIn(object(beyond['_claude/rateLimit']) ?? {}),
  ]
}

function chunk(said: Json, event: (text: string) => AgentEvent): AgentEvent[] | undefined {
  const words = string(object(said.content)?.text)
  return words === null ? undefined : [event(words)]
}

function planned(value: unknown): string {
  const entry = object(value) ?? {}
  return `${entry.status === 'completed' ? '✓' : '·'} ${text(entry.content)}`
}

function toolCall(call: Json): AgentEvent[] {
  const told = { id: text(call.toolCallId), name: toolOf(call), input: inputOf(call), ...diffsOf(call) }
  return [{ type: 'tool_call', ...told }, ...result(call)]
}

function toolUpdate(call: Json): AgentEvent[] {
  const known = Object.keys(object(call.rawInput) ?? {}).length > 0
  const again: AgentEvent[] = known
    ? [
        {
          ...{ type: 'tool_call', id: text(call.toolCallId), name: toolOf(call), input: call.rawInput },
          ...{ again: true, ...diffsOf(call) },
        },
      ]
    : []
  return [...again, ...result(call)]
}

function result(call: Json): AgentEvent[] {
  if (call.status !== 'completed' && call.status !== 'failed') return []
  const result: AgentEvent = {
    ...{ type: 'tool_result', id: text(call.toolCallId), output: outputOf(call) },
    failed: call.status === 'failed',
    ...diffsIn(call.content),
  }
  // A refused call has been counted already.
  return ownWords(call).nonExecutionKind === undefined ? [result, TURN] : [result]
}

/** What Claude Code says beyond the protocol. */
const ownWords = (call: Json): Json => object(object(call._meta)?.claudeCode) ?? {}

/** The agent's own name for the tool, if it says. The protocol has only a kind and a title. */
export const toolOf = (call: Json): string =>
  string(call.name) ?? string(ownWords(call).toolName) ?? (text(call.kind) || text(call.title) || 'tool')

const diffsOf = (call: Json): { edits?: Edit[] } =>
  list(call.content).length ? diffsIn(call.content) : editsOf(toolOf(call), call.rawInput)

const inputOf = (call: Json): unknown =>
  call.rawInput ?? { title: call.title ?? null, locations: call.locations ?? [], content: call.content ?? [] }

function outputOf(call: Json): string {
  if (typeof call.rawOutput === 'string') return call.rawOutput
  const shown = list(call.content).map(each => {
    const block = object(each) ?? {}
    return string(object(block.content)?.text) ?? (block.type === 'diff' ? `changed ${text(block.path)}` : '')
  })
  return shown.filter(Boolean).join('\n') || (call.rawOutput === undefined ? '' : JSON.stringify(call.rawOutput))
}
