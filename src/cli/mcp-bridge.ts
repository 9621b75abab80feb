import { randomUUID } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import { Refusal, Unreachable } from '../domain/errors.ts'
import { itemsIn } from '../operations/wire.ts'

export interface FarSide {
  /** The server as it is now; starts one if that is what it takes. */
  find(): Promise<{ url: string; token: string }>
  /** Where MCP is on it, such as `/mcp?tools=missions`. */
  path: string
}

interface Message {
  id?: string | number | null
  method?: string
  result?: unknown
  error?: unknown
  params?: { requestId?: string | number }
}

/** How long a server that went away is looked for, before the client is told. */
const PATIENCE_MS = 60_000
const LOOK_AGAIN_MS = 100
/** How long answers may still take once the client says no more. */
const LAST_ANSWERS_MS = 5000
const [PARSE_ERROR, INVALID_REQUEST, SERVER_ERROR] = [-32700, -32600, -32000]

/**
 * Carries a client's messages from its standard input to the server and the answers back. Nothing is kept on either side
 * between two of them, so the server may be restarted meanwhile: a message that was cut off is sent again under the same
 * key, and what it asked for still happens once.
 */
export async function bridge(
  { stdin, stdout }: { stdin: NodeJS.ReadableStream; stdout: NodeJS.WritableStream },
  far: FarSide,
): Promise<void> {
  const underWay = new Map<string | number, AbortController>()
  const answers = new Set<Promise<void>>()
  const about: Session = {}
  const say = (message: object): void => void stdout.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`)

  const take = async (line: string): Promise<void> => {
    const message = parsed(line)
    if (!message) return say({ id: null, error: { code: PARSE_ERROR, message: 'This is not JSON.' } })
    const { id, method, params } = message
    if (method === 'notifications/cancelled' && params?.requestId !== undefined)
      return underWay.get(params.requestId)?.abort()
    if (!method && (message.result !== undefined || message.error !== undefined)) return reply(line, far, about)
    // Other notices tell a server that keeps nothing, nothing.
    if (method && (id === undefined || id === null)) return
    if (!method || id === undefined || id === null)
      return say({ id: null, error: { code: INVALID_REQUEST, message: 'This is neither a request nor a notice.' } })
    const ending = new AbortController()
    underWay.set(id, ending)
    try {
      await carry({ line, id, far, say, signal: ending.signal, about })
    } catch (error) {
      if (!ending.signal.aborted) say({ id, error: { code: SERVER_ERROR, message: sentenceOf(error) } })
    } finally {
      underWay.delete(id)
    }
  }

  for await (const line of linesOf(stdin as AsyncIterable<Buffer>)) {
    if (!line.trim()) continue
    const answer = take(line).finally(() => answers.delete(answer))
    answers.add(answer)
  }
  const late = pause(LAST_ANSWERS_MS, undefined, { ref: false })
  await Promise.race([Promise.all(answers), late])
  for (const ending of underWay.values()) ending.abort()
}

interface Carried {
  line: string
  id: string | number
  far: FarSide
  say: (message: object) => void
  signal: AbortSignal
  about: Session
}

/** What the server said that each following message is to carry. */
interface Session {
  id?: string
}

const SESSION = 'mcp-session-id'

const headersOf = (token: string, { id }: Session) => ({
  authorization: `Bearer ${token}`,
  'content-type': 'application/json',
  accept: 'application/json, text/event-stream',
  ...(id && { [SESSION]: id }),
})

/** What a person answered to a form belongs to a stream that is open now: a server that is gone has no use for it. */
async function reply(line: string, far: FarSide, about: Session): Promise<void> {
  const { url, token } = await far.find()
  const sent = fetch(new URL(far.path, url), { method: 'POST', body: line, headers: headersOf(token, about) })
  await sent.then(response => response.text()).catch(() => {})
}

async function carry({ line, id, far, say, signal, about }: Carried): Promise<void> {
  const key = randomUUID()
  const end = performance.now() + PATIENCE_MS
  for (;;) {
    const { url, token } = await far.find()
    try {
      const response = await fetch(new URL(far.path, url), {
        method: 'POST',
        body: line,
        headers: { ...headersOf(token, about), 'idempotency-key': key },
        signal,
      })
      if (!response.ok) throw new Refused(await response.text())
      about.id = response.headers.get(SESSION) ?? about.id
      for await (const message of messagesIn(response)) {
        say(message)
        if (message.id === id && !message.method) return
      }
    } catch (error) {
      if (signal.aborted || error instanceof Refused) throw error
      if (performance.now() > end)
        throw new Unreachable(`The server at ${url} cannot be reached.`, { try: 'fleet status', cause: error })
    }
    await pause(LOOK_AGAIN_MS, undefined, { signal })
  }
}

async function* messagesIn(response: Response): AsyncIterable<Message> {
  if (!response.headers.get('content-type')?.startsWith('text/event-stream'))
    return yield (await response.json()) as Message
  for await (const items of itemsIn<Message | null>(response.body!)) for (const { data } of items) if (data) yield data
}

async function* linesOf(input: AsyncIterable<Uint8Array>): AsyncIterable<string> {
  const decoder = new TextDecoder()
  let rest = ''
  for await (const chunk of input) {
    const lines = (rest + decoder.decode(chunk, { stream: true })).split(/\r?\n/)
    rest = lines.pop()!
    yield* lines
  }
}

/** What the server refused, in its own words. */
class Refused extends Error {
  constructor(text: string) {
    super(told(text) ?? text)
  }
}

function told(text: string): string | undefined {
  const { error } = (parsed(text) ?? {}) as { error?: { message?: string; try?: string } }
  return error?.message && [error.message, error.try].filter(Boolean).join(' ')
}

function parsed(text: string): Message | undefined {
  try {
    const value: unknown = JSON.parse(text)
    return value && typeof value === 'object' ? value : undefined
  } catch {
    return undefined
  }
}

const sentenceOf = (error: unknown): string =>
  error instanceof Refusal && error.hint ? `${error.message} ${error.hint}` : (error as Error).message
