import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { anthropic } from './anthropic.ts'
import { gemini } from './gemini.ts'
import { openaiChat } from './openai-chat.ts'
import { openaiResponses } from './openai-responses.ts'
import { type Failure, momentAt, type Step, scriptIn, type Tokens, type Turn } from './scenario.ts'
import type { Asked, Wire } from './wire.ts'

export interface Recorded {
  method: string
  path: string
  body: unknown
}

/** An answer and its reported usage: what a provider would bill. */
export interface Served extends Tokens {
  model: string
  /** A request of the client's own, such as for a title of the conversation. */
  errand: boolean
  /** It did not end. */
  cut: boolean
}

export interface Model {
  url: string
  /** All requests, in order. */
  requests: Recorded[]
  /** Every answer, in order. */
  served: Served[]
  /** What to do at a prompt without a script of its own, by words in it. Of several, those that come first count. */
  atWords: Map<string, readonly Step[]>
  close(): Promise<void>
}

const WIRES: readonly Wire[] = [anthropic, openaiResponses, openaiChat, gemini]

/**
 * A model that follows the script in the prompt. It remembers only how often it has failed: the step is the number of
 * model turns after the script in the request's history, so that parallel runs, retries, resumes and forks each find
 * their place.
 */
export async function startModel(port = 0): Promise<Model> {
  const requests: Recorded[] = []
  const served: Served[] = []
  const failed = new Map<string, number>()
  const atWords: Model['atWords'] = new Map()

  function failureNow(line: string, turnsTaken: number, failures: Failure[]): Failure | undefined {
    return failures.find((failure, nth) => {
      const key = `${line}#${turnsTaken}#${nth}`
      const before = failed.get(key) ?? 0
      failed.set(key, before + 1)
      return before < (failure.times ?? Number.POSITIVE_INFINITY)
    })
  }

  function takeTurn(wire: Wire, response: ServerResponse, path: string, body: unknown) {
    const { line, script, turnsTaken } = place(wire.asked(body), atWords)
    const { turn, failures } = momentAt(script, turnsTaken)
    const failure = failureNow(line, turnsTaken, failures)
    if (failure && 'hang' in failure) return
    if (failure) return wire.fail(response, failure.fail, failure.retryAfter)
    if ('hang' in turn) return
    for (const [name, value] of Object.entries(turn.headers ?? {})) response.setHeader(name, value)
    const tokens = wire.reply(response, body, filled(turn, body))
    served.push({ ...tokens, model: modelIn(path, body), errand: line === '', cut: turn.cut === true })
  }

  async function handle(request: IncomingMessage, response: ServerResponse) {
    const method = request.method ?? 'GET'
    const path = (request.url ?? '/').split('?', 1)[0]!
    const body = await bodyOf(request)
    requests.push({ method, path, body })
    const wire = WIRES.find(each => each.isTurn(method, path))
    if (wire) return takeTurn(wire, response, path, body)
    const answer = WIRES.map(each => each.aside(method, path, body)).find(each => each !== undefined)
    response.writeHead(answer === undefined ? 404 : 200, { 'content-type': 'application/json' })
    response.end(method === 'HEAD' ? undefined : JSON.stringify(answer ?? { error: `nothing at ${path}` }))
  }

  const server = createServer((request, response) => {
    // The error shows the author of the test that a script cannot be parsed.
    handle(request, response).catch(error => response.writeHead(400).end(String(error)))
  })
  await new Promise<void>(listening => server.listen(port, '127.0.0.1', listening))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    served,
    atWords,
    close: () =>
      new Promise(closed => {
        server.close(() => closed())
        server.closeAllConnections()
      }),
  }
}

/** From the body, or from the address. */
const modelIn = (path: string, body: unknown): string =>
  (body as { model?: string }).model ?? /models\/([^/:]+):/.exec(path)?.[1] ?? ''

const NOTHING_TO_DO: Turn[] = [{ say: 'No script was given.' }]

/** A request without tools is the client's own, such as for a title. It quotes the script, but does not follow it. */
function place({ said, tools }: Asked, atWords: Model['atWords']) {
  const scriptOf = (text: string) => scriptIn(text) ?? scriptAt(text, atWords)
  const newest = tools.length ? said.findLast(({ text }) => scriptOf(text)) : undefined
  const found = newest && scriptOf(newest.text)
  return found ? { ...found, turnsTaken: newest.turnsAfter } : { line: '', script: NOTHING_TO_DO, turnsTaken: 0 }
}

function scriptAt(text: string, atWords: Model['atWords']): { line: string; script: readonly Step[] } | undefined {
  const [first] = [...atWords.keys()]
    .filter(words => text.includes(words))
    .toSorted((one, other) => text.indexOf(one) - text.indexOf(other))
  return first === undefined ? undefined : { line: first, script: atWords.get(first)! }
}

/** In the input of a tool, `{{name}}` becomes the newest value of that field in an earlier result. */
function filled(turn: Turn, body: unknown): Turn {
  if (!('tool' in turn)) return turn
  const history = JSON.stringify(body)
  const told = (name: string): string =>
    // Results are quoted once or more in the history.
    [...history.matchAll(new RegExp(`"?${name}\\\\*":\\\\*"(\\w+)`, 'g'))].at(-1)?.[1] ?? ''
  const input = JSON.stringify(turn.input).replace(/\{\{(\w+)\}\}/g, (_, name: string) => told(name))
  return { ...turn, input: JSON.parse(input) }
}

async function bodyOf(request: IncomingMessage): Promise<unknown> {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk as Buffer)
  const text = Buffer.concat(chunks).toString()
  return text ? JSON.parse(text) : undefined
}
