import { answers } from '../daemon/running.ts'
import { Refusal, Unreachable } from '../domain/errors.ts'
import { itemsIn, requestFor, TERMINAL_AGENT } from '../operations/wire.ts'
import { EXIT } from './exit.ts'
import { operationOf } from './operation-of.ts'
import type { Client } from './server.ts'

/** A refusal that came from a server. */
class Refused extends Refusal {
  readonly code: string
  readonly status: number
  readonly exit: number
  constructor(status: number, told: { code: string; message: string; try?: string; [fact: string]: unknown }) {
    const { code, message, try: hint, ...facts } = told
    super(message, { try: hint, facts })
    this.code = code
    this.status = status
    this.exit = EXITS[code] ?? (status >= 500 ? EXIT.failed : EXIT.state)
  }
}

const EXITS: Record<string, number> = { invalid_input: EXIT.usage, unfit: EXIT.failed, unreachable: EXIT.unreachable }

export function httpClient(url: string, token: string): Client {
  async function ask(name: string, input: object, signal?: AbortSignal): Promise<Response> {
    const operation = await operationOf(name)
    const { method, address, body } = requestFor(operation.http, input as Record<string, unknown>)
    const headers: Record<string, string> = { authorization: `Bearer ${token}`, 'user-agent': TERMINAL_AGENT }
    if (body !== undefined) headers['content-type'] = 'application/json'
    const silence = silenceOf(url)
    const signals = AbortSignal.any([silence.signal, ...(signal ? [signal] : [])])
    const response = await fetch(new URL(address, url), { method, headers, body, signal: signals })
      .catch(cause => {
        if (signal?.aborted) throw cause
        if (silence.signal.aborted) throw silence.signal.reason
        throw new Unreachable(`The server at ${url} cannot be reached.`, { try: 'fleet up --detach', cause })
      })
      .finally(silence.end)
    if (!response.ok) throw await refusalFrom(response, url)
    return response
  }
  return {
    call: async <T>(name: string, input: object) => (await (await ask(name, input)).json()) as T,
    async *stream<T>(name: string, input: object, signal: AbortSignal) {
      const response = await ask(name, input, signal)
      try {
        for await (const items of itemsIn<T>(response.body!)) yield* items
      } catch (cause) {
        if (signal.aborted || cause instanceof Refusal) throw cause
        throw new Unreachable(`The server at ${url} stopped answering. Agents continue.`, {
          try: 'fleet up --detach',
          cause,
        })
      }
    },
    wake: async () => {},
    close: async () => {},
  }
}

const SILENT_MS = 3000

/** A call may take long, but the server must keep answering that it is alive. */
function silenceOf(url: string): { signal: AbortSignal; end(): void } {
  const over = new AbortController()
  const began = Date.now()
  const timer = setInterval(async () => {
    if (await answers(url)) return
    const seconds = Math.round((Date.now() - began) / 1000)
    over.abort(
      new Unreachable(`The server at ${url} has not answered for ${seconds} s.`, {
        try: 'Run fleet status on the machine of the server.',
      }),
    )
  }, SILENT_MS)
  return { signal: over.signal, end: () => clearInterval(timer) }
}

async function refusalFrom(response: Response, url: string): Promise<Refusal> {
  const text = await response.text()
  try {
    const { error } = JSON.parse(text) as { error: { code: string; message: string } }
    if (typeof error.message === 'string') return new Refused(response.status, error)
  } catch {
    // This is not one of our answers, so another program listens there.
  }
  return new Unreachable(`The program at ${url} is not a fleet (status ${response.status}).`, { try: 'fleet status' })
}
