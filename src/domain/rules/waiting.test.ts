import { describe, expect, test } from 'vitest'
import { aMission, NOW } from '../samples.testkit.ts'
import { isReady, type World, waitingReasons, waitsFor } from './waiting.ts'

const world = (more: Partial<World> = {}): World => ({
  dependencies: [],
  project: { name: 'p', paused: false },
  fleetPaused: false,
  hold: null,
  full: null,
  disk: null,
  now: NOW,
  ...more,
})
const a = (status: string, more = {}) => aMission({ id: 'a', title: 'A', status: status as 'done', ...more })
const dependent = aMission({ id: 'd', status: 'queued', depends_on: ['a'] })
const text = (mission = dependent, w: Partial<World> = {}) => waitsFor(mission, world(w)).map(reason => reason.text)

describe('a mission that depends on another', () => {
  test('may start once that is done', () => expect(text(dependent, { dependencies: [a('done')] })).toEqual([]))
  test.each(['draft', 'queued', 'running', 'landing'])('waits while it is %s', status =>
    expect(text(dependent, { dependencies: [a(status)] })).toEqual(['waiting for A (a)']),
  )
  test.each(['failed', 'cancelled'])('is blocked when it is %s', status =>
    expect(text(dependent, { dependencies: [a(status)] })).toEqual(['blocked by A (a)']),
  )
  test('waits for its review', () =>
    expect(text(dependent, { dependencies: [a('review', { branch: 'b' })] })).toEqual(['waiting for review of A (a)']))
  test('may start from its branch when it says so', () => {
    const eager = { ...dependent, start_from: 'branch' as const }
    expect(text(eager, { dependencies: [a('review', { branch: 'b' })] })).toEqual([])
    expect(text(eager, { dependencies: [a('running')] })).toEqual(['waiting for A (a)'])
  })
  test('says so when it is gone', () => {
    expect(text()).toEqual(['blocked by a, which no longer exists'])
    expect(isReady(dependent, [])).toBe(false)
  })
})

test.each([
  [{ fleetPaused: true }, 'the fleet is paused'],
  [{ project: { name: 'p', paused: true } }, 'project p is paused'],
  [{ hold: { kind: 'budget' as const, text: 'the budget is spent' } }, 'the budget is spent'],
  [{ full: 'fleet' as const }, 'waiting for a free slot: the fleet is full'],
  [
    { disk: { usedBytes: 12e9, limitBytes: 10e9 } },
    'waiting: the worktrees of its project use 12.0 GB of 10.0 GB; see fleet clean --dry-run, or raise its disk limit (fleet project set --disk-limit)',
  ],
])('waits with %o', (w, expected) => expect(text(aMission({ status: 'queued' }), w)).toEqual([expected]))

test('waits until the time it was put off to, and no longer', () => {
  const later = aMission({ status: 'queued', not_before: '2026-11-15T10:00:01.000Z' })
  expect(text(later)).toEqual(['not before 2026-11-15T10:00:01.000Z'])
  expect(text(later, { now: '2026-11-15T10:00:01.000Z' })).toEqual([])
})

test('an agent at work whose client tries again says so, and until when', () => {
  const mission = aMission({ status: 'running' })
  expect(waitingReasons(mission, world())).toEqual([])
  const next_at = '2026-11-15T10:03:05.000Z'
  const retrying = { status: 429, why: 'HTTP 429', attempt: 2, of: 10, next_at, since: '2026-11-15T09:59:00.000Z' }
  const said = { kind: 'retry', until: next_at, text: 'retrying (429), try 2 of 10, next try at 10:03:05 UTC' }
  expect(waitingReasons(mission, world(), { retrying })).toEqual([said])
  expect(waitingReasons({ ...mission, status: 'review' }, world(), { retrying })).toMatchObject([{ kind: 'person' }])
})

test('a landing that has to wait for its turn says whose turn it is', () => {
  const [first, second, third] = ['a', 'b', 'c'].map(id => aMission({ id, title: id.toUpperCase(), status: 'landing' }))
  const said = (mission = first!) =>
    waitingReasons(mission, world(), { landings: [first!, second!, third!] }).map(({ text }) => text)
  expect(said(first)).toEqual(['landing'])
  expect(said(second)).toEqual(['waiting for the landing of A (a)'])
  expect(said(third)).toEqual(['waiting for the landing of A (a) and 1 more'])
})
