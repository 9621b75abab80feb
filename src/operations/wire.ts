import { createParser } from 'eventsource-parser'
import type { Item, Operation } from './operation.ts'

/** What the terminal and the page both know of HTTP: how an operation is asked for, and how a stream is read. */
export interface Request {
  method: string
  address: string
  body?: string
}

/** What the terminal calls itself, so that the audit log can tell it from other programs. */
export const TERMINAL_AGENT = 'fleet'

/** Fields of an input travel in the path, then in the query or the body. */
export function requestFor(http: Operation['http'], input: Readonly<Record<string, unknown>>): Request {
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

/** The items of an event stream. Items that arrived together come together. */
export async function* itemsIn<T = unknown>(body: ReadableStream<Uint8Array>): AsyncGenerator<Item<T>[]> {
  let items: Item<T>[] = []
  const parser = createParser({
    onEvent: ({ id = '', event = 'message', data }) =>
      void items.push({ cursor: id, kind: event, data: JSON.parse(data || 'null') }),
  })
  const decoder = new TextDecoder()
  // Read by hand, because not every browser can iterate over a stream.
  const reader = body.getReader()
  try {
    for (let part = await reader.read(); !part.done; part = await reader.read()) {
      parser.feed(decoder.decode(part.value, { stream: true }))
      if (items.length) yield items
      items = []
    }
  } finally {
    // A reader that stops lets go of the connection. A broken connection is gone already.
    await reader.cancel().catch(() => {})
  }
}
