import { expect, test } from 'vitest'
import { actsOn, badgeOf, COLUMNS, type Task } from './task-acts.ts'

const task = (more: Partial<Task> = {}): Task =>
  ({
    ...{ id: 't1', project_id: 'p1', state: 'unassigned', status: 'queued', priority: 0, created_at: '1' },
    ...{ assignee: null, handing_to: null, blockers: [], candidate: null, updated_at: '1', ended_at: null },
    ...more,
  }) as Task
const ada = { member_id: 'm-ada', handle: 'ada', is_agent: true }
const me = { member_id: 'm-me', handle: 'operator', is_agent: false }
const everything = () => true
/** A worker: takes tasks and works at its own, and steers nobody. */
const worker = (what: string) => ['tasks.work', 'team_take', 'team_unassign'].includes(what)

test('whoever steers acts on all tasks; a worker takes what nobody has, and acts on its own', () => {
  expect(actsOn(task(), 'm-me', everything)).toEqual(['take', 'assign', 'block', 'complete'])
  expect(actsOn(task({ state: 'waiting', assignee: ada }), 'm-me', everything)).toEqual([
    'assign',
    'unassign',
    'block',
    'complete',
  ])
  expect(actsOn(task(), 'm-me', worker)).toEqual(['take'])
  expect(actsOn(task({ state: 'waiting', assignee: ada }), 'm-me', worker)).toEqual([])
  expect(actsOn(task({ state: 'waiting', assignee: me }), 'm-me', worker)).toEqual(['unassign', 'block', 'complete'])
  expect(actsOn(task(), undefined, () => false)).toEqual([])
})

test('a task with a session, with work, or that waits for others is not declared done', () => {
  const blockers = [{ id: 't2', title: 'First', status: 'queued' }] as Task['blockers']
  for (const more of [
    { state: 'working', status: 'running', assignee: ada },
    { state: 'review', status: 'review', assignee: ada },
    { state: 'waiting', assignee: ada, candidate: 'c0ffee' },
    { state: 'blocked', assignee: ada, blockers },
  ] as Partial<Task>[])
    expect(actsOn(task(more), 'm-me', everything), JSON.stringify(more)).not.toContain('complete')
  expect(actsOn(task({ state: 'done', status: 'done' }), 'm-me', everything)).toEqual([])
  expect(actsOn(task({ state: 'working', handing_to: 'bob' }), 'm-me', everything)).toEqual([])
})

test('every state has one column, the urgent come first, and what ended last is on top', () => {
  const states = COLUMNS.flatMap(column => column.states)
  expect(states.toSorted()).toEqual(
    ['unassigned', 'blocked', 'waiting', 'working', 'needs_person', 'review', 'done'].toSorted(),
  )
  const [open, , , , done] = COLUMNS
  const ids = (tasks: Task[]) => tasks.map(({ id }) => id)
  expect(
    ids(
      [
        task({ id: 'late', created_at: '2' }),
        task({ id: 'early' }),
        task({ id: 'urgent', priority: 3, created_at: '3' }),
      ].toSorted(open!.compare),
    ),
  ).toEqual(['urgent', 'early', 'late'])
  expect(ids([task({ id: 'old', ended_at: '4' }), task({ id: 'new', ended_at: '5' })].toSorted(done!.compare))).toEqual(
    ['new', 'old'],
  )
})

test('a card says what its column does not', () => {
  expect(badgeOf(task())).toBeUndefined()
  expect(badgeOf(task({ state: 'blocked' }))?.word).toBe('Blocked')
  expect(badgeOf(task({ state: 'needs_person', status: 'failed' }))?.word).toBe('Failed')
  expect(badgeOf(task({ state: 'working', handing_to: 'bob' }))?.word).toBe('Going to bob')
  expect(badgeOf(task({ state: 'done', status: 'cancelled' }))?.word).toBe('Cancelled')
})
