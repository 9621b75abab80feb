import type { TranscriptEvent } from '../../../../src/domain/records/transcript.ts'
import { type Conversation, type Folding, fold, NOTHING_SAID } from '../../../../src/domain/rules/conversation.ts'

/**
 * The loaded part of a transcript, without gaps. It grows at one end while reading and is cut at the other, so that a
 * transcript of any length costs the same.
 */
export interface TranscriptWindow {
  events: readonly TranscriptEvent[]
  conversation: Conversation
  /** The position before its first event. */
  start: string
  /** The position after its last event. */
  cursor: string
  atStart: boolean
  /** There was nothing more when it was read, so new events are followed live. */
  atEnd: boolean
}

export const MOST_EVENTS = 12_000
const DROPPED = 4000

export interface PageRead {
  events: readonly TranscriptEvent[]
  start: string
  cursor: string
  more: boolean
}

const seen = (events: readonly TranscriptEvent[]) => new Set(events.map(({ event_id }) => event_id))

export const opened = (page: PageRead, from: 'end' | 'start', folding?: Folding): TranscriptWindow => ({
  events: page.events,
  conversation: fold(NOTHING_SAID, page.events, folding),
  start: page.start,
  cursor: page.cursor,
  atStart: from === 'start' || !page.more,
  atEnd: from === 'end' || !page.more,
})

/** Adds an older page at the front. */
export function withOlder(window: TranscriptWindow, page: PageRead, folding?: Folding): TranscriptWindow {
  const known = seen(window.events)
  const all = [...page.events.filter(({ event_id }) => !known.has(event_id)), ...window.events]
  const events = all.length > MOST_EVENTS ? all.slice(0, -DROPPED) : all
  const dropped = events.length < all.length
  return {
    events,
    conversation: fold(NOTHING_SAID, events, folding),
    start: page.start,
    cursor: dropped ? events.at(-1)!.cursor : window.cursor,
    atStart: !page.more,
    atEnd: window.atEnd && !dropped,
  }
}

/** Adds newer events. `keep`: somebody reads further up, so nothing is cut there. */
export function withNewer(
  window: TranscriptWindow,
  page: Pick<PageRead, 'events' | 'cursor'> & { more?: boolean },
  { keep = false, ...folding }: Folding & { keep?: boolean } = {},
): TranscriptWindow {
  const known = seen(page.events.length > 50 ? window.events : window.events.slice(-50))
  const fresh = page.events.filter(({ event_id }) => !known.has(event_id))
  const all = fresh.length ? [...window.events, ...fresh] : window.events
  const drops = all.length > MOST_EVENTS && !keep
  const events = drops ? all.slice(DROPPED) : all
  return {
    events,
    conversation: drops ? fold(NOTHING_SAID, events, folding) : fold(window.conversation, fresh, folding),
    start: drops ? all[DROPPED - 1]!.cursor : window.start,
    cursor: page.cursor || window.cursor,
    atStart: window.atStart && !drops,
    atEnd: page.more === undefined ? window.atEnd : !page.more,
  }
}

/** Somebody reads further up and many events have arrived since. They are loaded when the reader goes on. */
export const isFull = ({ events }: TranscriptWindow): boolean => events.length > MOST_EVENTS + DROPPED
