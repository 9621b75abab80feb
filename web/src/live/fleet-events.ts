import { addressOf, type Output, Refused } from '../api/client.ts'
import { type Item, pauseBefore, readStream } from './read-stream.ts'

export type FleetEvent = Output<'list_events'>['events'][number]
export type Connection = 'connecting' | 'live' | 'lost' | 'signed-out'

type Told =
  | { what: 'items'; items: Item[] }
  | { what: 'connection'; connection: Connection }
  /** Someone new asks how things stand. */
  | { what: 'hello' }

export interface Listener {
  /** What happened, in order: no gap and nothing twice. */
  events(events: FleetEvent[]): void
  /** Something may have happened unseen: whatever was read before now may be old. */
  missed(): void
  connection(connection: Connection): void
}

/**
 * What happens in the fleet, for all windows of this browser through one connection: a browser allows six to one
 * server, and each would be held for good. `from` is where the events stood before anything was read; empty: unknown. The window that has the lock reads and tells the others; each remembers
 * how far it got, so whoever takes over goes on from there.
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
      else if (item.kind && item.kind !== 'refusal') events.push(item.data as FleetEvent)
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
      // What happened between this page being sent and the first word of the one that reads was told to others only.
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
      const next = ended instanceof Refused && ended.status === 401 ? 'signed-out' : 'lost'
      setConnection(next)
      tell({ what: 'connection', connection: next })
      await pauseBefore(attempt, stop.signal)
    }
  }
  // Locks exist only on pages that came over TLS or from this machine; elsewhere each window reads for itself.
  if (navigator.locks) navigator.locks.request('fleet-events', { signal: stop.signal }, lead).catch(() => {})
  else lead()

  return () => {
    stop.abort()
    channel.close()
  }
}
