import { addressOf, type Output, Refused } from '../api/client.ts'
import { type Item, pauseBefore, readStream } from './read-stream.ts'

export type FleetEvent = Output<'list_events'>['events'][number]
/** no-role: signed in, and nothing may be seen. */
export type Connection = 'connecting' | 'live' | 'lost' | 'signed-out' | 'no-role'

const REFUSED: Record<number, Connection | undefined> = { 401: 'signed-out', 403: 'no-role' }

type Told =
  | { what: 'items'; items: Item[] }
  | { what: 'connection'; connection: Connection }
  /** A new window asks for the state of the connection. */
  | { what: 'hello' }

export interface Listener {
  /** New events in order, without gaps or duplicates. */
  events(events: FleetEvent[]): void
  /** Events may have been missed, so everything read before may be outdated. */
  missed(): void
  connection(connection: Connection): void
}

/**
 * Follows the events of the fleet for all windows of this browser through one connection, because a browser allows only
 * six per server. `from` is the cursor before anything was read; empty: unknown. The window with the lock reads and
 * tells the others. Each window remembers its cursor, so the next reader continues from there.
 */
export function followFleet(from: string, listener: Listener): () => void {
  const stop = new AbortController()
  const channel = new BroadcastChannel('fleet-events')
  let cursor = from
  let leads = false
  let follows = false
  let connection: Connection = 'connecting'

  const setConnection = (next: Connection) => {
    if (connection === next) return
    connection = next
    listener.connection(next)
  }
  const take = (items: Item[]) => {
    const events: FleetEvent[] = []
    for (const item of items) {
      if (item.kind === 'reset') listener.missed()
      else if (item.kind !== 'ping' && item.kind !== 'refusal') events.push(item.data as FleetEvent)
      if (item.cursor) cursor = item.cursor
    }
    if (events.length) listener.events(events)
  }
  const tell = (told: Told) => channel.postMessage(told)

  channel.onmessage = ({ data }: MessageEvent<Told>) => {
    if (data.what === 'hello') {
      if (leads) tell({ what: 'connection', connection })
    } else if (leads) return
    else if (data.what === 'items') take(data.items)
    else {
      // Events before the first message from the reading window went to other windows only.
      if (data.connection === 'live' && !follows) listener.missed()
      follows = true
      setConnection(data.connection)
    }
  }
  tell({ what: 'hello' })

  const lead = async () => {
    leads = true
    for (let attempt = 0; !stop.signal.aborted; attempt++) {
      const opened = () => {
        attempt = 0
        setConnection('live')
        tell({ what: 'connection', connection: 'live' })
      }
      const arrived = (items: Item[]) => {
        tell({ what: 'items', items })
        take(items)
      }
      const ended = await readStream(addressOf('stream_events', {}), {
        signal: stop.signal,
        after: cursor,
        opened,
        arrived,
      }).catch(error => error)
      if (stop.signal.aborted) return
      const next = (ended instanceof Refused && REFUSED[ended.status]) || 'lost'
      // A cursor of the whole fleet is worth nothing to somebody who may see only a part of it, and the other way round.
      if (ended instanceof Refused && ended.status === 400 && cursor) {
        cursor = ''
        listener.missed()
      }
      setConnection(next)
      tell({ what: 'connection', connection: next })
      await pauseBefore(attempt, stop.signal)
    }
  }
  // Without TLS or localhost there are no locks, so each window reads for itself.
  if (navigator.locks) navigator.locks.request('fleet-events', { signal: stop.signal }, lead).catch(() => {})
  else lead()

  return () => {
    stop.abort()
    channel.close()
  }
}
