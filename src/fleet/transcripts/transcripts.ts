import { setImmediate as breath } from 'node:timers/promises'
import { type Agent, readForShow } from '../../agents/index.ts'
import { InvalidInput, NotFound } from '../../domain/errors.ts'
import { type AgentEvent, isError, type Stream, type TranscriptEvent } from '../../domain/records/transcript.ts'
import { MOST_LEVELS, shortened } from '../../domain/rules/shortening.ts'
import { type Line, localTranscript, STREAMS } from '../../transcripts/index.ts'
import type { Fleet } from '../fleet.ts'
import { current } from '../records.ts'
import { startOf } from './follow.ts'
import { launchOf } from './here.ts'
import {
  behind,
  cursorOf,
  eventPosition,
  eventsBehind,
  eventsIn,
  numberOf,
  type Position,
  type PositionedEvent,
  positionAt,
  positionOf,
  type Showing,
  shown,
} from './positions.ts'

/** How much one answer holds, and how much of a transcript is read for it, however long the transcript is. */
const PAGE_BYTES = 256 * 1024
const SCAN_BYTES = 2 * 1024 * 1024
/** Other work gets a turn after this much. */
const BREATH_BYTES = 256 * 1024

/** Where to begin, and in which direction: forward from a position, or back from a position or from the end. */
export interface Range {
  after?: string
  before?: string
  last: boolean
}

/** One event that is passed, with its line. */
interface Passed extends PositionedEvent {
  line: Line
}

/** A line that is passed, its events in the direction of reading, and the position behind it in that direction. */
interface Step {
  line: Line
  events: PositionedEvent[]
  position: Position
}

interface Found<T> {
  found: T[]
  /** The positions before the first and after the last event that was read. */
  start: string
  cursor: string
  /** Whether there is more in the direction it was read. */
  more: boolean
}

/** A page of a transcript as it is now: events after a position, or before one. */
export async function transcriptPage(
  fleet: Fleet,
  sessionId: string,
  { limit, ...page }: Range & Showing & { limit: number },
): Promise<{ events: TranscriptEvent[]; start: string; cursor: string; more: boolean }> {
  let bytes = 0
  const { found, ...rest } = await look(fleet, sessionId, page, limit, passed => {
    const event = shown(passed, passed.line, page)
    bytes += JSON.stringify(event).length
    return { found: event, enough: bytes >= PAGE_BYTES }
  })
  return { events: found, ...rest }
}

export interface Match {
  event_id: string
  start: string
  cursor: string
  type: AgentEvent['type']
  at: string | null
  stream: Stream
  snippet: string
  /** Where the match begins in the snippet, and how long it is. */
  marked: { from: number; length: number } | null
}

export interface Wanted {
  text?: string
  only?: 'errors'
}

/** Finds events that have this text, or that are errors. It reads a part of a long transcript at a time. */
export async function searchTranscript(
  fleet: Fleet,
  sessionId: string,
  { limit, text, only, ...range }: Range & Wanted & { raw: boolean; limit: number },
): Promise<{ matches: Match[]; start: string; cursor: string; more: boolean }> {
  if (!text && !only) throw new InvalidInput('text', 'is missing: say what to look for, or only: errors')
  const wanted = text ? new RegExp(text.replace(/[\\^$.*+?()[\]{}|/]/g, String.raw`\$&`), 'iu') : undefined
  const showing = { ...range, maxChars: SNIPPET_CHARS }
  const { found, ...rest } = await look(fleet, sessionId, showing, limit, passed => {
    const { event, line } = passed
    if (only && !isError(event)) return {}
    const snippet = snippetOf(event, wanted)
    if (!snippet) return {}
    const { event_id, cursor } = shown({ ...passed, event: { type: 'raw', text: '' } }, line, showing)
    const { at, stream } = line
    return { found: { event_id, start: cursorOf(passed.from), cursor, type: event.type, at, stream, ...snippet } }
  })
  return { matches: found, ...rest }
}

/** One whole event, however long. */
export async function transcriptEvent(
  fleet: Fleet,
  sessionId: string,
  eventId: string,
  raw: boolean,
): Promise<{ event_id: string; stream: Stream; event: AgentEvent }> {
  const { value: session } = await current(fleet, 'sessions', sessionId)
  const { launch, stream, start, index } = eventPosition(eventId)
  const directory = launchOf(fleet, session)
  const line =
    directory && numberOf(directory) === launch ? await localTranscript(directory).lineAt(stream, start) : undefined
  const events =
    line && (raw ? [rawLine(line)] : readForShow(fleet.agents.ofSession(session.agent), { ...line, stream }))
  const event = events?.[index]
  if (!event) throw new NotFound('event', eventId, { try: 'read_transcript lists the ids of events.' })
  // Any length is allowed, but not any depth: a value that is too deep could not be written as JSON.
  return { event_id: eventId, stream, event: shortened(event, Infinity).value }
}

