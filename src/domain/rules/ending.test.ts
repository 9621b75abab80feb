import { describe, expect, test } from 'vitest'
import { MISSION_TYPES, type Mission } from '../records/mission.ts'
import { aMission, aReport, BY } from '../samples.testkit.ts'
import { type Ended, ended, MAX_HAND_OVERS, MAX_INTERRUPTIONS, MAX_RATE_LIMITS } from './ending.ts'

const running = (more: Partial<Mission> = {}): Mission => aMission({ status: 'running', ...more })
const end = (more: Partial<Ended> = {}): Ended => ({
  outcome: 'completed',
  reason: 'It ended.',
  changed: true,
  report: aReport(),
  landing: 'auto',
  maxRetries: 0,
  concern: null,
  unheard: null,
  question: null,
  unusable: null,
  isolated: true,
  added: true,
  ...more,
})
const missionAfter = (e: Partial<Ended>, mission = running()): Mission => ended(mission, end(e), BY).mission

describe('a completed session', () => {
  test.each([
    ['auto', { status: 'landing' }],
    ['review', { status: 'review', status_reason: { code: 'policy' } }],
    ['never', { status: 'done', result: 'kept' }],
  ] as const)('under policy %s', (landing, expected) => expect(missionAfter({ landing })).toMatchObject(expected))

  test('goes to review when there is a concern, whatever the policy', () => {
    const concern = { code: 'base_moved', text: 'main was moved' }
    for (const landing of ['auto', 'never'] as const)
      expect(missionAfter({ landing, concern })).toMatchObject({
        status: 'review',
        status_reason: { code: 'base_moved' },
      })
  })

  test('whose report says blocked waits for a person', () => {
    expect(missionAfter({ report: aReport({ status: 'blocked', summary: 'no key' }) })).toMatchObject({
      status: 'needs_input',
      status_reason: { code: 'blocked', text: 'no key' },
    })
  })

  test('goes on when a person said something it had not heard', () => {
    const unheard = { inline: 'Also the tests, please.' }
    expect(missionAfter({ unheard })).toMatchObject({
      status: 'queued',
      next: { reason: 'resume', instructions: unheard },
    })
  })

  test('in a folder without worktrees is kept', () =>
    expect(missionAfter({ isolated: false, changed: false })).toMatchObject({ status: 'done', result: 'kept' }))
})

describe('a session that changed nothing', () => {
  test('and says nothing is not done', () =>
    expect(missionAfter({ changed: false })).toMatchObject({
      status: 'failed',
      status_reason: { code: 'nothing_done' },
    }))

  test('is done when its own report says so', () => {
    expect(
      missionAfter({ changed: false, report: aReport({ source: 'agent', claimed_status: 'completed_no_changes' }) }),
    ).toMatchObject({ status: 'done', result: 'no_changes' })
  })

  test('is not done because its last words look like a report', () => {
    expect(missionAfter({ changed: false, report: aReport({ source: 'git', summary: 'Nothing to do.' }) }).status).toBe(
      'failed',
    )
  })

  test.each(MISSION_TYPES)('of type %s', mission_type => {
    const status = ['review', 'explore', 'plan', 'test'].includes(mission_type) ? 'done' : 'failed'
    expect(
      missionAfter({ changed: false, report: aReport({ summary: 'It is fine.' }) }, running({ mission_type })).status,
    ).toBe(status)
    expect(missionAfter({ changed: false }, running({ mission_type })).status).toBe('failed')
  })
})

describe('a failed session', () => {
  test('fails the mission with the reason', () => {
    expect(missionAfter({ outcome: 'failed', reason: 'exit 3' })).toMatchObject({
      status: 'failed',
      failures: 1,
      status_reason: { text: 'exit 3' },
    })
  })

  test('is tried again as often as allowed, later each time, and then no more', () => {
    let mission = running()
    const waits: number[] = []
    for (let tries = 0; tries < 3; tries++) {
      mission = missionAfter({ outcome: 'failed', maxRetries: 3 }, { ...mission, status: 'running' })
      expect(mission).toMatchObject({ status: 'queued', next: { reason: 'retry' } })
      waits.push(Date.parse(mission.not_before!) - Date.parse(BY.now))
    }
    expect(waits).toEqual(waits.toSorted((a, b) => a - b))
    expect(missionAfter({ outcome: 'failed', maxRetries: 3 }, { ...mission, status: 'running' })).toMatchObject({
      status: 'failed',
      failures: 4,
    })
  })
})

