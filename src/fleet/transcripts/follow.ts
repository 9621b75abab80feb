import { setTimeout as pause } from 'node:timers/promises'
import type { Event } from '../../domain/records/event.ts'
import type { TranscriptEnd, TranscriptEvent } from '../../domain/records/transcript.ts'
import { newestLaunch } from '../../platform/launch-folder.ts'
import { START, TranscriptReader } from '../../transcripts/reader.ts'
import type { Fleet } from '../fleet.ts'
import { current } from '../records.ts'
import { behind, cursorOf, eventsBehind, type Place, placeAt, placeOf, type Showing, shown } from './positions.ts'

interface Item<T> {
  cursor: string
  kind: string
  data: T
}

const LOOK_EVERY_MS = 50
const PING_EVERY_MS = 15_000
const PAGE = 200

interface Following extends Showing {
  after?: string
  follow: boolean
  signal: AbortSignal
}

/** A session's transcript as events, from a cursor on, until the session has ended and all of it was told. */
export async function* followSession(
  fleet: Fleet,
  sessionId: string,
  { after, follow, signal, ...showing }: Following,
): AsyncGenerator<Item<TranscriptEvent | TranscriptEnd | Record<string, never>>> {
  const { value: session } = await current(fleet, 'sessions', sessionId)
  const agent = fleet.agents.ofSession(session.agent)
  const asked = after ? placeOf(after) : undefined
  let reader: { directory: string; lines: TranscriptReader } | undefined
  let place = asked
  let quietSince = performance.now()
  try {
    while (!signal.aborted) {
      const { value: now } = await current(fleet, 'sessions', sessionId)
      const directory = newestLaunch(fleet.home.session(sessionId), 'agent')
      // A launch that nobody claimed printed nothing: only the newest has a transcript.
      if (directory && directory !== reader?.directory) {
        reader?.lines.close()
        place = startOf(directory, asked)
        reader = { directory, lines: new TranscriptReader(directory, place.offsets) }
      }
      const ended = now.status === 'ended'
      const lines = reader?.lines.read(ended, ended ? null : new Date().toISOString()) ?? []
      for (const line of lines) {
        const events = eventsBehind(agent, line, place!, showing.raw)
        place = behind(line, place!)
        for (const event of events)
          yield { cursor: cursorOf(event.to), kind: event.event.type, data: shown(event, line, showing) }
      }
      if (lines.length) {
        quietSince = performance.now()
        continue
      }
      const cursor = place ? cursorOf(place) : ''
      if (ended || !follow) {
        if (ended) yield { cursor, kind: 'end', data: { outcome: now.outcome, outcome_reason: now.outcome_reason } }
        return
      }
      if (performance.now() - quietSince > PING_EVERY_MS) {
        quietSince = performance.now()
        yield { cursor, kind: 'ping', data: {} }
      }
      await pause(LOOK_EVERY_MS, undefined, { signal }).catch(() => {})
    }
  } finally {
    reader?.lines.close()
  }
}

/** A place in another launch than this is none here: that one printed nothing. */
export const startOf = (directory: string, asked: Place | undefined): Place => {
  const start = placeAt(directory, START)
  return asked?.launch === start.launch ? asked : start
}
/** What happens in the fleet, from now or from a cursor on: no gap, nothing twice. */
export async function* followEvents(
  fleet: Fleet,
  { project, after, signal }: { project?: string; after?: string; signal: AbortSignal },
): AsyncGenerator<Item<Event | Record<string, never>>> {
  let cursor = after ?? (await fleet.store.tail())
  let woken = Promise.withResolvers<void>()
  const stopWatching = fleet.store.watch(() => woken.resolve())
  const onAbort = () => woken.resolve()
  signal.addEventListener('abort', onAbort)
  try {
    while (!signal.aborted) {
      woken = Promise.withResolvers<void>()
      const page = await fleet.store.events({ after: cursor, limit: PAGE, project_id: project })
      cursor = page.cursor
      if (page.reset) yield { cursor, kind: 'reset', data: {} }
      for (const event of page.events) yield { cursor: event.cursor, kind: event.kind, data: event }
      if (page.events.length === PAGE) continue
      const timer = new AbortController()
      const quiet = pause(PING_EVERY_MS, 'quiet' as const, { signal: timer.signal }).catch(() => undefined)
      const woke = await Promise.race([woken.promise, quiet])
      timer.abort()
      if (woke === 'quiet') yield { cursor, kind: 'ping', data: {} }
    }
  } finally {
    stopWatching()
    signal.removeEventListener('abort', onAbort)
  }
}
