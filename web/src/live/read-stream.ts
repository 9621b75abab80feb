import { provenFetch } from '../../../src/server/pages/proof.js'
import { Refused } from '../api/client.ts'

export interface Item {
  cursor: string
  kind: string
  data: unknown
}

interface Reading {
  signal: AbortSignal
  /** Go on after this place. */
  after?: string
  opened(): void
  /** Everything that arrived together. */
  arrived(items: Item[]): void
}

/**
 * Reads an event stream until it ends or breaks. By hand, because EventSource neither tells a sign-in that has
 * expired from a server that is gone, nor hands over kinds of events that it was not told of before.
 */
export async function readStream(address: string, { signal, after, opened, arrived }: Reading): Promise<void> {
  const response = await provenFetch(address, { signal, headers: after ? { 'last-event-id': after } : {} })
  if (!response.ok) throw new Refused(response.status, await response.json().catch(() => ({})))
  opened()
  const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader()
  let rest = ''
  for (let part = await reader.read(); !part.done; part = await reader.read()) {
    const frames = (rest + part.value).split('\n\n')
    rest = frames.pop()!
    const items = frames.map(itemIn).filter(item => item !== undefined)
    if (items.length) arrived(items)
  }
}

/** A sign of life carries a cursor and no kind: it moves the place on and tells nothing. */
function itemIn(frame: string): Item | undefined {
  let [cursor, kind, data] = ['', '', '']
  for (const line of frame.split('\n')) {
    if (line.startsWith('id: ')) cursor = line.slice(4)
    else if (line.startsWith('event: ')) kind = line.slice(7)
    else if (line.startsWith('data: ')) data = line.slice(6)
  }
  if (!cursor && !kind) return undefined
  return { cursor, kind, data: data ? JSON.parse(data) : null }
}

/** How long to wait before trying again, so that a thousand pages do not come back in the same instant. */
export const pauseBefore = (attempt: number, signal: AbortSignal): Promise<void> =>
  new Promise(resolve => {
    const ms = Math.min(8000, 300 * 2 ** attempt) * (0.7 + Math.random() * 0.6)
    const done = () => {
      clearTimeout(timer)
      removeEventListener('online', done)
      signal.removeEventListener('abort', done)
      resolve()
    }
    const timer = setTimeout(done, ms)
    addEventListener('online', done)
    signal.addEventListener('abort', done)
  })
