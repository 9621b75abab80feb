import { randomUUID } from 'node:crypto'
import { NO_TOKENS, type Turn, tokensOf } from './scenario.ts'
import type { Asked, Wire } from './wire.ts'

interface Body {
  model?: string
  stream?: boolean
  messages?: { role: string; content?: unknown }[]
  tools?: { function: { name: string } }[]
}

const ERROR_CODES: Record<number, string> = { 401: 'invalid_api_key', 429: 'rate_limit_exceeded' }

function textOf(content: unknown): string {
  if (typeof content === 'string') return content
  return Array.isArray(content) ? content.map(part => (part as { text?: string }).text ?? '').join('\n') : ''
}

function asked(body: unknown): Asked {
  const { messages = [], tools = [] } = body as Body
  const said: Asked['said'] = []
  let turnsAfter = 0
  for (const { role, content } of messages.toReversed()) {
    if (role === 'assistant') turnsAfter++
    else if (role === 'user') said.unshift({ text: textOf(content), turnsAfter })
  }
  return { said, tools: tools.map(tool => tool.function.name) }
}

/** The step as a call of this client's own tools, even of one that it does not offer, like a model that oversteps. */
function callFor(turn: Turn): { name: string; input: Record<string, unknown> } | undefined {
  if ('write' in turn) return { name: 'write', input: { filePath: turn.write, content: turn.content } }
  if ('edit' in turn) return { name: 'edit', input: { filePath: turn.edit, oldString: turn.from, newString: turn.to } }
  if ('read' in turn) return { name: 'read', input: { filePath: turn.read } }
  if ('run' in turn) return { name: 'bash', input: { command: turn.run, description: 'Run it' } }
  if ('tool' in turn) return { name: turn.tool, input: turn.input }
  return undefined
}

export const openaiChat: Wire = {
  isTurn: (method, path) => method === 'POST' && path === '/v1/chat/completions',

  aside: () => undefined,

  asked,

  reply(response, body, turn) {
    const call = callFor(turn)
    const { model = 'scripted' } = body as Body
    const tokens = { ...tokensOf(turn), cacheWrite: 0 }
    const { input, output, reasoning, cacheRead } = tokens
    const delta = {
      role: 'assistant',
      ...(turn.think ? { reasoning_content: turn.think } : {}),
      content: 'say' in turn ? turn.say : null,
      ...(call && {
        tool_calls: [
          {
            index: 0,
            id: `call_${randomUUID().replaceAll('-', '')}`,
            type: 'function',
            function: { name: call.name, arguments: JSON.stringify(call.input) },
          },
        ],
      }),
    }
    const usage = {
      prompt_tokens: input + cacheRead,
      completion_tokens: output,
      total_tokens: input + cacheRead + output,
      prompt_tokens_details: { cached_tokens: cacheRead },
      completion_tokens_details: { reasoning_tokens: reasoning },
    }
    const finish_reason = call ? 'tool_calls' : 'stop'
    const head = { id: `chatcmpl-${randomUUID()}`, created: 1, model }
    if (!(body as Body).stream) {
      const whole = {
        ...head,
        object: 'chat.completion',
        choices: [{ index: 0, message: delta, finish_reason }],
        usage,
      }
      response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(whole))
      return tokens
    }
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    const send = (chunk: object) =>
      response.write(`data: ${JSON.stringify({ ...head, object: 'chat.completion.chunk', ...chunk })}\n\n`)
    send({ choices: [{ index: 0, delta, finish_reason: null }] })
    if (turn.cut) return NO_TOKENS
    send({ choices: [{ index: 0, delta: {}, finish_reason }], usage })
    response.end('data: [DONE]\n\n')
    return tokens
  },

  fail(response, status, retryAfter) {
    const error = {
      message: `The script says ${status}.`,
      type: 'scripted',
      param: null,
      code: ERROR_CODES[status] ?? 'server_error',
    }
    const headers = retryAfter === undefined ? {} : { 'retry-after': String(retryAfter) }
    response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify({ error }))
  },
}
