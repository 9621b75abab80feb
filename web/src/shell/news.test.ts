import { expect, test } from 'vitest'
import type { FleetEvent } from '../live/fleet-events.ts'
import { newsIn } from './news.ts'

const event = (kind: string, mission_id: string | null, data: object = {}, cause: string | null = null): FleetEvent =>
  ({ kind, mission_id, data, cause }) as FleetEvent
const titleOf = (id: string): string => `Mission ${id}`

test('what needs a person is told once for each thing, the newest of it, and leads there', () => {
  const news = newsIn(
    [
      event('asked', 'a', {}, 'Which colour?'),
      event('asked', 'a', {}, 'Which size?'),
      event('review_wanted', 'b', { was: 'landing', status: 'review' }),
      event('plan_proposed', null, { plan: 'p1' }),
    ],
    titleOf,
  )
  expect(news).toEqual([
    { tag: 'a', title: 'Needs input', body: 'Mission a\nWhich size?', path: '/missions/a' },
    { tag: 'b', title: 'Ready for review', body: 'Mission b', path: '/review/b' },
    { tag: 'p1', title: 'Plan to approve', body: '', path: '/plans/p1' },
  ])
})

test('what goes on by itself is no news', () => {
  const quiet = [
    event('landed', 'a', { was: 'landing', status: 'done' }),
    event('conflict', 'a', { was: 'landing', status: 'queued' }),
    event('usage', 'a'),
    event('session_ended', 'a'),
  ]
  expect(newsIn(quiet, titleOf)).toEqual([])
})

test('many at once are one', () => {
  const failures = ['a', 'b', 'c', 'd'].map(id => event('failed', id, { was: 'running', status: 'failed' }))
  expect(newsIn([...failures, event('asked', 'e')], titleOf)).toEqual([
    { tag: 'many', title: '5 missions need you', body: 'Failed: 4\nNeeds input: 1', path: '/inbox' },
  ])
})