/** Goes through a transcript from a position in one direction, until it has found or read enough. */
async function look<T>(
  fleet: Fleet,
  sessionId: string,
  { raw, ...range }: Range & { raw: boolean },
  limit: number,
  take: (passed: Passed) => { found?: T; enough?: boolean },
): Promise<Found<T>> {
  const { value: session } = await current(fleet, 'sessions', sessionId)
  const backwards = range.last || range.before !== undefined
  const directory = launchOf(fleet, session)
  if (!directory) return { found: [], start: '', cursor: '', more: false }
  const agent = fleet.agents.ofSession(session.agent)
  const from = await positionToBegin(directory, range, session.status === 'ended')
  const walk = { agent, directory, from, raw, final: session.status === 'ended' }
  const found: T[] = []
  let position = from
  let more = false
  let enough = false
  let bytes = 0
  let breathAt = BREATH_BYTES
  through: for await (const step of backwards ? stepsBack(walk) : stepsOn(walk)) {
    for (const event of step.events) {
      more = enough || found.length >= limit
      if (more) break through
      const taken = take({ ...event, line: step.line })
      if (taken.found) found.push(taken.found)
      enough = taken.enough === true
      position = backwards ? event.from : event.to
    }
    position = step.position
    bytes += step.line.text.length
    more = bytes >= SCAN_BYTES
    if (more) break
    if (bytes >= breathAt) {
      breathAt = bytes + BREATH_BYTES
      await breath()
    }
  }
  if (!backwards) return { found, start: cursorOf(from), cursor: cursorOf(position), more }
  return { found: found.reverse(), start: cursorOf(position), cursor: cursorOf(from), more }
}

async function positionToBegin(directory: string, { after, before, last }: Range, final: boolean): Promise<Position> {
  if (after && (before || last)) throw new InvalidInput('after', 'cannot be combined with before or last')
  if (after || !(last || before !== undefined)) return startOf(directory, after ? positionOf(after) : undefined)
  const asked = before && !last ? positionOf(before, 'before') : undefined
  return asked?.launch === numberOf(directory)
    ? asked
    : positionAt(directory, await localTranscript(directory).size(final))
}

interface Walk {
  agent: Agent
  directory: string
  from: Position
  raw: boolean
  final: boolean
}

async function* stepsOn({ agent, directory, from, raw, final }: Walk): AsyncGenerator<Step> {
  let position = from
  for await (const lines of localTranscript(directory).read(from.offsets, final))
    for (const line of lines) {
      const events = eventsBehind(agent, line, position, raw)
      position = behind(line, position)
      yield { line, events, position }
    }
}

async function* stepsBack({ agent, directory, from, raw }: Walk): AsyncGenerator<Step> {
  const transcript = localTranscript(directory)
  let position = from
  // If the position is inside a line, the part of that line before it comes first.
  for (const stream of STREAMS) {
    const taken = position.taken[stream]
    const start = position.offsets[stream]
    const rest = taken ? await transcript.lineAt(stream, start) : undefined
    const line = rest && {
      stream,
      start,
      at: null,
      text: rest.text,
      next: { ...position.offsets, [stream]: rest.next },
    }
    const events = line ? eventsIn(agent, line, position, raw).slice(0, taken).reverse() : []
    position = { ...position, taken: { ...position.taken, [stream]: 0 } }
    if (line) yield { line, events, position }
  }
  for await (const line of transcript.readBack(position.offsets)) {
    const events = eventsIn(agent, line, { ...position, offsets: line.next }, raw).reverse()
    position = { ...position, offsets: { ...line.next, [line.stream]: line.start } }
    yield { line, events, position }
  }
}

const rawLine = ({ text }: { text: string }): AgentEvent => ({ type: 'raw', text })

const SNIPPET_CHARS = 240

/** The text around a match. Undefined: there is no match. */
function snippetOf(event: AgentEvent, wanted: RegExp | undefined): Pick<Match, 'snippet' | 'marked'> | undefined {
  for (const text of textsIn(event)) {
    const match = wanted ? wanted.exec(text) : { index: 0, 0: '' }
    if (!match) continue
    const from = Math.max(0, match.index - SNIPPET_CHARS / 4)
    const snippet = text.slice(from, from + SNIPPET_CHARS).toWellFormed()
    const length = Math.min(match[0].length, snippet.length - (match.index - from))
    return { snippet, marked: wanted ? { from: match.index - from, length } : null }
  }
  return wanted ? undefined : { snippet: '', marked: null }
}

/** Every text in an event except its kind and ids, in the order it is shown, down to the depth that is shown. */
export function* textsIn(value: unknown, level = 0): Generator<string> {
  if (typeof value === 'string') {
    if (value) yield value
  } else if (typeof value === 'object' && value !== null && level < MOST_LEVELS) {
    for (const [name, part] of Object.entries(value))
      if (level > 0 || !UNSHOWN.has(name)) yield* textsIn(part, level + 1)
  }
}
const UNSHOWN = new Set(['type', 'id', 'call', 'within'])
