import { expect, test } from 'vitest'
import { aReport } from '../samples.testkit.ts'
import { CLAIMED_LISTS, Claim, fitted, statusOf } from './report.ts'
import { OUTCOMES } from './session.ts'

test('the largest report an agent may claim fits into a record', () => {
  const claim = Claim.parse({
    summary: 'ß'.repeat(20_000),
    tests: Array(100).fill({ command: 'ß'.repeat(4000), status: 'passed', details: 'ß'.repeat(4000) }),
    ...Object.fromEntries(CLAIMED_LISTS.map(name => [name, Array(100).fill('ß'.repeat(4000))])),
  })
  const files = Array.from({ length: 300 }, (_, n) => ({ path: `${n}/${'ß'.repeat(3000)}`, change: 'added' as const }))
  const report = fitted(
    aReport({
      ...claim,
      files_changed: files,
      files_omitted: 7,
      commits: Array(50).fill({ commit: 'c', subject: 's'.repeat(5000) }),
    }),
  )
  expect(Buffer.byteLength(JSON.stringify(report))).toBeLessThan(100 * 1024)
  expect(report.files_omitted + report.files_changed.length).toBe(307)
  expect(report.what_done.at(-1)).toMatch(/^… and \d+ more$/)
})

test('an ordinary report is left as it is', () => {
  const report = aReport({ summary: 'Done.', what_done: ['a', 'b'], files_changed: [{ path: 'a', change: 'added' }] })
  expect(fitted(report)).toEqual(report)
})

test('an agent may give its lists as lines of text', () => {
  expect(Claim.parse({ what_done: 'one\n\ntwo\n' }).what_done).toEqual(['one', 'two'])
})

test('a report says completed only of a session that ended well, whatever its agent claimed', () => {
  for (const outcome of OUTCOMES)
    for (const claimed of [null, 'completed', 'completed_no_changes', 'blocked'] as const)
      for (const changed of [true, false]) {
        const status = statusOf(outcome, claimed, changed)
        if (outcome !== 'completed') expect(status).toBe(outcome)
        else if (claimed === 'blocked') expect(status).toBe('blocked')
        else expect(status).toBe(changed ? 'completed' : 'completed_no_changes')
      }
})

test('tests that an agent claims are kept, as objects or as words', () => {
  const tests = Claim.parse({ tests: [{ command: 'make test', status: 'passed', details: '12 ok' }, 'by hand'] }).tests
  expect(tests).toEqual([
    { command: 'make test', status: 'passed', details: '12 ok' },
    { command: null, status: 'claimed', details: 'by hand' },
  ])
})
