import { Refusal, Unreachable } from '../domain/errors.ts'
import type { Item, Operation } from '../operations/operation.ts'
import type { Client } from './client.ts'
import { EXIT } from './exit.ts'
import { operationOf } from './operation-of.ts'
import { serverSentEvents } from './sse.ts'

/** A refusal as a server told it. */
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
    const headers: Record<string, string> = { authorization: `Bearer ${token}` }
    if (body !== undefined) headers['content-type'] = 'application/json'
    const response = await fetch(new URL(address, url), { method, headers, body, signal }).catch(cause => {
      if (signal?.aborted) throw cause
      throw new Unreachable(`The server at ${url} cannot be reached.`, { try: 'fleet up --detach', cause })
    })
    if (!response.ok) throw await refusalFrom(response, url)
    return response
  }
  return {
    call: async <T>(name: string, input: object) => (await (await ask(name, input)).json()) as T,
    async *stream<T>(name: string, input: object, signal: AbortSignal) {
      const response = await ask(name, input, signal)
      try {
        for await (const event of serverSentEvents(response.body!)) {
          yield { cursor: event.id, kind: event.event, data: JSON.parse(event.data || 'null') as T } satisfies Item<T>
        }
      } catch (cause) {
        if (signal.aborted || cause instanceof Refusal) throw cause
        throw new Unreachable(`The server at ${url} stopped answering; agents go on.`, {
          try: 'fleet up --detach',
          cause,
        })
      }
    },
    wake: async () => {},
    close: async () => {},
  }
}

async function refusalFrom(response: Response, url: string): Promise<Refusal> {
  const text = await response.text()
  try {
    const { error } = JSON.parse(text) as { error: { code: string; message: string } }
    if (typeof error.message === 'string') return new Refused(response.status, error)
  } catch {
    // Not one of our answers: another program listens there.
  }
  return new Unreachable(`What answers at ${url} is not a fleet: status ${response.status}.`, { try: 'fleet status' })
}

/** Where the fields of an input travel: in the path, then in the query or the body. */
export function requestFor(
  http: Operation['http'],
  input: Record<string, unknown>,
): { method: string; address: string; body?: string } {
  const [method, route] = http.split(' ') as [string, string]
  const rest = new Map(Object.entries(input).filter(([, value]) => value !== undefined))
  const path = route.replace(/:(\w+)/g, (_, field: string) => {
    const value = rest.get(field)
    rest.delete(field)
    return encodeURIComponent(String(value))
  })
  if (method !== 'GET' && method !== 'DELETE')
    return { method, address: path, body: JSON.stringify(Object.fromEntries(rest)) }
  const query = new URLSearchParams()
  for (const [field, value] of rest) for (const each of [value].flat()) query.append(field, String(each))
  return { method, address: query.size ? `${path}?${query}` : path }
}
