import { expect, test } from 'vitest'
import type { TranscriptEvent } from '../../../../src/domain/records/transcript.ts'
import { isFull, MOST_EVENTS, opened, type PageRead, withNewer, withOlder } from './transcript-window.ts'

const event = (at: number) =>
  ({
    event_id: `e${at}`,
    cursor: `c${at + 1}`,
    at: null,
    stream: 'stdout',
    type: 'text',
    text: `${at}`,
  }) as TranscriptEvent
const page = (from: number, to: number, more: boolean): PageRead => ({
  events: Array.from({ length: to - from }, (_, index) => event(from + index)),
  start: `c${from}`,
  cursor: `c${to}`,
  more,
})
const span = ({ events }: { events: readonly TranscriptEvent[] }) => [events[0]?.event_id, events.at(-1)?.event_id]

test('opened at the end, it grows backwards to the beginning and forwards with what comes', () => {
  let window = opened(page(50, 100, true), 'end')
  expect(window).toMatchObject({ atStart: false, atEnd: true, start: 'c50', cursor: 'c100' })
  window = withOlder(window, page(0, 50, false))
  window = withNewer(window, page(100, 103, false))
  expect(window).toMatchObject({ atStart: true, atEnd: true, start: 'c0', cursor: 'c103' })
  expect(window.conversation.blocks).toHaveLength(103)
})

test('what comes twice, at either end, as after a stream that broke off, is there once', () => {
  let window = opened(page(50, 100, true), 'end')
  window = withNewer(window, page(95, 105, false))
  window = withOlder(window, page(40, 55, true))
  expect(span(window)).toEqual(['e40', 'e104'])
  expect(window.conversation.blocks).toHaveLength(65)
})

test('while it follows, the oldest are let go of and can be read again', () => {
  let window = opened(page(0, MOST_EVENTS, false), 'end')
  window = withNewer(window, {
    events: page(MOST_EVENTS, MOST_EVENTS + 10, false).events,
    cursor: `c${MOST_EVENTS + 10}`,
  })
  expect(window.events.length).toBeLessThan(MOST_EVENTS)
  expect(window.atStart).toBe(false)
  expect(window.events[0]!.event_id).toBe(`e${window.start.slice(1)}`)
})

test('while somebody reads further up nothing of that goes, until it is too much', () => {
  let window = opened(page(0, MOST_EVENTS, false), 'end')
  window = withNewer(window, page(MOST_EVENTS, MOST_EVENTS + 4001, false), { keep: true })
  expect(window.events[0]!.event_id).toBe('e0')
  expect(isFull(window)).toBe(true)
})

test('reading far back lets go of the end, and says where to go on', () => {
  let window = opened(page(20_000, 20_000 + MOST_EVENTS, true), 'end')
  window = withOlder(window, page(19_500, 20_000, true))
  expect(window.atEnd).toBe(false)
  expect(window.cursor).toBe(window.events.at(-1)!.cursor)
  window = withNewer(window, page(Number(window.cursor.slice(1)), Number(window.cursor.slice(1)) + 100, true))
  expect(span(window)[1]).toBe(`e${Number(window.cursor.slice(1)) - 1}`)
})
