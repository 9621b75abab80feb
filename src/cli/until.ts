import type { Client } from './server.ts'

/** Tries again whenever something happens in a project, until there is an answer. */
export async function untilThereIs<T>(
  client: Client,
  project_id: string,
  look: () => Promise<T | undefined>,
): Promise<T> {
  let { cursor } = await client.call<{ cursor: string }>('list_events', { project_id, limit: 1 })
  for (;;) {
    const found = await look()
    if (found !== undefined) return found
    const leaving = new AbortController()
    for await (const item of client.stream('stream_events', { project_id, after: cursor }, leaving.signal)) {
      cursor = item.cursor
      if (item.kind !== 'ping') break
    }
    leaving.abort()
  }
}

/** Fires when the person presses Ctrl-C. */
export function untilInterrupted(): AbortSignal {
  const leaving = new AbortController()
  process.once('SIGINT', () => leaving.abort())
  return leaving.signal
}
