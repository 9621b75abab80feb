import { setTimeout as pause } from 'node:timers/promises'
import { InvalidInput } from '../domain/errors.ts'
import type { Event } from '../domain/event.ts'
import { newestLaunch } from '../runner/folders.ts'
import { cursorOf, nearEnd, offsetsOf, TranscriptReader } from '../runner/transcript.ts'
import type { Fleet } from './fleet.ts'
import { current } from './records.ts'

interface Item<T> {
  cursor: string
  kind: string
  data: T
}

const LOOK_EVERY_MS = 50
const PING_EVERY_MS = 15_000
const PAGE = 200

interface Following {
  after?: string
  follow: boolean
  signal: AbortSignal
}

/** A session's transcript as events, from a cursor on, until the session has ended and all of it was told. */
export async function* followSession(
  fleet: Fleet,
  sessionId: string,
  { after, follow, signal }: Following,
): AsyncGenerator<Item<Record<string, unknown>>> {
  const { value: session } = await current(fleet, 'sessions', sessionId)
  const agent = fleet.agents.ofSession(session.agent)
  const [launch, cursor] = split(after)
  let reader: { directory: string; lines: TranscriptReader } | undefined
  let last = after ?? ''
  let quietSince = performance.now()
  try {
    while (!signal.aborted) {
      const { value: now } = await current(fleet, 'sessions', sessionId)
      const directory = newestLaunch(fleet.home.session(sessionId), 'agent')
      // A launch that nobody claimed printed nothing: only the newest has a transcript.
      if (directory && directory !== reader?.directory) {
        reader?.lines.close()
        reader = {
          directory,
          lines: new TranscriptReader(directory, offsetsOf(launch === numberOf(directory) ? cursor : undefined)),
        }
      }
      const over = now.status === 'ended' || !follow
      const lines = reader?.lines.read(over) ?? []
      for (const line of lines) {
        last = `${numberOf(directory!)}:${cursorOf(line.next)}`
        const events = agent.read(line.text, line.stream)
        for (const [index, event] of events.entries()) {
          const { type, ...rest } = event
          // Only the last event of a line moves the cursor on: a reader cut between two gets both again, never neither.
          yield {
            cursor: index === events.length - 1 ? last : '',
            kind: type,
            data: { at: line.at, stream: line.stream, type, ...rest },
          }
        }
      }
      if (lines.length) {
        quietSince = performance.now()
        continue
      }
      if (over) {
        if (now.status === 'ended')
          yield { cursor: last, kind: 'end', data: { outcome: now.outcome, outcome_reason: now.outcome_reason } }
        return
      }
      if (performance.now() - quietSince > PING_EVERY_MS) {
        quietSince = performance.now()
        yield { cursor: last, kind: 'ping', data: {} }
      }
      await pause(LOOK_EVERY_MS, undefined, { signal }).catch(() => {})
    }
  } finally {
    reader?.lines.close()
  }
}

interface TranscriptPage {
  events: Record<string, unknown>[]
  /** Where to go on. */
  cursor: string
  /** Whether there was more to read when it was read. */
  more: boolean
}

/** What is there of a transcript now: so many events from a cursor on, or its last ones. */
export async function transcriptPage(
  fleet: Fleet,
  sessionId: string,
  { after, limit, last }: { after?: string; limit: number; last: boolean },
): Promise<TranscriptPage> {
  const directory = last ? newestLaunch(fleet.home.session(sessionId), 'agent') : undefined
  const from = directory ? `${numberOf(directory)}:${cursorOf(nearEnd(directory, END_BYTES))}` : after
  const events: TranscriptPage['events'] = []
  let cursor = from ?? ''
  let bytes = 0
  const reading = { after: from, follow: false, signal: new AbortController().signal }
  for await (const item of followSession(fleet, sessionId, reading)) {
    if (item.kind === 'end') break
    events.push(item.data)
    bytes += JSON.stringify(item.data).length
    if (item.cursor) cursor = item.cursor
    if (last) events.splice(0, events.length - limit)
    else if (item.cursor && (events.length >= limit || bytes >= PAGE_BYTES)) return { events, cursor, more: true }
  }
  return { events, cursor, more: false }
}

/** How much of its end is looked at for the last events, and how much one page holds at most. */
const END_BYTES = 512 * 1024
const PAGE_BYTES = 256 * 1024

const numberOf = (directory: string): string => directory.slice(directory.lastIndexOf('-') + 1)

/** The launch and the place in its transcript that a cursor of ours names. */
function split(cursor: string | undefined): [string, string] | [undefined, undefined] {
  if (!cursor) return [undefined, undefined]
  const [, launch, place] = /^(\d+):(\d{1,15}-\d{1,15}-\d{1,15})$/.exec(cursor) ?? []
  if (launch && place) return [launch, place]
  throw new InvalidInput('after', 'this is not a cursor of a session', {
    try: 'Leave it out to start at the beginning.',
  })
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
