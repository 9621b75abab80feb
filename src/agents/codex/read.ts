import type { Usage } from '../../domain/records/session.ts'
import type { AgentEvent, Stream } from '../contract.ts'
import { type Json, list, number, object, parseObject, string, text } from '../json.ts'
import { notStarted } from '../mcp-servers.ts'
import { INTERRUPT, PROMPT, THREAD } from './dialogue.ts'
import { itemDone, itemStarted } from './items.ts'

/** Messages of the protocol itself. They stay in the transcript's file and are of no use to a reader. */
const QUIET = new Set([
  ...['thread/started', 'thread/status/changed', 'thread/name/updated', 'thread/goal/cleared', 'thread/closed'],
  ...['serverRequest/resolved', 'account/updated', 'skills/changed'],
])

/** Turns one line of JSON-RPC into events. Never throws: an unknown line comes out as raw. */
export function readCodex(line: string, stream: Stream): AgentEvent[] {
  // The client repeats what was sent once it has taken it.
  if (stream === 'sent') return readSent(parseObject(line))
  if (!line.trim()) return []
  if (stream === 'stderr' && line.includes(LOG)) return logged(line)
  if (stream === 'stderr' && line.includes(RETRY_LOG)) return retryLogged(line.replace(COLOURS, ''))
  const message = stream === 'stdout' ? parseObject(line) : undefined
  return (message && events(message)) ?? [{ type: 'raw', text: line }]
}

const LOG = 'codex_otel.trace_safe'
// biome-ignore lint/suspicious/noControlCharactersInRegex: colours are control sequences
const COLOURS = /\u001b\[[\d;]*m/g

/** The usage of one answer from the client's log: names and values on one line. */
function logged(line: string): AgentEvent[] {
  const fields = new Map(
    [...line.replace(COLOURS, '').matchAll(/ ([\w.]+)="?([^\s"]*)/g)].map(([, name, value]) => [name!, value!]),
  )
  const count = (name: string) => number(Number(fields.get(`${name}_token_count`) ?? 0))
  if (fields.get('event.name') !== 'codex.sse_event' || !fields.has('input_token_count')) return []
  const used = {
    ...{ inputTokens: count('input'), cachedInputTokens: count('cached'), outputTokens: count('output') },
    ...{ cacheWriteInputTokens: count('cache_write'), reasoningOutputTokens: count('reasoning') },
  }
  const model = fields.get('model')
  return [
    { type: 'usage', usage: { ...tokens(used), turns: 1 }, counts: 'more', meter: 'log', ...(model && { model }) },
  ]
}

const RETRY_LOG = 'codex_core::responses_retry'

/** Only the log says when the next try comes, which may be an hour later. */
function retryLogged(line: string): AgentEvent[] {
  const [, attempt, of, wait] = /\((\d+)\/(\d+) in (\S+?)\)/.exec(line) ?? []
  if (!attempt) return []
  const why = /sampling_error=(.*)/.exec(line)?.[1] ?? 'unknown'
  const seconds = secondsIn(wait!)
  return [
    {
      ...{ type: 'retry', attempt: Number(attempt), of: Number(of), why, again: true },
      ...(seconds !== null && { wait_seconds: seconds }),
    },
  ]
}

/** Parses a time as Rust prints it: 3599.99s, 187.2ms. */
function secondsIn(time: string): number | null {
  const [, figure, unit] = /^([\d.]+)(s|ms|µs|ns)$/.exec(time) ?? []
  return figure ? Number(figure) * { s: 1, ms: 1e-3, µs: 1e-6, ns: 1e-9 }[unit as 's' | 'ms' | 'µs' | 'ns'] : null
}

function readSent(message: Json | undefined): AgentEvent[] {
  if (message?.method !== 'turn/interrupt') return []
  return [{ type: 'interrupted', id: text(message.id).slice(INTERRUPT.length) }]
}

function events(message: Json): AgentEvent[] | undefined {
  if (typeof message.method !== 'string') return 'id' in message ? answer(message) : undefined
  const params = object(message.params)
  if (!params) return undefined
  if (QUIET.has(message.method)) return []
  return 'id' in message ? asked(message.method, String(message.id), params) : told(message.method, params)
}

function told(method: string, params: Json): AgentEvent[] | undefined {
  switch (method) {
    case 'turn/started':
      return [{ type: 'started', conversation: string(params.threadId), model: null }]
    case 'item/started':
      return itemStarted(object(params.item) ?? {})
    case 'item/completed':
      return itemDone(object(params.item) ?? {})
    case 'thread/tokenUsage/updated':
      return usage(object(params.tokenUsage))
    case 'account/rateLimits/updated':
      return limits(object(params.rateLimits))
    case 'mcpServer/startupStatus/updated':
      return params.status === 'failed' ? [notStarted(text(params.name), text(params.error))] : []
    case 'error':
      return [failure(params)]
    case 'turn/completed':
      return result(object(params.turn))
    default:
      return undefined
  }
}

/** The client's answer to one of our requests. */
function answer({ id, result, error }: Json): AgentEvent[] | undefined {
  if (error) {
    const words = text(object(error)?.message)
    if (id !== THREAD && id !== PROMPT) return [{ type: 'error', text: words }]
    return [{ type: 'result', ok: false, text: words, reason: 'refused' }]
  }
  const thread = object(object(result)?.thread)
  if (thread) return [{ type: 'started', conversation: string(thread.id), model: string(object(result)?.model) }]
  if (!object(result)) return undefined
  // A resumed conversation first reports what it has used so far. The share of this session begins at zero.
  return id === PROMPT ? [{ type: 'usage', usage: {}, counts: 'total' }] : []
}

