import { describe, expect, test } from 'vitest'
import { NotAllowed, WrongState } from '../errors.ts'
import { type Mission, STATUSES, type Status } from '../records/mission.ts'
import { aMission, aSession, BY } from '../samples.testkit.ts'
import * as landings from './landing.ts'
import * as life from './life.ts'

const CANDIDATE = { commit: 'c', session_id: 's1', at: BY.now }

/** What a person may ask for, and in which statuses. In all others it is refused, and the refusal names the status. */
const ASKS: Record<string, { from: Status[]; ask: (mission: Mission) => life.Step }> = {
  dispatch: { from: ['draft'], ask: m => life.dispatch(m, true, null, BY) },
  retry: { from: ['failed', 'cancelled', 'needs_input', 'review', 'waiting'], ask: m => life.retry(m, true, null, BY) },
  resume: {
    from: ['failed', 'cancelled', 'needs_input', 'review', 'waiting'],
    ask: m => life.resume({ ...m, session_id: 's1' }, true, null, BY),
  },
  reopen: { from: ['done'], ask: m => life.reopen(m, true, null, BY) },
  cancel: {
    from: ['draft', 'queued', 'running', 'needs_input', 'waiting', 'landing', 'review'],
    ask: m => life.requestCancel(m, BY),
  },
  land: {
    from: ['review', 'needs_input'],
    ask: m => landings.requestLanding({ ...m, branch: 'b', candidate: CANDIDATE }, BY),
  },
}

describe.each(Object.entries(ASKS))('%s', (_name, { from, ask }) => {
  test.each(STATUSES)('from %s', status => {
    const mission = aMission({ status })
    if (from.includes(status)) expect(ask(mission).events).toHaveLength(1)
    else expect(() => ask(mission)).toThrow(WrongState)
  })
})

const LANDED = {
  ...{ candidate: 'c', commit: 'l', onto: 'o', branch: 'main', at: BY.now },
  ...{ approved: null, forced: null, files: null, evidence: [], includes: [], with: null, undone: null },
}

test('a landing is undone also where its mission was sent on since; what came with another is undone with that', () => {
  const cancelled = aMission({ status: 'cancelled', landed: LANDED })
  const asked = landings.requestUndo(cancelled, BY).mission
  expect(landings.undone(asked, 'u', null, BY).mission).toMatchObject({
    status: 'cancelled',
    landed: null,
    status_reason: { code: 'undone' },
  })
  const along = aMission({ status: 'done', result: 'landed', landed: { ...LANDED, with: 'm9' } })
  expect(() => landings.requestUndo(along, BY)).toThrow(/landed with m9/)
  expect(landings.undoneWith(along, 'u', BY).mission).toMatchObject({ status: 'done', result: 'kept', landed: null })
})

test('what is queued by a person starts with a clean slate and says how its next session begins', () => {
  const failed = aMission({
    status: 'failed',
    failures: 3,
    conflicts: 2,
    interruptions: 1,
    result: null,
    session_id: 's1',
    approval: { candidate: 'c', by: 'person', at: BY.now, past: null },
  })
  const { mission } = life.retry(failed, true, { inline: 'try harder' }, BY)
  expect(mission).toMatchObject({
    status: 'queued',
    failures: 0,
    conflicts: 0,
    interruptions: 0,
    approval: null,
    next: { reason: 'retry', instructions: { inline: 'try harder' } },
  })
})

test('cancelling what runs is a wish that only the daemon fulfils; asking twice is refused politely', () => {
  const { mission, events } = life.requestCancel(aMission({ status: 'running' }), BY)
  expect(mission).toMatchObject({ status: 'running', cancel_requested: true })
  expect(events[0]?.kind).toBe('cancel_requested')
  expect(() => life.requestCancel(mission, BY)).toThrow(NotAllowed)
})

test('a kept mission may land later, one without work may not', () => {
  const kept = aMission({ status: 'done', result: 'kept', branch: 'b', candidate: CANDIDATE })
  expect(landings.requestLanding(kept, BY).mission).toMatchObject({
    status: 'landing',
    approval: { candidate: 'c', by: BY.actor, at: BY.now },
  })
  expect(() => landings.requestLanding(aMission({ status: 'review' }), BY)).toThrow(/no work to land/)
})

test('an undone mission goes to review and can land again; only what landed can be undone', () => {
  const landed = aMission({
    status: 'done',
    result: 'landed',
    landed: LANDED,
    candidate: CANDIDATE,
    branch: 'b',
  })
  const asked = landings.requestUndo(landed, BY).mission
  expect(() => landings.requestUndo(asked, BY)).toThrow(/already being undone/)
  const undone = landings.undone(asked, 'u', CANDIDATE, BY).mission
  expect(undone).toMatchObject({
    status: 'review',
    landed: null,
    undo: null,
    past_landings: [{ ...LANDED, undone: { commit: 'u', at: BY.now, by: BY.actor } }],
  })
  expect(landings.requestLanding(undone, BY).mission.status).toBe('landing')
  expect(() => landings.requestUndo(aMission({ status: 'done', result: 'kept' }), BY)).toThrow(/did not land/)
})

test('starting notes the session and leaves the queue', () => {
  const { mission } = life.started(aMission({ status: 'queued', ready: true }), aSession({ number: 2 }), BY)
  expect(mission).toMatchObject({
    status: 'running',
    ready: false,
    session_id: 's1',
    sessions: 2,
    branch: 'fleet/shell/a/s1',
  })
})

test('every change of status is in its event, so that statuses can be counted', () => {
  const { events } = life.dispatch(aMission(), false, null, BY)
  expect(events[0]?.data).toMatchObject({ was: 'draft', status: 'queued' })
})

test('a refusal says what would be right and what to do', () => {
  try {
    life.dispatch(aMission({ status: 'failed' }), true, null, BY)
    expect.unreachable()
  } catch (error) {
    expect(error).toMatchObject({
      message: 'Mission m1 is failed; this needs draft.',
      hint: 'fleet retry m1',
      facts: { is: 'failed' },
    })
  }
})
