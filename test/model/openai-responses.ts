import { randomUUID } from 'node:crypto'
import type { ServerResponse } from 'node:http'
import { NO_TOKENS, type Turn, tokensOf } from './scenario.ts'
import type { Asked, Wire } from './wire.ts'

interface Item {
  type?: string
  role?: string
  content?: string | { text?: string }[]
  tools?: { name?: string }[]
}
interface Body {
  model?: string
  input?: Item[]
  tools?: { type: string; name?: string }[]
}
/** Calls of code tools carry text, calls of functions carry JSON. */
type Call =
  | { type: 'custom_tool_call'; name: string; input: string }
  | { type: 'function_call'; name: string; namespace?: string; arguments: string }

const MODEL_ITEMS = new Set(['function_call', 'custom_tool_call', 'tool_search_call', 'reasoning'])

const isModels = (item: Item): boolean => item.role === 'assistant' || MODEL_ITEMS.has(item.type ?? '')

function textOf(content: Item['content']): string {
  if (typeof content === 'string') return content
  return (content ?? []).map(part => part.text ?? '').join('\n')
}

/** Adjacent items of the model are one turn. */
function asked(body: unknown): Asked {
  const { input = [], tools = [] } = body as Body
  const said: Asked['said'] = []
  let turnsAfter = 0
  for (const [index, item] of [...input.entries()].toReversed()) {
    if (isModels(item)) turnsAfter += isModels(input[index + 1] ?? {}) ? 0 : 1
    else if (item.role === 'user') said.unshift({ text: textOf(item.content), turnsAfter })
  }
  const late = input.flatMap(item => (item.type === 'additional_tools' ? (item.tools ?? []) : []))
  return { said, tools: [...tools, ...late].map(tool => tool.name ?? '') }
}

function patch(path: string, lines: string[]): string {
  return ['*** Begin Patch', path, ...lines, '*** End Patch', ''].join('\n')
}

const linesOf = (text: string): string[] => text.replace(/\n$/, '').split('\n')

/** The step with this client's tools: everything but a patch goes through its shell. */
function toolFor(turn: Turn): { patch: string } | { name: string; input: Record<string, unknown> } | undefined {
  if ('write' in turn) {
    return {
      patch: patch(
        `*** Add File: ${turn.write}`,
        linesOf(turn.content).map(line => `+${line}`),
      ),
    }
  }
  if ('edit' in turn) {
    const change = [...linesOf(turn.from).map(line => `-${line}`), ...linesOf(turn.to).map(line => `+${line}`)]
    return { patch: patch(`*** Update File: ${turn.edit}`, ['@@', ...change]) }
  }
  if ('read' in turn) return { name: 'exec_command', input: { cmd: `cat '${turn.read}'` } }
  if ('run' in turn) return { name: 'exec_command', input: { cmd: turn.run, yield_time_ms: 30_000 } }
  if ('tool' in turn) return { name: turn.tool, input: turn.input }
  return undefined
}

/** Some models have one tool only: a program that calls the others. */
function programFor(tool: NonNullable<ReturnType<typeof toolFor>>): string {
  const [name, input] = 'patch' in tool ? ['apply_patch', tool.patch] : [tool.name, tool.input]
  return `text(await tools[${JSON.stringify(name)}](${JSON.stringify(input)}))`
}

function callFor(turn: Turn, writesPrograms: boolean): Call | undefined {
  const tool = toolFor(turn)
  if (!tool) return undefined
  if (writesPrograms) return { type: 'custom_tool_call', name: 'exec', input: programFor(tool) }
  if ('patch' in tool) return { type: 'custom_tool_call', name: 'apply_patch', input: tool.patch }
  const [, namespace, name] = /^(mcp__.+)__(\w+)$/.exec(tool.name) ?? []
  const call = namespace ? { name: name!, namespace } : { name: tool.name }
  return { type: 'function_call', ...call, arguments: JSON.stringify(tool.input) }
}

const idOf = (kind: string): string => `${kind}_${randomUUID().replaceAll('-', '')}`

function itemsOf(turn: Turn, call: Call | undefined): object[] {
  const items: object[] = []
  if (turn.think) {
    items.push({
      type: 'reasoning',
      id: idOf('rs'),
      summary: [{ type: 'summary_text', text: turn.think }],
      content: null,
    })
  }
  if ('say' in turn) {
    const content = [{ type: 'output_text', text: turn.say, annotations: [] }]
    items.push({ type: 'message', id: idOf('msg'), role: 'assistant', status: 'completed', content })
  }
  if (call) items.push({ id: idOf('fc'), call_id: idOf('call'), status: 'completed', ...call })
  return items
}

function stream(response: ServerResponse, items: object[], usage: object, isCut: boolean) {
  response.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-cache' })
  const send = (type: string, data: object) =>
    response.write(`event: ${type}\ndata: ${JSON.stringify({ type, ...data })}\n\n`)
  const id = idOf('resp')
  send('response.created', { response: { id, status: 'in_progress', output: [] } })
  if (isCut) return
  for (const [index, item] of items.entries()) {
    send('response.output_item.added', { output_index: index, item })
    send('response.output_item.done', { output_index: index, item })
  }
  send('response.completed', { response: { id, status: 'completed', output: items, usage } })
  response.end()
}

const CODES: Record<number, string> = { 401: 'invalid_api_key', 429: 'rate_limit_exceeded' }

/** OpenAI's Responses, always streamed. */
export const openaiResponses: Wire = {
  isTurn: (method, path) => method === 'POST' && path === '/v1/responses',
  aside: () => undefined,
  asked,

  reply(response, body, turn) {
    const tokens = { ...tokensOf(turn), cacheWrite: 0 }
    const { input, output, reasoning, cacheRead } = tokens
    // Here, cached tokens are part of the input. Others report them separately.
    const usage = {
      input_tokens: input + cacheRead,
      input_tokens_details: { cached_tokens: cacheRead },
      output_tokens: output,
      output_tokens_details: { reasoning_tokens: reasoning },
      total_tokens: input + cacheRead + output,
    }
    const writesPrograms = !asked(body).tools.includes('exec_command')
    stream(response, itemsOf(turn, callFor(turn, writesPrograms)), usage, turn.cut === true)
    return turn.cut ? NO_TOKENS : tokens
  },

  fail(response, status, retryAfter) {
    const error = { type: 'error', code: CODES[status] ?? 'server_error', message: `The script says ${status}.` }
    const wait = retryAfter === undefined ? {} : { 'retry-after': String(retryAfter) }
    response.writeHead(status, { 'content-type': 'application/json', ...wait }).end(JSON.stringify({ error }))
  },
}
