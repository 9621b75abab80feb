import { setImmediate as breath } from 'node:timers/promises'
import { type Agent, readForShow } from '../../agents/index.ts'
import { InvalidInput, NotFound } from '../../domain/errors.ts'
import { type AgentEvent, isError, type Stream, type TranscriptEvent } from '../../domain/records/transcript.ts'
import { MOST_LEVELS, shortened } from '../../domain/rules/shortening.ts'
import { newestLaunch } from '../../platform/launch-folder.ts'
import { endOf, TranscriptBackwards } from '../../transcripts/backwards.ts'
import { type Line, lineAt, STREAMS, TranscriptReader } from '../../transcripts/reader.ts'
import type { Fleet } from '../fleet.ts'
import { current } from '../records.ts'
import { startOf } from './follow.ts'
import {
  behind,
  cursorOf,
  eventPlace,
  eventsBehind,
  eventsIn,
  numberOf,
  type Place,
  type Placed,
  placeAt,
  placeOf,
  type Showing,
  shown,
} from './positions.ts'

/** How much one answer holds, and how much of a transcript is gone through for it, whatever its length. */
const PAGE_BYTES = 256 * 1024
const SCAN_BYTES = 2 * 1024 * 1024
/** Others have their turn after this much. */
const BREATH_BYTES = 256 * 1024

/** Where to begin, and in which direction: on from a place, or back from one or from the end. */
export interface Range {
  after?: string
  before?: string
  last: boolean
}

/** One event on the way. */
interface Passed extends Placed {
  line: Line
}

/** A line on the way, in the direction of reading, and the place where it is done with. */
interface Step {
  line: Line
  events: Placed[]
  place: Place
}

interface Found<T> {
  found: T[]
  /** In front of the first and behind the last thing that was looked at. */
  start: string
  cursor: string
  /** Whether there is more in the direction it was read. */
  more: boolean
}

/** What is there of a transcript now: so many events from a place on, or up to one. */
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
  /** Where in the snippet what was looked for begins, and how long it is. */
  marked: { from: number; length: number } | null
}

export interface Wanted {
  text?: string
  only?: 'errors'
}

/** The events that say this, or that something failed; a part of a long transcript at a time. */
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

/** All of one event, however long. */
export async function transcriptEvent(
  fleet: Fleet,
  sessionId: string,
  eventId: string,
  raw: boolean,
): Promise<{ event_id: string; stream: Stream; event: AgentEvent }> {
  const { value: session } = await current(fleet, 'sessions', sessionId)
  const { launch, stream, start, index } = eventPlace(eventId)
  const directory = newestLaunch(fleet.home.session(sessionId), 'agent')
  const line = directory && numberOf(directory) === launch ? lineAt(directory, stream, start) : undefined
  const events =
    line && (raw ? [rawLine(line)] : readForShow(fleet.agents.ofSession(session.agent), { ...line, stream }))
  const event = events?.[index]
  if (!event) throw new NotFound('event', eventId, { try: 'read_transcript tells the ids of events.' })
  // However long, but not however deep: nobody could write that down again.
  return { event_id: eventId, stream, event: shortened(event, Infinity).value }
}

/** Goes through a transcript from a place in one direction, until so much is found, or so much was gone through. */
async function look<T>(
  fleet: Fleet,
  sessionId: string,
  { raw, ...range }: Range & { raw: boolean },
  limit: number,
  take: (passed: Passed) => { found?: T; enough?: boolean },
): Promise<Found<T>> {
  const { value: session } = await current(fleet, 'sessions', sessionId)
  const backwards = range.last || range.before !== undefined
  const directory = newestLaunch(fleet.home.session(sessionId), 'agent')
  if (!directory) return { found: [], start: '', cursor: '', more: false }
  const agent = fleet.agents.ofSession(session.agent)
  const from = placeToBegin(directory, range, session.status === 'ended')
  const walk = { agent, directory, from, raw, final: session.status === 'ended' }
  const found: T[] = []
  let place = from
  let more = false
  let enough = false
  let bytes = 0
  let breathAt = BREATH_BYTES
  through: for (const step of backwards ? stepsBack(walk) : stepsOn(walk)) {
    for (const event of step.events) {
      more = enough || found.length >= limit
      if (more) break through
      const taken = take({ ...event, line: step.line })
      if (taken.found) found.push(taken.found)
      enough = taken.enough === true
      place = backwards ? event.from : event.to
    }
    place = step.place
    bytes += step.line.text.length
    more = bytes >= SCAN_BYTES
    if (more) break
    if (bytes >= breathAt) {
      breathAt = bytes + BREATH_BYTES
      await breath()
    }
  }
  if (!backwards) return { found, start: cursorOf(from), cursor: cursorOf(place), more }
  return { found: found.reverse(), start: cursorOf(place), cursor: cursorOf(from), more }
}

function placeToBegin(directory: string, { after, before, last }: Range, final: boolean): Place {
  if (after && (before || last)) throw new InvalidInput('after', 'goes with neither before nor last')
  if (after || !(last || before !== undefined)) return startOf(directory, after ? placeOf(after) : undefined)
  const asked = before && !last ? placeOf(before, 'before') : undefined
  const end = () => placeAt(directory, endOf(directory, final))
  return asked?.launch === numberOf(directory) ? asked : end()
}

interface Walk {
  agent: Agent
  directory: string
  from: Place
  raw: boolean
  final: boolean
}

function* stepsOn({ agent, directory, from, raw, final }: Walk): Generator<Step> {
  const reader = new TranscriptReader(directory, from.offsets)
  let place = from
  try {
    for (let lines = reader.read(final); lines.length; lines = reader.read(final))
      for (const line of lines) {
        const events = eventsBehind(agent, line, place, raw)
        place = behind(line, place)
        yield { line, events, place }
      }
  } finally {
    reader.close()
  }
}

function* stepsBack({ agent, directory, from, raw }: Walk): Generator<Step> {
  let place = from
  // Of a line in whose middle the place is, the part in front of it.
  for (const stream of STREAMS) {
    const taken = place.taken[stream]
    const start = place.offsets[stream]
    const rest = taken ? lineAt(directory, stream, start) : undefined
    const line = rest && { stream, start, at: null, text: rest.text, next: { ...place.offsets, [stream]: rest.next } }
    const events = line ? eventsIn(agent, line, place, raw).slice(0, taken).reverse() : []
    place = { ...place, taken: { ...place.taken, [stream]: 0 } }
    if (line) yield { line, events, place }
  }
  const lines = new TranscriptBackwards(directory, place.offsets)
  try {
    for (let line = lines.previous(); line; line = lines.previous()) {
      const events = eventsIn(agent, line, { ...place, offsets: line.next }, raw).reverse()
      place = { ...place, offsets: { ...line.next, [line.stream]: line.start } }
      yield { line, events, place }
    }
  } finally {
    lines.close()
  }
}

const rawLine = ({ text }: { text: string }): AgentEvent => ({ type: 'raw', text })

const SNIPPET_CHARS = 240

/** What is around the words that were looked for; undefined: they are not in it. */
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

/** Every text in an event but what names its kind, in the order it is shown; bounded by the depth that is shown. */
function* textsIn(value: unknown, level = 0): Generator<string> {
  if (typeof value === 'string') {
    if (value) yield value
  } else if (typeof value === 'object' && value !== null && level < MOST_LEVELS) {
    for (const [name, part] of Object.entries(value))
      if (level > 0 || !UNSHOWN.has(name)) yield* textsIn(part, level + 1)
  }
}
const UNSHOWN = new Set(['type', 'id', 'call', 'within'])
