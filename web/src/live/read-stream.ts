import type { Item as ItemOf } from '../../../src/operations/operation.ts'
import { itemsIn } from '../../../src/operations/wire.ts'
import { provenFetch } from '../../../src/server/pages/proof.js'
import { Refused } from '../api/client.ts'

export type Item = ItemOf<unknown>

interface Reading {
  signal: AbortSignal
  /** Continue after this cursor. */
  after?: string
  opened(): void
  /** Called with everything that arrived together. */
  arrived(items: Item[]): void
}

/**
 * Reads an event stream until it ends or breaks. It does not use EventSource, which cannot tell an expired sign-in from
 * a missing server, and passes on only kinds of events that were named before.
 */
export async function readStream(address: string, { signal, after, opened, arrived }: Reading): Promise<void> {
  const response = await provenFetch(address, { signal, headers: after ? { 'last-event-id': after } : {} })
  if (!response.ok) throw new Refused(response.status, await response.json().catch(() => ({})))
  opened()
  for await (const items of itemsIn(response.body!)) arrived(items)
}

/** Waits before the next try. The time varies, so that a thousand pages do not come back at the same moment. */
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
