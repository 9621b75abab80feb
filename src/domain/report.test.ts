import { expect, test } from 'vitest'
import { CLAIMED_LISTS, Claim, fitted } from './report.ts'
import { aReport } from './samples.testkit.ts'

test('the largest report an agent may claim fits into a record', () => {
  const claim = Claim.parse({
    summary: 'ß'.repeat(20_000),
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
