import { expect, test } from 'vitest'
import { aMission, BY } from '../samples.testkit.ts'
import { isExpected, standingOf, unapprovedAmong } from './candidate.ts'

const stage = { id: 'w', stage: 0, settled: null }

test('work lands with a dependent if nobody has to approve it, or somebody has', () => {
  const kept = aMission({ status: 'done', result: 'kept' })
  expect(standingOf(kept, null, 'auto')).toBe('handed_on')
  for (const policy of ['never', 'review'] as const) expect(standingOf(kept, null, policy)).toBe('unapproved')
  expect(standingOf(kept, 'approved', 'review')).toBe('approved')
  expect(standingOf(kept, 'landed', 'never')).toBe('landed')
  // It is in review for a reason, so a person decides about it, whatever the policy is.
  expect(standingOf(aMission({ status: 'review' }), null, 'auto')).toBe('unapproved')
  expect(standingOf(aMission({ status: 'cancelled' }), null, 'auto')).toBe('unapproved')
})

test('the work of a stage is covered by the mission that builds on it, unless the stage has to be reviewed', () => {
  const handsOn = aMission({ status: 'done', result: 'kept', landing: 'never', workflow: stage })
  expect(standingOf(handsOn, null, 'never')).toBe('handed_on')
  expect(standingOf({ ...handsOn, landing: 'review' }, null, 'review')).toBe('unapproved')
})

test('unapproved work is named, with what to do about it', () => {
  const other = { mission_id: 'm2', title: 'Sketch', commit: 'c', files: ['a'], files_omitted: 0 }
  expect(unapprovedAmong([{ ...other, standing: 'handed_on' }])).toBeUndefined()
  expect(unapprovedAmong([{ ...other, standing: 'unapproved' }])).toMatchObject({
    code: 'unapproved',
    text: expect.stringContaining('“Sketch” (m2)'),
    try: 'fleet land m2 first',
  })
})

test('a candidate is named by its id or a beginning of it that is long enough', () => {
  const candidate = { commit: 'c0ffee0123456789', session_id: 's', at: BY.now }
  for (const id of ['c0ffee0123456789', 'c0ffee0', 'C0FFEE0123']) expect(isExpected(candidate, id)).toBe(true)
  for (const id of [undefined, '', 'c0ffee', 'deadbeef', 'c0ffee01234567890'])
    expect(isExpected(candidate, id)).toBe(false)
})
