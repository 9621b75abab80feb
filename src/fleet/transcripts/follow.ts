import { setTimeout as pause } from 'node:timers/promises'
import type { Agent } from '../../agents/index.ts'
import type { Event } from '../../domain/records/event.ts'
import type { Session } from '../../domain/records/session.ts'
import type { TranscriptEnd, TranscriptEvent } from '../../domain/records/transcript.ts'
import { type Followed, type Line, localTranscript, START } from '../../transcripts/index.ts'
import type { Fleet } from '../fleet.ts'
import { current } from '../records.ts'
import { launchOf } from './here.ts'
import {
  behind,
  cursorOf,
  eventsBehind,
  type Position,
  positionAt,
  positionOf,
  type Showing,
  shown,
} from './positions.ts'

interface Item<T> {
  cursor: string
  kind: string
  data: T
}

const PING_EVERY_MS = 15_000
/** Small, because a reader who waits holds a whole page in memory. */
const PAGE = 20

/** Waits until something happens, or until nothing has happened for a while. */
class Bell {
  readonly #signal: AbortSignal
  #rung = Promise.withResolvers<void>()
  readonly ring = (): void => this.#rung.resolve()

  constructor(signal: AbortSignal) {
    this.#signal = signal
    signal.addEventListener('abort', this.ring)
  }

  /** The next wait hears everything that happens from now on. */
  reset(): void {
    this.#rung = Promise.withResolvers<void>()
    if (this.#signal.aborted) this.ring()
  }

  async isQuiet(): Promise<boolean> {
    const timer = new AbortController()
    const quiet = pause(PING_EVERY_MS, true, { signal: timer.signal }).catch(() => false)
    const isQuiet = await Promise.race([this.#rung.promise.then(() => false), quiet])
    timer.abort()
    return isQuiet
  }

  close(): void {
    this.#signal.removeEventListener('abort', this.ring)
  }
}

interface Following extends Showing {
  after?: string
  follow: boolean
  signal: AbortSignal
}

/** A session's transcript as events, after a cursor, until the session has ended and everything was sent. */
export async function* followSession(
  fleet: Fleet,
  sessionId: string,
  { after, follow, signal, ...showing }: Following,
): AsyncGenerator<Item<TranscriptEvent | TranscriptEnd | Record<string, never>>> {
  let position = after ? positionOf(after) : undefined
  const bell = new Bell(signal)
  const following = new FollowedSession(fleet, sessionId, position, bell.ring)
  try {
    while (!signal.aborted) {
      bell.reset()
      const { agent, from, lines, ended } = await following.read()
      position = from ?? position
      for (const line of lines) {
        const events = eventsBehind(agent, line, position!, showing.raw)
        position = behind(line, position!)
        for (const event of events)
          yield { cursor: cursorOf(event.to), kind: event.event.type, data: shown(event, line, showing) }
      }
      if (lines.length) continue
      const cursor = position ? cursorOf(position) : ''
      if (ended) yield { cursor, kind: 'end', data: ended }
      if (ended || !follow) return
      if (await bell.isQuiet()) yield { cursor, kind: 'ping', data: {} }
    }
  } finally {
    following.close()
    bell.close()
  }
}

/** A session and its transcript as both change: commits announce the one, the viewer the other. */
class FollowedSession {
  readonly #fleet: Fleet
  readonly #id: string
  readonly #asked: Position | undefined
  readonly #onNews: () => void
  readonly #stopWatching: () => void
  #session: Session | null = null
  #isStale = true
  #viewer: { directory: string; lines: Followed } | null = null

  constructor(fleet: Fleet, id: string, asked: Position | undefined, onNews: () => void) {
    this.#fleet = fleet
    this.#id = id
    this.#asked = asked
    this.#onNews = onNews
    this.#stopWatching = fleet.store.watch(() => {
      this.#isStale = true
      onNews()
    })
  }

  /**
   * What is new. `from`: where it begins, if the last part ended elsewhere. `ended`: how the session ended, if it has.
   */
  async read(): Promise<{ agent: Agent; from?: Position; lines: Line[]; ended: TranscriptEnd | null }> {
    let from: Position | undefined
    if (this.#isStale || !this.#session) {
      this.#isStale = false
      this.#session = (await current(this.#fleet, 'sessions', this.#id)).value
      from = this.#look()
    }
    const session = this.#session
    const isOver = session.status === 'ended'
    const viewer = this.#viewer?.lines
    const { outcome, outcome_reason } = session
    return {
      agent: this.#fleet.agents.ofSession(session.agent),
      from,
      lines: (await (isOver ? viewer?.finish() : viewer?.read())) ?? [],
      ended: isOver ? { outcome, outcome_reason } : null,
    }
  }

  close(): void {
    this.#stopWatching()
    this.#viewer?.lines.close()
  }

  /** Only the newest launch has a transcript: one that nobody claimed printed nothing. */
  #look(): Position | undefined {
    const directory = launchOf(this.#fleet, this.#session!)
    if (!directory || directory === this.#viewer?.directory) return undefined
    this.#viewer?.lines.close()
    const from = startOf(directory, this.#asked)
    this.#viewer = { directory, lines: localTranscript(directory).follow(from.offsets, this.#onNews) }
    return from
  }
}

/** A position in another launch does not count, because that launch printed nothing. */
export const startOf = (directory: string, asked: Position | undefined): Position => {
  const start = positionAt(directory, START)
  return asked?.launch === start.launch ? asked : start
}

/** The events of the fleet, from now or after a cursor, without gaps or repeats. */
export async function* followEvents(
  fleet: Fleet,
  {
    project,
    mission,
    team,
    after,
    signal,
  }: { project?: string; mission?: string; team?: string; after?: string; signal: AbortSignal },
): AsyncGenerator<Item<Event | Record<string, never>>> {
  let cursor = after ?? (await fleet.store.tail())
  const bell = new Bell(signal)
  const stopWatching = fleet.store.watch(bell.ring)
  try {
    while (!signal.aborted) {
      bell.reset()
      const page = await fleet.store.events({ after: cursor, limit: PAGE, project_id: project, mission_id: mission })
      cursor = page.cursor
      if (page.reset) yield { cursor, kind: 'reset', data: {} }
      for (const event of page.events)
        if (team === undefined || event.data.team === team)
          yield { cursor: event.cursor, kind: event.kind, data: event }
      if (page.events.length === PAGE) continue
      if (await bell.isQuiet()) yield { cursor, kind: 'ping', data: {} }
    }
  } finally {
    stopWatching()
    bell.close()
  }
}
