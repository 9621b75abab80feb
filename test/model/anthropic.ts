import { randomUUID } from 'node:crypto'
import type { ServerResponse } from 'node:http'
import { type Tokens, type Turn, tokensOf } from './scenario.ts'
import type { Asked, Wire } from './wire.ts'

interface Call {
  name: string
  input: Record<string, unknown>
}
interface Block {
  type: string
  text?: string
  content?: unknown
}
interface Body {
  model?: string
  stream?: boolean
  messages?: { role: string; content: string | Block[] }[]
  tools?: { name: string }[]
}

const ERROR_TYPES: Record<number, string> = {
  400: 'invalid_request_error',
  401: 'authentication_error',
  403: 'permission_error',
  429: 'rate_limit_error',
  529: 'overloaded_error',
}

function textOf(content: unknown): string {
  if (typeof content === 'string') return content
  if (!Array.isArray(content)) return ''
  return (content as Block[]).map(block => block.text ?? '').join('\n')
}

function asked(body: unknown): Asked {
  const { messages = [], tools = [] } = body as Body
  const said: Asked['said'] = []
  let turnsAfter = 0
  for (const { role, content } of messages.toReversed()) {
    if (role === 'assistant') turnsAfter++
    else said.unshift({ text: textOf(content), turnsAfter })
  }
  return { said, tools: tools.map(tool => tool.name) }
}

/** The step as a call of this client's own tools, even of one that it does not offer, like a model that oversteps. */
function callFor(turn: Turn): Call | undefined {
  if ('write' in turn) return { name: 'Write', input: { file_path: turn.write, content: turn.content } }
  if ('edit' in turn)
    return { name: 'Edit', input: { file_path: turn.edit, old_string: turn.from, new_string: turn.to } }
  if ('read' in turn) return { name: 'Read', input: { file_path: turn.read } }
  if ('run' in turn) return { name: 'Bash', input: { command: turn.run, description: 'Run it' } }
  if ('tool' in turn) return { name: turn.tool, input: turn.input }
  return undefined
}

function blocksOf(turn: Turn, call: Call | undefined) {
  const blocks: Record<string, unknown>[] = []
  if (turn.think) blocks.push({ type: 'thinking', thinking: turn.think, signature: 'c2lnbmVk' })
  if ('say' in turn) blocks.push({ type: 'text', text: turn.say })
  if (call) blocks.push({ type: 'tool_use', id: `toolu_${randomUUID().replaceAll('-', '')}`, ...call })
  return blocks
}

/** A block as it is streamed: first without its content, then the content. */
function streamed(block: Record<string, unknown>): { start: unknown; deltas: unknown[] } {
  if (block.type === 'text')
    return { start: { ...block, text: '' }, deltas: [{ type: 'text_delta', text: block.text }] }
  if (block.type === 'thinking') {
    return {
      start: { type: 'thinking', thinking: '', signature: '' },
      deltas: [
        { type: 'thinking_delta', thinking: block.thinking },
        { type: 'signature_delta', signature: block.signature },
      ],
    }
  }
  const json = JSON.stringify(block.input)
  const half = Math.ceil(json.length / 2)
  const parts = [json.slice(0, half), json.slice(half)]
  return {
    start: { ...block, input: {} },
    deltas: parts.map(part => ({ type: 'input_json_delta', partial_json: part })),
  }
}

/** The output figures in the first event of an answer. */
const BEGUN = { output: 1, reasoning: 0 }

function stream(response: ServerResponse, message: Record<string, unknown>, usage: object, isCut: boolean) {
  response.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-cache' })
  const send = (type: string, data: object) =>
    response.write(`event: ${type}\ndata: ${JSON.stringify({ type, ...data })}\n\n`)
  send('message_start', {
    message: { ...message, content: [], stop_reason: null, usage: { ...usage, output_tokens: BEGUN.output } },
  })
  if (isCut) return
  for (const [index, block] of (message.content as Record<string, unknown>[]).entries()) {
    const { start, deltas } = streamed(block)
    send('content_block_start', { index, content_block: start })
    for (const delta of deltas) send('content_block_delta', { index, delta })
    send('content_block_stop', { index })
  }
  send('message_delta', { delta: { stop_reason: message.stop_reason, stop_sequence: null }, usage })
  send('message_stop', {})
  response.end()
}

function json(response: ServerResponse, status: number, body: unknown, headers: Record<string, string> = {}) {
  response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body))
}

const MODELS = ['claude-opus-4-5', 'claude-sonnet-4-5', 'claude-haiku-4-5']

export const anthropic: Wire = {
  isTurn: (method, path) => method === 'POST' && path === '/v1/messages',

  aside(method, path, body) {
    if (method === 'HEAD') return {}
    if (path === '/v1/messages/count_tokens') return { input_tokens: Math.ceil(JSON.stringify(body ?? '').length / 4) }
    if (path === '/v1/models') {
      return { data: MODELS.map(id => ({ type: 'model', id, display_name: id })), has_more: false }
    }
    return undefined
  },

  asked,

  reply(response, body, turn) {
    const call = callFor(turn)
    const { model = 'claude-sonnet-4-5', stream: streams = false } = body as Body
    const tokens: Tokens = tokensOf(turn)
    const { input, output, reasoning, cacheRead, cacheWrite } = tokens
    const usage = {
      input_tokens: input,
      output_tokens: output,
      output_tokens_details: { thinking_tokens: reasoning },
      cache_read_input_tokens: cacheRead,
      cache_creation_input_tokens: cacheWrite,
    }
    const message = {
      id: `msg_${randomUUID().replaceAll('-', '')}`,
      type: 'message',
      role: 'assistant',
      model,
      content: blocksOf(turn, call),
      stop_reason: call ? 'tool_use' : 'end_turn',
      stop_sequence: null,
      usage,
    }
    if (streams) stream(response, message, usage, turn.cut === true)
    else json(response, 200, message)
    return turn.cut ? { ...tokens, ...BEGUN } : tokens
  },

  fail(response, status, retryAfter) {
    const error = { type: ERROR_TYPES[status] ?? 'api_error', message: `The script says ${status}.` }
    json(
      response,
      status,
      { type: 'error', error },
      retryAfter === undefined ? {} : { 'retry-after': String(retryAfter) },
    )
  },
}
