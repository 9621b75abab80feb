import { expect, test } from 'vitest'
import type { May } from '../../live/rights.ts'
import { type Abilities, type Action, actionsFor as allowedFor, type Detail, mainAction } from './actions.ts'

const session = (status: 'running' | 'ended') => ({ id: 's1', status }) as Detail['sessions'][number]
const mission = (fields: Partial<Detail>) =>
  ({
    project_id: 'p1',
    status: 'draft',
    status_reason: null,
    session_id: null,
    sessions: [],
    branch: null,
    result: null,
    landed: null,
    cancelling: false,
    undoing: false,
    taken_over: null,
    report: null,
    evidence: [],
    pull_request: null,
    ...fields,
  }) as Detail
const ran = { session_id: 's1', sessions: [session('ended')], branch: 'fleet/x' }
const running: Partial<Detail> = { status: 'running', session_id: 's1', sessions: [session('running')] }
const CLAUDE = { interrupt: true, liveMessages: 'mid-turn', takeOver: true } as const
const SHELL = { interrupt: false, liveMessages: 'no', takeOver: false } as const

/** For somebody who may do everything. */
const actionsFor = (known: Detail, can?: Abilities) => allowedFor(known, () => true, can)

/** An action that the server would refuse must not be offered. */
const never = (offered: Action[], ...refused: Action[]) =>
  expect(offered.filter(action => refused.includes(action))).toEqual([])

test('a draft can be sent, thrown away, and nothing that needs work done', () => {
  const offered = actionsFor(mission({}))
  expect(mainAction('draft', offered)).toBe('dispatch')
  expect(offered).toEqual(expect.arrayContaining(['cancel', 'delete', 'schedule', 'save_template', 'sub_mission']))
  never(offered, 'resume', 'retry', 'land', 'undo', 'fork', 'say', 'interrupt', 'compare', 'next', 'take_over')
})

test('an agent at work is spoken to and stopped as far as it can be', () => {
  expect(actionsFor(mission(running), CLAUDE)).toEqual(expect.arrayContaining(['say', 'interrupt', 'cancel']))
  expect(mainAction('running', actionsFor(mission(running), CLAUDE))).toBe('say')
  expect(mainAction('running', actionsFor(mission(running), SHELL))).toBeUndefined()
  never(actionsFor(mission(running), SHELL), 'say', 'interrupt', 'take_over')
  never(actionsFor(mission(running), CLAUDE), 'delete', 'resume', 'retry', 'fork', 'dispatch', 'land')
  never(actionsFor(mission({ ...running, cancelling: true }), CLAUDE), 'cancel')
})

test('while it waits for an answer, the answer is the way on', () => {
  const asks = mission({ ...running, status: 'needs_input', status_reason: { code: 'question', text: '?' } })
  never(actionsFor(asks, CLAUDE), 'resume', 'retry', 'land', 'delete', 'reject', 'interrupt')
  expect(actionsFor(asks, CLAUDE)).toContain('cancel')
})

test('finished work is landed, sent back or rejected; what was rejected can be taken up again', () => {
  const review = actionsFor(mission({ ...ran, status: 'review' }))
  expect(mainAction('review', review)).toBe('land')
  expect(review).toEqual(expect.arrayContaining(['send_back', 'reject', 'resume', 'retry', 'fork', 'compare']))
  const rejected = mission({ ...ran, status: 'cancelled', status_reason: { code: 'rejected', text: '' } })
  expect(mainAction('cancelled', actionsFor(rejected))).toBe('reconsider')
  never(actionsFor(mission({ ...ran, status: 'review', branch: null })), 'land', 'reject')
})

test('work whose newest checks fail can be landed all the same, by saying so', () => {
  const check = (commit: string, passed: boolean, created_at: string) =>
    ({ commit, passed, created_at }) as Detail['evidence'][number]
  const failing = { ...ran, status: 'needs_input' as const }
  const offered = actionsFor(mission({ ...failing, evidence: [check('a', false, '1')] }))
  expect(offered).toContain('land_anyway')
  expect(mainAction('review', offered)).toBe('resume')
  const mended = [check('a', false, '1'), check('b', true, '2')]
  never(actionsFor(mission({ ...failing, evidence: mended })), 'land_anyway')
})

test('done work is undone if it landed, landed if it was kept, and reopened', () => {
  const landed = { commit: 'c', onto: 'o', branch: 'main', at: '', with: null } as NonNullable<Detail['landed']>
  const done = mission({ ...ran, status: 'done', result: 'landed', landed })
  expect(actionsFor(done)).toEqual(expect.arrayContaining(['undo', 'reopen', 'send_back', 'delete']))
  never(actionsFor(done), 'land', 'cancel', 'retry')
  never(actionsFor({ ...done, undoing: true }), 'undo', 'reopen', 'delete')
  const pull_request = { merge_commit: 'c' } as Detail['pull_request']
  never(actionsFor({ ...done, pull_request }), 'undo')
  never(actionsFor({ ...done, landed: { ...landed, with: 'm9' } }), 'undo')
  expect(actionsFor({ ...done, status: 'cancelled', result: null })).toContain('undo')
  expect(mainAction('done', actionsFor(mission({ ...ran, status: 'done', result: 'kept' })))).toBe('land')
  expect(mainAction('done', actionsFor(done))).toBeUndefined()
})

test('what failed is begun anew; what is left to do becomes the next mission', () => {
  expect(mainAction('failed', actionsFor(mission({ ...ran, status: 'failed' })))).toBe('retry')
  expect(actionsFor(mission({ status: 'failed' }))).not.toContain('resume')
  const report = { next_steps: ['more'], what_open: [] } as unknown as Detail['report']
  expect(actionsFor(mission({ ...ran, status: 'done', result: 'landed', report }))).toContain('next')
})

test('what a person has taken over is theirs', () => {
  const taken_over = { by: 'person', since: '', session_id: null, gone: false, page: false, pid: 1 }
  const offered = actionsFor(mission({ ...ran, status: 'review', taken_over }), CLAUDE)
  never(offered, 'land', 'resume', 'retry', 'cancel', 'delete', 'reject', 'send_back', 'take_over')
})

test('what one may not do is not offered, nor is it the main action', () => {
  const reads: May = what => what === 'compare_missions'
  const lands: May = (what, project) =>
    ['land_mission', 'undo_mission', 'reject_mission'].includes(what) && project === 'p1'
  const reviewed = mission({ ...ran, status: 'review' })
  expect(allowedFor(reviewed, reads, CLAUDE)).toEqual(['compare'])
  expect(mainAction('review', allowedFor(reviewed, reads, CLAUDE))).toBeUndefined()
  expect(allowedFor(reviewed, lands, CLAUDE)).toEqual(['land', 'reject', 'compare'])
  expect(allowedFor({ ...reviewed, project_id: 'p2' }, lands, CLAUDE)).toEqual(['compare'])
})
