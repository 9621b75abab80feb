import { expect, test } from 'vitest'
import type { FleetEvent } from '../../live/fleet-events.ts'
import { grouped } from './grouped.ts'

let cursor = 0
const event = (kind: FleetEvent['kind'], more: Partial<FleetEvent> = {}): FleetEvent => ({
  ...{ kind, time: '2026-11-18T10:00:00.000Z', actor: 'fleet', project_id: null, mission_id: null, session_id: null },
  ...{ cause: null, data: {}, cursor: String(++cursor) },
  ...more,
})

test('events of a mission stand together by day, without usage', () => {
  const events = [
    event('landed', { mission_id: 'a' }),
    event('usage', { mission_id: 'a' }),
    event('paused'),
    event('mission_created', { mission_id: 'b' }),
    event('reported', { mission_id: 'a' }),
    event('mission_created', { mission_id: 'a', time: '2026-11-17T10:00:00.000Z' }),
  ]
  const groups = grouped(events, time => time.slice(0, 10))
  expect(groups.map(({ day, mission_id, events }) => [day, mission_id, events.map(({ kind }) => kind)])).toEqual([
    ['2026-11-18', 'a', ['landed', 'reported']],
    ['2026-11-18', null, ['paused']],
    ['2026-11-18', 'b', ['mission_created']],
    ['2026-11-17', 'a', ['mission_created']],
  ])
})
