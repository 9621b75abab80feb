import { describe, expect, test } from 'vitest'
import { aMission, BY } from '../samples.testkit.ts'
import { Loop, nextMove, type Round, type Standing } from './loop.ts'
import { Plan } from './plan.ts'

const at = { created_at: BY.now, updated_at: BY.now }
const round = (outcome: Round['outcome'], number = 1): Round => ({
  ...{ number, plan_id: 'p', outcome, text: 'so', cost_usd: 1, started_at: BY.now, ended_at: null },
})
const loop = (more: Partial<Loop> = {}): Loop =>
  Loop.parse({
    id: 'l',
    project_id: 'p',
    goal: { inline: 'g' },
    status: 'running',
    rounds: [round(null)],
    ...at,
    ...more,
  })
const plan = (status: Plan['status']): Plan =>
  Plan.parse({ id: 'p', project_id: 'p', mission_id: 'm', goal: { inline: 'g' }, status, reason: 'because', ...at })
const move = (given: Loop, standing: Partial<Standing> = {}) =>
  nextMove(given, {
    plan: plan('approved'),
    planner: aMission({ status: 'done' }),
    missions: [],
    spentUsd: 0,
    ...standing,
  })

describe('what a loop does next', () => {
  test.each([
    ['proposed', { do: 'approve' }],
    ['complete', { do: 'check' }],
    ['planning', { do: 'wait', for: 'the planner' }],
    ['failed', { do: 'end round', outcome: 'planning_failed', text: 'because' }],
  ] as const)('with a plan that is %s', (status, expected) => {
    expect(move(loop(), { plan: plan(status) })).toEqual(expected)
  })

  test('a person looks first where the planner is in review', () => {
    const planner = aMission({ status: 'review' })
    expect(move(loop(), { plan: plan('complete'), planner })).toMatchObject({
      do: 'wait',
      for: expect.stringContaining('you'),
    })
  })

  test('cancels what waits for one that failed, and only once nothing else can go on', () => {
    const failed = aMission({ id: 'f', status: 'failed' })
    const second = aMission({ id: 's', status: 'queued', depends_on: ['f'] })
    const third = aMission({ id: 't', status: 'queued', depends_on: ['s'] })
    const busy = aMission({ id: 'b', status: 'running' })
    expect(move(loop(), { missions: [third, second, failed] })).toEqual({ do: 'cancel', missions: ['s', 't'] })
    expect(move(loop(), { missions: [third, second, failed, busy] })).toMatchObject({ do: 'wait' })
  })

  test('a round is progress only if something was brought', () => {
    const done = (result: 'landed' | 'no_changes') => aMission({ status: 'done', result })
    expect(move(loop(), { missions: [done('landed'), aMission({ status: 'failed' })] })).toMatchObject({
      outcome: 'progress',
    })
    expect(move(loop(), { missions: [done('no_changes')] })).toMatchObject({ outcome: 'nothing_done' })
  })

  test('limits: rounds, failures in a row, money; complete comes before all of them', () => {
    const rounds = (...outcomes: Round['outcome'][]) => ({ rounds: outcomes.map((each, i) => round(each, i + 1)) })
    const limit = (code: string) => ({ do: 'end', end: { status: 'limit', code } })
    expect(move(loop({ ...rounds('progress', 'progress'), max_rounds: 2 }))).toMatchObject(limit('rounds'))
    expect(move(loop({ ...rounds('nothing_done', 'progress', 'checks_failed'), max_failures: 2 }))).toEqual({
      do: 'plan',
    })
    expect(move(loop({ ...rounds('progress', 'planning_failed', 'checks_failed'), max_failures: 2 }))).toMatchObject(
      limit('failures'),
    )
    expect(move(loop({ max_budget_usd: 5 }), { spentUsd: 5 })).toMatchObject(limit('money'))
    const complete = loop({ ...rounds('complete'), max_rounds: 1, max_budget_usd: 1 })
    expect(move(complete, { spentUsd: 9 })).toMatchObject({ do: 'end', end: { status: 'complete' } })
  })

  test('paused it begins nothing; stopping it ends its agents first', () => {
    expect(move(loop({ status: 'paused' }), { plan: plan('proposed') })).toMatchObject({ do: 'wait' })
    const stopping = loop({ status: 'stopping' })
    expect(move(stopping, { plan: plan('planning') })).toEqual({ do: 'reject' })
    expect(move(stopping, { missions: [aMission({ id: 'r', status: 'running' })] })).toMatchObject({ do: 'cancel' })
    expect(move(stopping, { missions: [aMission({ status: 'running', cancel_requested: true })] })).toMatchObject({
      do: 'wait',
    })
    expect(move(stopping)).toEqual({ do: 'close' })
  })
})
