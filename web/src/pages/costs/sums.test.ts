import { expect, test } from 'vitest'
import { axisTop, csvOf, daysUpTo, forecast, type Spending, sums, unpriced } from './sums.ts'

const spent = (day: string, project_id: string, agent: string, cost_usd: number): Spending => ({
  day,
  project_id,
  agent,
  model: null,
  sessions: 1,
  input_tokens: 10,
  output_tokens: 5,
  reasoning_tokens: 0,
  cache_read_tokens: 100,
  cache_write_tokens: 1,
  turns: 1,
  untold_answers: 0,
  cost_usd,
})
const week = [
  spent('2026-11-14', 'a', 'claude', 1),
  spent('2026-11-14', 'b', 'claude', 2),
  spent('2026-11-15', 'a', 'codex', 4),
]

test('what was spent is added up by what it is split by, largest first', () => {
  const { total, series, perDay } = sums(week, { by: 'project', figure: 'cost' })
  expect(total).toBe(7)
  expect(series).toEqual([
    { key: 'a', sum: 5, sessions: 2 },
    { key: 'b', sum: 2, sessions: 1 },
  ])
  expect(perDay.get('2026-11-14')).toEqual(
    new Map([
      ['a', 1],
      ['b', 2],
    ]),
  )
})

test('tokens that were read count those from a cache; a model nobody told of has a name too', () => {
  expect(sums(week, { by: 'model', figure: 'sessions' }).series).toEqual([{ key: 'unknown', sum: 3, sessions: 3 }])
  expect(sums(week, { by: 'agent', figure: 'input' }).total).toBe(333)
})

test('days without spending are there all the same, across the end of a month', () => {
  expect(daysUpTo(new Date('2026-03-01T12:00:00Z'), 3)).toEqual(['2026-02-27', '2026-02-28', '2026-03-01'])
})

test('a forecast follows the pace of the day, and waits until there is one', () => {
  expect(forecast(week, new Date('2026-11-15T06:00:00Z'))).toBe(16)
  expect(forecast(week, new Date('2026-11-15T01:00:00Z'))).toBeNull()
})

test('a model without a price is named', () => {
  expect(unpriced([...week, { ...week[0]!, cost_usd: 0, model: 'new-model' }])).toEqual(['new-model'])
})

test('exported names are never formulas, and quotes survive', () => {
  const [, row] = csvOf([week[0]!], () => '=HYPERLINK("x")').split('\r\n')
  expect(row).toBe(`2026-11-14,"'=HYPERLINK(""x"")",claude,,1,1,10,5,0,100,1,1`)
})

test('an axis ends at a round number', () => {
  expect([0, 0.003, 7, 12, 23, 99].map(axisTop)).toEqual([1, 0.005, 10, 20, 25, 100])
})
