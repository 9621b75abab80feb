import { describe, expect, test } from 'vitest'
import type { StageStatus } from '../records/stage-status.ts'
import type { Stage, Workflow } from '../records/workflow.ts'
import { counted, endOf, judgedBy, namedWinner, stageStatus, verdictOn } from './workflow.ts'

const stage = (over: Partial<Stage> = {}): Stage =>
  ({ name: 's', depends_on: [], on_failure: 'stop', ...over }) as Stage

/** The verdict on a stage, given how the others ended and what their reports say. */
function judge(stages: Stage[], index: number, settled: (StageStatus | null)[], says: string[] = []) {
  const asked = new Set(judgedBy(stages, index))
  return verdictOn(stages, index, each => {
    expect(asked, `the facts of stage ${each} are read before`).toContain(each)
    return { settled: settled[each] ?? null, says: says[each] ?? '' }
  })
}

test.each([
  ['a stage without dependencies begins', [stage()], 0, [], 'go'],
  ['one waits for what it depends on', [stage(), stage({ depends_on: [0] })], 1, [null], 'wait'],
  ['it begins when that has ended well', [stage(), stage({ depends_on: [0] })], 1, ['completed'], 'go'],
  ['also when that says it is blocked', [stage(), stage({ depends_on: [0] })], 1, ['blocked'], 'go'],
  ['also when that was skipped', [stage(), stage({ depends_on: [0] })], 1, ['skipped'], 'go'],
  ['a failure that stops keeps it waiting', [stage(), stage({ depends_on: [0] })], 1, ['failed'], 'wait'],
  [
    'a failure that does not matter lets it begin',
    [stage({ on_failure: 'continue' }), stage({ depends_on: [0] })],
    1,
    ['failed'],
    'go',
  ],
  ['all of them count', [stage(), stage(), stage({ depends_on: [0, 1] })], 2, ['completed', null], 'wait'],
] as const)('%s', (_, stages, index, settled, verdict) => {
  expect(judge([...stages] as Stage[], index, [...settled])).toBe(verdict)
})

describe('a stage that takes the place of one that failed', () => {
  const stages = [stage({ on_failure: { run: 1 } }), stage(), stage({ depends_on: [0] })]
  test.each([
    ['waits while that is at work', 1, [null], 'wait'],
    ['begins when that failed', 1, ['failed'], 'go'],
    ['is not needed when that ended well', 1, ['completed'], 'skip'],
    ['those behind wait for it', 2, ['failed', null], 'wait'],
    ['those behind begin after it', 2, ['failed', 'completed'], 'go'],
    ['those behind wait when it failed too', 2, ['failed', 'failed'], 'wait'],
  ] as const)('%s', (_, index, settled, verdict) => {
    expect(judge(stages, index, [...settled])).toBe(verdict)
  })
})

describe('a condition', () => {
  const on = (when: Stage['when']) => [stage(), stage({ depends_on: [0], when })]
  test.each([
    ['how it ended holds', { stage: 0, status: ['completed'] }, 'completed', '', 'go'],
    ['how it ended does not hold', { stage: 0, status: ['blocked'] }, 'completed', '', 'skip'],
    ['what it says holds, in whatever case', { stage: 0, says: 'LGTM' }, 'completed', 'looks fine, lgtm.', 'go'],
    ['what it says does not hold', { stage: 0, says: 'LGTM' }, 'completed', 'no', 'skip'],
    ['both must hold', { stage: 0, status: ['completed'], says: 'yes' }, 'completed', 'no', 'skip'],
  ] as const)('%s', (_, when, settled, says, verdict) => {
    expect(judge(on(when as unknown as Stage['when']), 1, [settled], [says])).toBe(verdict)
  })
})

test('the winner is the last name after the word, however it is written', () => {
  const stages = [stage({ name: 'First try' }), stage({ name: 'second' }), stage({ chooses: [0, 1] })]
  const named = (said: string) => namedWinner(stages, stages[2]!, said)
  expect(named('winner: second')).toBe(1)
  expect(named('**Winner:** first try\nbecause')).toBe(0)
  expect(named('{"winner": "second"}')).toBe(1)
  expect(named('winner: second, no: winner = First Try')).toBe(0)
  expect(named('winner: third')).toBeUndefined()
  expect(named('I like second')).toBeUndefined()
})

