import { NO_TOKENS, type Turn, tokensOf } from './scenario.ts'
import type { Asked, Wire } from './wire.ts'

interface Part {
  text?: string
}
interface Body {
  generationConfig?: { responseMimeType?: string }
  contents?: { role?: string; parts?: Part[] }[]
  tools?: { functionDeclarations?: { name: string }[] }[]
}

const STATUS: Record<number, string> = {
  400: 'INVALID_ARGUMENT',
  401: 'UNAUTHENTICATED',
  403: 'PERMISSION_DENIED',
  429: 'RESOURCE_EXHAUSTED',
  503: 'UNAVAILABLE',
}

function asked(body: unknown): Asked {
  const { contents = [], tools = [] } = body as Body
  const said: Asked['said'] = []
  let turnsAfter = 0
  for (const { role, parts = [] } of contents.toReversed()) {
    if (role === 'model') turnsAfter++
    else said.unshift({ text: parts.map(part => part.text ?? '').join('\n'), turnsAfter })
  }
  return { said, tools: tools.flatMap(tool => tool.functionDeclarations ?? []).map(({ name }) => name) }
}

/** The step as a call of this client's own tools, even of one that it does not offer, like a model that oversteps. */
function callFor(turn: Turn): { name: string; args: Record<string, unknown> } | undefined {
  if ('write' in turn) return { name: 'write_file', args: { file_path: turn.write, content: turn.content } }
  if ('edit' in turn) {
    const args = { file_path: turn.edit, old_string: turn.from, new_string: turn.to, instruction: 'Change it' }
    return { name: 'replace', args }
  }
  if ('read' in turn) return { name: 'read_file', args: { file_path: turn.read } }
  if ('run' in turn) return { name: 'run_shell_command', args: { command: turn.run, description: 'Run it' } }
  if ('tool' in turn) return { name: turn.tool, args: turn.input }
  return undefined
}

function answerTo(turn: Turn) {
  const call = callFor(turn)
  const parts = [
    ...(turn.think ? [{ text: turn.think, thought: true }] : []),
    ...('say' in turn ? [{ text: turn.say }] : []),
    ...(call ? [{ functionCall: call }] : []),
  ]
  const { input, output, reasoning, cacheRead } = tokensOf(turn)
  return {
    candidates: [{ index: 0, content: { role: 'model', parts }, finishReason: 'STOP' }],
    usageMetadata: {
      promptTokenCount: input + cacheRead,
      cachedContentTokenCount: cacheRead,
      candidatesTokenCount: output - reasoning,
      thoughtsTokenCount: reasoning,
      totalTokenCount: input + cacheRead + output,
    },
  }
}

/** Answers to the client's own questions: which model suits the task, and whose turn it is. */
const ERRANDS = { complexity_reasoning: 'Plain.', complexity_score: 50, reasoning: 'It is over.', next_speaker: 'user' }

const TURN = /^\/v1beta\/models\/[^/]+:(streamGenerateContent|generateContent)$/

export const gemini: Wire = {
  isTurn: (method, path) => method === 'POST' && TURN.test(path),

  aside: (_method, path) => (path.endsWith(':countTokens') ? { totalTokens: 100 } : undefined),

  asked,

  reply(response, body, turn) {
    const wantsJson = (body as Body).generationConfig?.responseMimeType === 'application/json'
    const told: Turn = wantsJson ? { say: JSON.stringify(ERRANDS) } : turn
    const answer = JSON.stringify(answerTo(told))
    if (response.req.url?.includes(':streamGenerateContent')) {
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      if (told.cut) {
        response.flushHeaders()
        return NO_TOKENS
      }
      response.end(`data: ${answer}\n\n`)
    } else {
      response.writeHead(200, { 'content-type': 'application/json' }).end(answer)
    }
    return { ...tokensOf(told), cacheWrite: 0 }
  },

  fail(response, status, retryAfter) {
    const delay = { '@type': 'type.googleapis.com/google.rpc.RetryInfo', retryDelay: `${retryAfter}s` }
    const error = {
      code: status,
      message: `The script says ${status}.`,
      status: STATUS[status] ?? 'INTERNAL',
      details: retryAfter === undefined ? [] : [delay],
    }
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify({ error }))
  },
}
