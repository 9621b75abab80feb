import { randomUUID } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import { Refusal, Unreachable } from '../domain/errors.ts'
import { itemsIn } from '../operations/wire.ts'

export interface FarSide {
  /** Finds the server; starts one if needed. */
  find(): Promise<{ url: string; token: string }>
  /** The path of MCP on the server, such as `/mcp?tools=missions`. */
  path: string
}

interface Message {
  id?: string | number | null
  method?: string
  result?: unknown
  error?: unknown
  params?: { requestId?: string | number }
}

/** How long to look for a server that went away, before the client gets an error. */
const PATIENCE_MS = 60_000
const LOOK_AGAIN_MS = 100
/** How long answers may still take after the client has closed its input. */
const LAST_ANSWERS_MS = 5000
const [PARSE_ERROR, INVALID_REQUEST, SERVER_ERROR] = [-32700, -32600, -32000]

/**
 * Carries a client's messages from its standard input to the server and the answers back. Neither side keeps state
 * between two messages, so the server may be restarted in between. A message that was cut off is sent again under the
 * same key, so its command still happens once.
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
    // Other notifications are dropped: the server keeps no state that they could change.
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

/** What every message after the first carries, as told by the server. */
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

/** A person's answer to a form belongs to the stream that is open now, so it is not sent again. */
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
  // A client may close its output without a final line break.
  if (rest) yield rest
}

/** The server's refusal, in its own words. */
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
