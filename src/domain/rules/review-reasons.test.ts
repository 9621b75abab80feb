import { expect, test } from 'vitest'
import { aSession } from '../samples.testkit.ts'
import { type Findings, reasonToReview } from './review-reasons.ts'

const session = aSession({ worktree: '/w', branch: 'fleet/x' })
const MB = 1024 * 1024
const NOTHING: Findings = {
  unfinished: null,
  problem: null,
  apart: null,
  skipped: [],
  secrets: [],
  large: { files: [], limitBytes: 10 * MB },
  sharedGit: [],
  baseMoved: null,
  stranded: [],
}
/** In order of precedence. */
const EACH: [code: string, findings: Findings, told: RegExp][] = [
  ['unfinished', { unfinished: { doing: 'rebase', paths: ['a', 'b'] } }, /middle of a rebase \(a, b\)/],
  ['not_taken_in', { problem: 'a bad object' }, /a bad object.*\/w/],
  ['branch_apart', { apart: 'f'.repeat(40) }, /fleet\/x is at ffffffffffff in the project/],
  ['left_out', { skipped: [{ path: 'big.bin', why: '20 MB' }] }, /big\.bin \(20 MB\)/],
  ['secret_committed', { secrets: ['.env'] }, /\.env/],
  [
    'large_file',
    { large: { files: [{ path: 'a.bin', bytes: 12 * MB }], limitBytes: 10 * MB } },
    /10 MB: a\.bin \(12 MB\)/,
  ],
  ['shared_git_changed', { sharedGit: ['hooks'] }, /changed hooks of the shared git folder/],
  ['base_moved', { baseMoved: { branch: 'main', from: 'aaa', to: 'bbb' } }, /main was moved from aaa to bbb/],
  ['submodule_commit', { stranded: ['lib'] }, /a commit of lib that only \/w has/],
]

test.each(EACH)('%s sends work to review, and says what it is', (code, findings, told) => {
  const reason = reasonToReview(session, { ...NOTHING, ...findings })
  expect(reason).toMatchObject({ code, text: expect.stringMatching(told) })
})

test('work without findings needs no review, and neither does an absent finding', () => {
  expect(reasonToReview(session, NOTHING)).toBeNull()
  expect(reasonToReview(session, {})).toBeNull()
})

test('of several reasons the first counts', () => {
  for (let first = 0; first < EACH.length; first++) {
    const findings = Object.assign({}, ...EACH.slice(first).map(([, each]) => each))
    expect(reasonToReview(session, findings)?.code).toBe(EACH[first]![0])
  }
})

test('a merge that was to be resolved and was not is a conflict; work on another branch has no article', () => {
  const merge = { unfinished: { doing: 'merge', paths: ['a'] } }
  expect(reasonToReview(aSession({ reason: 'conflict' }), merge)?.code).toBe('conflict')
  expect(reasonToReview(session, merge)?.code).toBe('unfinished')
  const elsewhere = { unfinished: { doing: 'work on another branch', paths: [] } }
  expect(reasonToReview(session, elsewhere)?.text).toContain('in the middle of work on another branch;')
})
