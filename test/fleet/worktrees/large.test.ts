import { expect, test } from 'vitest'
import { median } from '../../../bench/figure.ts'
import { measureLarge } from '../../../bench/large.ts'

const FILES = 5000
const BYTES = 13_000

/** The assertions of `npm run bench -- large`, as ratios beside git's own commands in the same run. */
test('missions on a large repository start at once, the tenth like the second', async () => {
  const { added, first, row, many, landed, bare } = await measureLarge(FILES, BYTES)
  const add = median(added)
  const facts = JSON.stringify({ add, first, row, many, landed: median(landed), bare: median(bare) })
  expect(first, facts).toBeLessThanOrEqual(add)
  expect(median(row), facts).toBeLessThanOrEqual(0.15 * add)
  expect(median(many), facts).toBeLessThanOrEqual(0.15 * add)
  expect(median(row.slice(4)), facts).toBeLessThanOrEqual(1.25 * median(row.slice(0, 4)))
  expect(median(landed), facts).toBeLessThanOrEqual(1.5 * median(bare))
}, 300_000)