test('a rate limit is waited out often, counts for nothing else, and is told to a person in the end', () => {
  let mission = running()
  for (let times = 0; times < MAX_RATE_LIMITS; times++) {
    mission = missionAfter({ outcome: 'rate_limited' }, { ...mission, status: 'running' })
    expect(mission).toMatchObject({ status: 'queued', interruptions: 0, failures: 0 })
  }
  expect(missionAfter({ outcome: 'lost' }, { ...mission, status: 'running' }).status).toBe('queued')
  expect(missionAfter({ outcome: 'rate_limited' }, { ...mission, status: 'running' })).toMatchObject({
    status: 'needs_input',
  })
})

test.each(['lost', 'stalled'] as const)('a %s session is resumed at most twice and is no failure', outcome => {
  let mission = running()
  for (let times = 0; times < MAX_INTERRUPTIONS; times++) {
    mission = missionAfter({ outcome }, { ...mission, status: 'running' })
    expect(mission).toMatchObject({ status: 'queued', failures: 0, next: { reason: 'resume' } })
  }
  expect(missionAfter({ outcome }, { ...mission, status: 'running' })).toMatchObject({ status: 'failed', failures: 0 })
})

test('a rate limit parks the mission until the time given, without counting it as a failure', () => {
  const until = '2026-11-15T12:00:00.000Z'
  expect(missionAfter({ outcome: 'rate_limited', until })).toMatchObject({
    status: 'queued',
    not_before: until,
    failures: 0,
    next: { reason: 'resume' },
  })
  expect(missionAfter({ outcome: 'rate_limited' }).not_before! > BY.now).toBe(true)
  // A time that is past or cannot be read would lead to one try after another without a pause.
  for (const odd of ['2001-01-01T00:00:00.000Z', '2026-99-99', ''])
    expect(missionAfter({ outcome: 'rate_limited', until: odd }).not_before! > BY.now, odd).toBe(true)
  const far = missionAfter({ outcome: 'rate_limited', until: '9998-01-01T00:00:00.000Z' }).not_before!
  expect(Date.parse(far) - Date.parse(BY.now)).toBe(31 * 24 * 3600 * 1000)
})

test.each([
  ['limited', { status: 'needs_input', status_reason: { code: 'limit' } }],
  ['blocked', { status: 'needs_input', status_reason: { code: 'blocked' } }],
  ['parked', { status: 'waiting' }],
  ['cancelled', { status: 'cancelled' }],
] as const)('%s', (outcome, expected) => expect(missionAfter({ outcome })).toMatchObject(expected))

test('a wish to cancel wins over whatever the session came to', () => {
  for (const outcome of ['completed', 'failed', 'lost'] as const)
    expect(missionAfter({ outcome }, running({ cancel_requested: true })).status).toBe('cancelled')
})

describe('a session whose context window was full', () => {
  test('is taken over by a fresh conversation, which is no failure', () => {
    const unheard = { inline: 'Mind the tests.' }
    expect(missionAfter({ outcome: 'handed_over', unheard }, running({ hand_overs: 1, failures: 1 }))).toMatchObject({
      ...{ status: 'queued', hand_overs: 2, failures: 1, not_before: null },
      next: { reason: 'hand_over', instructions: unheard },
      status_reason: { code: 'context_full' },
    })
  })

  test('but not for ever: then a person is asked', () =>
    expect(missionAfter({ outcome: 'handed_over' }, running({ hand_overs: MAX_HAND_OVERS }))).toMatchObject({
      ...{ status: 'needs_input', status_reason: { code: 'limit' }, next: null },
    }))
})