test('a stage that has to choose failed unless it names a winner that ended well', () => {
  const done = { status: 'done', status_reason: null } as const
  expect(stageStatus(done, undefined, { chooses: [0, 1], hasWinner: true })).toBe('completed')
  expect(stageStatus(done, undefined, { chooses: [0, 1], hasWinner: false })).toBe('failed')
  expect(stageStatus(done, undefined, { hasWinner: false })).toBe('completed')
})

test('a stage that has to ask failed unless a person answered it', () => {
  const done = { status: 'done', status_reason: null } as const
  expect(stageStatus(done, undefined, { asks: true, wasAnswered: true })).toBe('completed')
  expect(stageStatus(done, undefined, { asks: true, wasAnswered: false })).toBe('failed')
  expect(stageStatus(done, undefined, { asks: false, wasAnswered: false })).toBe('completed')
  const skipped = { status: 'cancelled', status_reason: { code: 'skipped', text: '' } } as const
  expect(stageStatus(skipped, undefined, { asks: true })).toBe('skipped')
})

test.each([
  ['APPROVED', 'skip'],
  ['All is well.\n\n**Approved.**\n', 'skip'],
  ['NOT APPROVED', 'go'],
  ['It cannot be approved yet: line 3 is wrong.', 'go'],
  ['', 'go'],
])('work is done again unless a line of its review approves it: %j', (says, verdict) => {
  const stages = [
    stage(),
    stage({ depends_on: [0], when: { stage: 0, status: ['completed'], lacks_line: 'APPROVED' } }),
  ]
  expect(judge(stages, 1, ['completed'], [says])).toBe(verdict)
  // A review that was skipped asks for nothing.
  expect(judge(stages, 1, ['skipped'], [''])).toBe('skip')
})

test('how a stage ended follows from its mission and its report', () => {
  const done = { status: 'done', status_reason: null } as const
  expect(stageStatus(done, undefined)).toBe('completed')
  expect(stageStatus(done, { status: 'blocked' })).toBe('blocked')
  expect(stageStatus({ status: 'failed', status_reason: null }, undefined)).toBe('failed')
  expect(stageStatus({ status: 'cancelled', status_reason: { code: 'skipped', text: '' } }, undefined)).toBe('skipped')
  expect(stageStatus({ status: 'cancelled', status_reason: null }, undefined)).toBe('failed')
})

describe('the counts', () => {
  const running = {
    id: 'w',
    status: 'running',
    open: 1,
    over: 1,
    stages: 3,
    failed: [] as string[],
  } as unknown as Workflow

  test('an end counts once; a winner that lands is at work again', () => {
    expect(counted.ended(running, stage(), 'completed', false)).toMatchObject({ open: 0, over: 2, failed: [] })
    expect(counted.ended(running, stage(), 'completed', true)).toMatchObject({ open: 1, over: 1 })
  })

  test('only a failure that stops is named', () => {
    expect(counted.ended(running, stage({ name: 'x' }), 'failed', false).failed).toEqual(['x'])
    expect(counted.ended(running, stage({ on_failure: 'continue' }), 'failed', false).failed).toEqual([])
    expect(counted.ended(running, stage({ on_failure: { run: 1 } }), 'failed', false).failed).toEqual([])
  })

  test('sent back to work, it is as if it had not ended', () => {
    const ended = counted.ended(running, stage({ name: 'x' }), 'failed', false)
    expect(counted.reopened(ended, stage({ name: 'x' }))).toMatchObject({ open: 1, over: 1, failed: [] })
  })

  test('a workflow ends when nothing is at work: well, if all is over and nothing failed', () => {
    expect(endOf(running)).toBeNull()
    expect(endOf({ ...running, open: 0, over: 3 })).toMatchObject({ status: 'done' })
    expect(endOf({ ...running, open: 0, over: 2, failed: ['x'] })).toMatchObject({
      status: 'failed',
      status_reason: { text: 'Failed: x.', try: 'fleet workflow retry w' },
    })
    expect(endOf({ ...running, status: 'cancelled', open: 0, over: 3 })).toBeNull()
  })
})
