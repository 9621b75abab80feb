import { expect, test } from 'vitest'
import type { Event } from '../../../domain/records/event.ts'
import { EVENT_KINDS } from '../../../domain/records/event.ts'
import { Mission, STATUSES } from '../../../domain/records/mission.ts'
import { Session } from '../../../domain/records/session.ts'
import { inTheirWords, isTold, outputOf } from './events.ts'

const now = '2026-01-01T00:00:00.000Z'
const mission = Mission.parse({
  id: 'm1',
  project_id: 'p1',
  title: 'Count',
  prompt: { inline: 'Count the stars.' },
  status: 'queued',
  depends_on: ['m0'],
  created_at: now,
  updated_at: now,
})
const session = Session.parse({
  id: 's1',
  mission_id: 'm1',
  project_id: 'p1',
  number: 1,
  reason: 'first',
  agent: 'shell',
  model: null,
  status: 'running',
  worktree: '/work/tree',
  created_at: now,
  started_at: now,
})
const event = (kind: Event['kind']): Event => ({
  kind,
  time: now,
  actor: 'fleet',
  project_id: 'p1',
  mission_id: 'm1',
  session_id: 's1',
  cause: null,
  data: {},
  cursor: '1',
})
const facts = { mission, session, team: 'stars' }

test('missions are tasks, and sessions are workers', () => {
  const task = {
    id: 'm1',
    teamName: 'stars',
    subject: 'Count',
    description: 'Count the stars.',
    ownerHandle: null,
    status: 'open',
    blockedBy: ['m0'],
    createdAt: now,
    updatedAt: now,
  }
  expect(inTheirWords(event('mission_created'), facts)).toEqual({ kind: 'task_created', data: { task } })
  expect(inTheirWords(event('session_starting'), facts)).toEqual({
    kind: 'task_assigned',
    data: { task, handle: 's1' },
  })
  expect(inTheirWords(event('landed'), facts)).toEqual({ kind: 'task_updated', data: { task } })
  const worker = {
    id: 's1',
    handle: 's1',
    teamName: 'stars',
    workingDir: '/work/tree',
    state: 'working',
    spawnedAt: now,
  }
  for (const kind of ['session_running', 'adopted'] as const)
    expect(inTheirWords(event(kind), facts)).toEqual({ kind: 'worker_spawned', data: { worker } })
  expect(inTheirWords(event('session_ended'), facts)).toEqual({ kind: 'worker_dismissed', data: { handle: 's1' } })
  const neverStarted = { ...facts, session: { ...session, started_at: null } }
  expect(inTheirWords(event('session_ended'), neverStarted)).toBeUndefined()
})

test('every status has one of their words, and what was deleted has none', () => {
  const told = STATUSES.map(status =>
    inTheirWords(event('mission_updated'), { ...facts, mission: { ...mission, status } }),
  )
  const words = told.map(each => (each!.data.task as { status: string }).status)
  expect(new Set(words)).toEqual(new Set(['open', 'in_progress', 'blocked', 'resolved']))
  for (const kind of EVENT_KINDS) expect(inTheirWords(event(kind), { team: null })).toBeUndefined()
})

test('nothing is told of an event that nothing is looked up for', () => {
  for (const kind of EVENT_KINDS)
    expect([kind, inTheirWords(event(kind), facts) !== undefined]).toEqual([kind, isTold(event(kind))])
})

test('what an agent prints is text', () => {
  expect(outputOf({ type: 'text', text: 'Hello' })).toBe('Hello')
  expect(outputOf({ type: 'tool_result', id: 'x', output: 'done', failed: false })).toBe('done')
  expect(outputOf({ type: 'usage', usage: {}, counts: 'more' })).toBeUndefined()
})