function asked(method: string, id: string, params: Json): AgentEvent[] | undefined {
  switch (method) {
    case 'item/commandExecution/requestApproval':
      return [permission(id, 'shell', params)]
    case 'item/fileChange/requestApproval':
      return [permission(id, 'apply_patch', params)]
    case 'item/tool/requestUserInput':
      return [{ type: 'question', id, text: list(params.questions).map(question).join('\n\n') }]
    default:
      return undefined
  }
}

/** Fields of the protocol that mean nothing to a person. */
const NOT_FOR_PEOPLE = new Set([
  ...['threadId', 'turnId', 'itemId', 'startedAtMs', 'environmentId', 'kind', 'approvalId'],
  ...['commandActions', 'proposedExecpolicyAmendment', 'availableDecisions'],
])

function permission(id: string, tool: string, params: Json): AgentEvent {
  const input = Object.fromEntries(
    Object.entries(params).filter(([name, value]) => value !== null && !NOT_FOR_PEOPLE.has(name)),
  )
  return { type: 'permission', id, call: text(params.itemId), tool, input, denied: false }
}

function question(value: unknown): string {
  const { question, options } = object(value) ?? {}
  const choices = list(options).map(each => `- ${text(object(each)?.label)}: ${text(object(each)?.description)}`)
  return [text(question), ...choices].join('\n')
}

/** The usage of one answer, reported once for each state of the conversation's counter. */
function usage(counted: Json | undefined): AgentEvent[] | undefined {
  const last = object(counted?.last)
  const total = object(counted?.total)
  if (!last || !total) return undefined
  return [
    { type: 'usage', usage: { ...tokens(last), turns: 1 }, counts: 'estimate', of: JSON.stringify(total) },
    { type: 'context', used: number(last.totalTokens), window: number(counted?.modelContextWindow) || null },
  ]
}

/** The client includes cached tokens in its input. Our figures keep them apart. */
function tokens(count: Json): Partial<Usage> {
  const cached = number(count.cachedInputTokens)
  const written = number(count.cacheWriteInputTokens)
  return {
    input_tokens: Math.max(0, number(count.inputTokens) - cached - written),
    output_tokens: number(count.outputTokens),
    reasoning_tokens: number(count.reasoningOutputTokens),
    cache_read_tokens: cached,
    cache_write_tokens: written,
  }
}

/** Only a window that is used up is a limit. The client also reports how near it is. */
function limits(told: Json | undefined): AgentEvent[] | undefined {
  if (!told) return undefined
  const name = string(told.limitName) ?? text(told.limitId)
  const windows = ['primary', 'secondary'].map(which => ({ which, ...object(told[which]) }) as Json)
  const near = windows.flatMap(({ which, usedPercent, resetsAt }): AgentEvent[] =>
    typeof usedPercent === 'number'
      ? [
          {
            type: 'provider_window',
            name: `${name} ${which}`,
            used_percent: usedPercent,
            resets_at: time(number(resetsAt)),
          },
        ]
      : [],
  )
  const full = windows.filter(({ usedPercent }) => number(usedPercent) >= 100)
  if (!full.length && !told.rateLimitReachedType) return near
  const until = Math.max(0, ...full.map(({ resetsAt }) => number(resetsAt)))
  return [...near, { type: 'rate_limit', until: time(until), text: `Limit reached: ${name}.` }]
}

function failure({ error, willRetry }: Json): AgentEvent {
  const told = object(error) ?? {}
  if (willRetry !== true) return { type: 'error', text: text(told.message) }
  const [, attempt, of] = /(\d+)\/(\d+)/.exec(text(told.message)) ?? []
  const code = codeOf(told)
  const why = string(told.additionalDetails) ?? code
  const status = Number(/^http_(\d+)$/.exec(code)?.[1])
  return { type: 'retry', attempt: Number(attempt ?? 0), of: of ? Number(of) : null, why, ...(status && { status }) }
}

function result(turn: Json | undefined): AgentEvent[] | undefined {
  if (!turn) return undefined
  const words = list(turn.items).findLast(item => object(item)?.type === 'agentMessage')
  if (turn.status === 'completed') return [{ type: 'result', ok: true, text: text(object(words)?.text), reason: null }]
  const error = object(turn.error)
  const reason = error ? codeOf(error) : text(turn.status)
  const failed: AgentEvent = { type: 'result', ok: false, text: text(error?.message), reason }
  return RATE_LIMITS.has(reason) ? [{ type: 'rate_limit', until: null, text: failed.text }, failed] : [failed]
}

export const RATE_LIMITS: ReadonlySet<string> = new Set(['http_429', 'usageLimitExceeded', 'rateLimitExceeded'])

/** The client's own name for a failure, or the status of the provider if it passes that on. */
function codeOf({ codexErrorInfo: info }: Json): string {
  if (typeof info === 'string') return info
  const [name, details] = Object.entries(object(info) ?? {})[0] ?? ['other']
  const status = number(object(details)?.httpStatusCode)
  return status ? `http_${status}` : name
}

function time(seconds: number): string | null {
  const date = new Date(seconds * 1000)
  return seconds > 0 && !Number.isNaN(date.getTime()) ? date.toISOString() : null
}
