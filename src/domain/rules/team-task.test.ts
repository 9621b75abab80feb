import { expect, test } from 'vitest'
import type { Assignee, Mission } from '../records/mission.ts'
import { aMission } from '../samples.testkit.ts'
import { ended } from './ending.ts'
import { requestCancel } from './life.ts'
import * as rules from './team-task.ts'

const now = '2026-01-01T00:00:00.000Z'
const by = { actor: 'person', now }
const ada: Assignee = { member_id: 'ada', handle: 'ada', is_agent: true }
const bob: Assignee = { member_id: 'bob', handle: 'bob', is_agent: true }
const task = (more: Partial<Mission> = {}, assignee: Assignee | null = null): rules.Task =>
  aMission({
    id: 't1',
    status: 'queued',
    ready: true,
    ...more,
    task: { team_id: 'crew', assignee, handing: null, blocked: null, ...more.task },
  }) as rules.Task

const end = (more: object) => ({
  ...{ outcome: 'completed', reason: 'It ended.', changed: true, report: null, landing: 'review', maxRetries: 1 },
  ...{ concern: null, unheard: null, question: null, unusable: null, added: true, isolated: true },
  ...more,
})

test('a task that is being cancelled goes to nobody, and one that goes to somebody can be cancelled', () => {
  const running = task({ status: 'running', session_id: 's1' }, ada)
  const cancelling = requestCancel(running, by).mission as rules.Task
  for (const to of [bob, null]) expect(() => rules.assign(cancelling, to, by)).toThrow(/is being cancelled/)
  expect(rules.isReturned(cancelling)).toBe(false)
  expect(rules.isReturned(running)).toBe(true)

  const handed = rules.assign(running, null, by)!.mission
  const { mission, events } = requestCancel(handed, by)
  expect(events.map(({ kind }) => kind)).toEqual(['cancel_requested'])
  expect(() => requestCancel(mission, by)).toThrow(/already being cancelled/)
  for (const outcome of ['cancelled', 'completed'])
    expect(ended(mission, end({ outcome }) as never, by).mission.status).toBe('cancelled')
})

test('a task that nobody has takes no slot, and neither does one that a person has', () => {
  expect(rules.mayStart(task())).toBe(false)
  expect(rules.mayStart(task({}, ada))).toBe(true)
  expect(rules.mayStart(task({}, { ...ada, is_agent: false }))).toBe(false)
  expect(rules.mayStart(task({ ready: false }, ada))).toBe(false)
})

test('one who claims a task has it; others are told who', () => {
  const { mission } = rules.claim(task(), ada, by)!
  expect(mission.task!.assignee).toEqual(ada)
  expect(rules.claim(mission as rules.Task, ada, by)).toBeNull()
  expect(() => rules.claim(mission as rules.Task, bob, by)).toThrow('ada has the task t1 already')
  expect(() => rules.claim(task({ status: 'done' }), ada, by)).toThrow('Task t1 is done')
})

test('a session at work stops before the task goes on to another member', () => {
  const running = task({ status: 'running' }, ada)
  const { mission, events } = rules.assign(running, bob, by)!
  expect(mission).toMatchObject({ status: 'running', cancel_requested: true, task: { assignee: ada } })
  expect(events.map(({ kind }) => kind)).toEqual(['cancel_requested', 'task_assigned'])
  // Meanwhile it is spoken for.
  expect(() => rules.claim(mission as rules.Task, ada, by)).toThrow('bob has the task')
  const stopped = ended(mission, end({ outcome: 'cancelled' }) as never, by).mission
  expect(stopped).toMatchObject({
    ...{ status: 'queued', ready: true, cancel_requested: false, next: { reason: 'resume' } },
    task: { assignee: bob, handing: null },
  })
  // One that had completed it before it was stopped is done all the same.
  const completed = ended(mission, end({}) as never, by).mission
  expect(completed).toMatchObject({ status: 'review', cancel_requested: false, task: { assignee: bob } })
})

test('a blocked task names its blockers and goes on once they are done', () => {
  const blocker = aMission({ id: 't0', title: 'First', status: 'review' })
  const waiting = task({ depends_on: ['t0'], status: 'running' }, ada)
  expect(() => rules.requireUnblocked(waiting, [blocker])).toThrow('Task t1 is blocked by First (t0, review).')
  expect(() => rules.requireUnblocked(waiting, [{ ...blocker, status: 'done' }])).not.toThrow()
  const { mission } = rules.block(waiting, { reason: 'No tide.', ready: false, blockers: ['t0'] }, by)
  const after = ended(mission, end({}) as never, by).mission
  expect(after).toMatchObject({
    ...{ status: 'queued', ready: false, next: { reason: 'resume' }, status_reason: { code: 'blocked_by' } },
    task: { blocked: null },
  })
})

test('work that has not landed is not declared done', () => {
  expect(rules.complete(task(), by)!.mission).toMatchObject({ status: 'done', result: 'no_changes' })
  expect(rules.complete(task({ status: 'done' }), by)).toBeNull()
  expect(() => rules.complete(task({ status: 'running' }, ada), by)).toThrow('ada is at work')
  const candidate = { commit: 'c', session_id: 's', at: now }
  expect(() => rules.complete(task({ candidate, branch: 'b' }), by)).toThrow('has work that has not landed')
  expect(() => rules.complete(task({ status: 'review' }), by)).toThrow('has work that has not landed')
})

test('who is shown a task knows how it stands', () => {
  const state = (more: Partial<Mission>, assignee: Assignee | null, blockers: unknown[] = []) =>
    rules.taskState(task(more, assignee), blockers)
  expect(state({}, null)).toBe('unassigned')
  expect(state({}, null, ['t0'])).toBe('blocked')
  expect(state({}, ada)).toBe('waiting')
  expect(state({ status: 'running' }, ada)).toBe('working')
  expect(state({ status: 'failed' }, ada)).toBe('needs_person')
  expect(state({ status: 'landing' }, ada)).toBe('review')
  expect(state({ status: 'cancelled' }, ada)).toBe('done')
})
