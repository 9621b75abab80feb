import { describe, expect, test } from 'vitest'
import type { Mission } from '../records/mission.ts'
import { aMission, BY, NOW } from '../samples.testkit.ts'
import { handBack, handedBack, type Left, pageGone, takenOver, takeOver, terminalGone } from './takeover.ts'

const TERMINAL = { pid: 7, started: '1', boot: 'b', host: null }
const ran = (more: Partial<Mission> = {}): Mission =>
  aMission({
    ...{ status: 'review', session_id: 's1', branch: 'fleet/a' },
    candidate: { commit: 'c1', session_id: 's1', at: NOW },
    ...more,
  })
const taken = (mission = ran()): Mission => takeOver(mission, TERMINAL, BY).mission
const left = (more: Partial<Left> = {}): Left => ({ failed: null, changed: true, added: true, concern: null, ...more })
const given = (next: 'resume' | 'land' | 'keep', more: Partial<Left> = {}, mission = taken()): Mission =>
  handedBack(handBack(mission, next, { inline: 'hello' }, BY).mission, left(more), BY).mission

describe('taking over', () => {
  test('an agent at work is stopped first, and what does not run is the person’s at once', () => {
    expect(taken(ran({ status: 'running' }))).toMatchObject({ status: 'running', taken_over: { terminal: TERMINAL } })
    expect(taken(ran({ status: 'needs_input', asking: true }))).toMatchObject({ asking: true })
    for (const status of ['queued', 'review', 'failed', 'cancelled', 'done'] as const)
      expect(taken(ran({ status }))).toMatchObject({ status: 'needs_input', status_reason: { code: 'taken_over' } })
  })

  test('is refused a second time, and where there is nothing to take over', () => {
    expect(() => taken(taken())).toThrow('was taken over at')
    expect(() => taken(ran({ session_id: null }))).toThrow('never ran')
    expect(() => taken(ran({ status: 'landing' }))).toThrow('is landing')
    expect(() => taken(ran({ cancel_requested: true, status: 'running' }))).toThrow('being cancelled')
  })

  test('what the agent never heard is told to the one that goes on, unless the person says something else', () => {
    const mission = takenOver(taken(ran({ status: 'running' })), { inline: 'mind the gap' }, BY).mission
    const resumed = handedBack(handBack(mission, 'resume', null, BY).mission, left(), BY).mission
    expect(resumed.next).toEqual({ reason: 'resume', instructions: { inline: 'mind the gap' } })
  })

  test('in a page leaves nothing behind when its server is gone: an agent that still runs continues', () => {
    const inPage = (mission = ran()) => takeOver(mission, TERMINAL, BY, { page: true }).mission
    expect(inPage().status_reason).toMatchObject({ text: expect.stringContaining('in the browser') })
    expect(pageGone(inPage(), false, BY).mission.taken_over).toMatchObject({ next: 'keep' })
    expect(pageGone(inPage(ran({ status: 'running' })), true, BY).mission.taken_over).toMatchObject({ next: 'resume' })
  })

  test('by a terminal that is gone says so and how to give it back', () =>
    expect(terminalGone(taken(), BY).mission.status_reason).toMatchObject({ try: 'fleet takeover --release m1' }))
})

describe('giving back', () => {
  test('as the person chose', () => {
    expect(given('resume')).toMatchObject({ status: 'queued', taken_over: null, next: { reason: 'resume' } })
    expect(given('land')).toMatchObject({ status: 'landing', approval: { candidate: 'c1' }, taken_over: null })
    expect(given('land', { changed: false })).toMatchObject({ status: 'done', result: 'no_changes' })
    expect(given('keep')).toMatchObject({ status: 'review', status_reason: { code: 'handed_back' } })
  })

  test('what was done stays done when nothing was added', () => {
    const done = taken(ran({ status: 'done', result: 'landed', ended_at: NOW }))
    for (const next of ['keep', 'land'] as const)
      expect(given(next, { added: false }, done)).toMatchObject({ status: 'done', result: 'landed', ended_at: NOW })
    expect(given('keep', {}, done)).toMatchObject({ status: 'review', result: null })
  })

  test('a concern is looked at before anything lands, and a failure is told', () => {
    const concern = { code: 'base_moved', text: 'main was moved' }
    expect(given('land', { concern })).toMatchObject({ status: 'review', status_reason: { code: 'base_moved' } })
    expect(given('land', { failed: 'no room' })).toMatchObject({
      status: 'needs_input',
      status_reason: { text: 'no room' },
    })
  })
})
