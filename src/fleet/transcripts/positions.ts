import { type Agent, type AgentEvent, readForShow, type Stream } from '../../agents/index.ts'
import { InvalidInput } from '../../domain/errors.ts'
import type { Edit, TranscriptEvent } from '../../domain/records/transcript.ts'
import { shortened } from '../../domain/rules/shortening.ts'
import { type Line, type Offsets, START, STREAMS } from '../../transcripts/index.ts'

/**
 * A position in a session's transcript lies between two events. One line may hold several events, so a position says
 * for each stream where a line begins and how many of its events come before.
 */
export interface Position {
  launch: string
  offsets: Readonly<Offsets>
  taken: Readonly<Offsets>
}

export const numberOf = (directory: string): string => directory.slice(directory.lastIndexOf('-') + 1)
export const positionAt = (directory: string, offsets: Offsets): Position => ({
  launch: numberOf(directory),
  offsets,
  taken: START,
})

export const cursorOf = ({ launch, offsets, taken }: Position): string =>
  `${launch}:${STREAMS.map(stream => `${offsets[stream]}${taken[stream] ? `.${taken[stream]}` : ''}`).join('-')}`

const PART = String.raw`(\d{1,15})(?:\.(\d{1,6}))?`
const CURSOR = new RegExp(`^(\\d{1,5}):${PART}-${PART}-${PART}$`)

export function positionOf(cursor: string, field = 'after'): Position {
  const [, launch, ...parts] = CURSOR.exec(cursor) ?? []
  if (!launch)
    throw new InvalidInput(field, 'this is not a cursor of a session', {
      try: 'Leave it out to start at the beginning, or at the end with "last".',
    })
  const [sent, ofSent, stdout, ofStdout, stderr, ofStderr] = parts.map(part => Number(part ?? 0))
  return {
    launch,
    offsets: { sent: sent!, stdout: stdout!, stderr: stderr! },
    taken: { sent: ofSent!, stdout: ofStdout!, stderr: ofStderr! },
  }
}

/** The id of an event, the same however the event is reached. */
export const eventId = (launch: string, { stream, start }: Pick<Line, 'stream' | 'start'>, index: number): string =>
  `${launch}:${stream}:${start}:${index}`

export function eventPosition(id: string): { launch: string; stream: Stream; start: number; index: number } {
  const [, launch, stream, start, index] = /^(\d{1,5}):(sent|stdout|stderr):(\d{1,15}):(\d{1,6})$/.exec(id) ?? []
  if (!launch) throw new InvalidInput('event_id', 'this is not the id of an event of a transcript')
  return { launch, stream: stream as Stream, start: Number(start), index: Number(index) }
}

export interface Showing {
  /** How many characters of each field of an event are shown. */
  maxChars: number
  /** Show the lines as they were printed, whatever they mean. */
  raw: boolean
}

export interface PositionedEvent {
  event: AgentEvent
  from: Position
  to: Position
}

/** The events of a line, with the positions before and after each. `beside` has the positions in the other streams. */
export function eventsIn(agent: Agent, line: Line, beside: Position, raw: boolean): PositionedEvent[] {
  const { stream, start, next } = line
  const events: AgentEvent[] = raw ? [{ type: 'raw', text: line.text }] : readForShow(agent, line)
  const at = (offset: number, taken: number): Position => ({
    launch: beside.launch,
    offsets: { ...beside.offsets, [stream]: offset },
    taken: { ...beside.taken, [stream]: taken },
  })
  const position = (index: number) => (index === events.length ? at(next[stream], 0) : at(start, index))
  return events.map((event, index) => ({ event, from: position(index), to: position(index + 1) }))
}

/** The events of a line that come after a position. */
export const eventsBehind = (agent: Agent, line: Line, position: Position, raw: boolean): PositionedEvent[] =>
  eventsIn(agent, line, position, raw).slice(position.taken[line.stream])

export const behind = ({ stream, next }: Line, { launch, taken }: Position): Position => ({
  launch,
  offsets: next,
  taken: { ...taken, [stream]: 0 },
})

export function shown({ event, from, to }: PositionedEvent, line: Line, { maxChars }: Showing): TranscriptEvent {
  const { edits, ...rest } = event as AgentEvent & { edits?: Edit[] }
  const short = shortened(rest, maxChars)
  const changes = edits && shortEdits(edits, maxChars)
  return {
    ...{ event_id: eventId(to.launch, line, from.taken[line.stream]), cursor: cursorOf(to) },
    ...{ at: line.at, stream: line.stream },
    ...(short.value as AgentEvent),
    ...(changes && { edits: changes.edits }),
    ...((short.cut || changes?.cut) && { cut: true as const }),
  }
}

const MOST_EDITS = 100

/** All fields stay, however few characters are left for each. */
function shortEdits(all: Edit[], maxChars: number): { edits: Edit[]; cut: boolean } {
  const short = all.slice(0, MOST_EDITS).map(edit => shortened(edit, Math.ceil(maxChars / all.length)))
  return { edits: short.map(({ value }) => value), cut: all.length > MOST_EDITS || short.some(({ cut }) => cut) }
}
