import { expect, test } from 'vitest'
import { checksOf, type Seen } from './github.ts'

const RUNS = 'https://github.com/us/shop/actions/runs'
type Rollup = NonNullable<Seen['statusCheckRollup']>[number]
const run = (conclusion: string, more: Partial<Rollup> = {}): Rollup => ({
  ...{ name: 'test', status: 'COMPLETED', conclusion, detailsUrl: `${RUNS}/1/job/2`, ...more },
})
const told = (...statusCheckRollup: Rollup[]) =>
  checksOf({ statusCheckRollup } as Seen).map(({ name, state }) => `${name} ${state}`)

test('the last try of a check counts, in whatever order GitHub lists them', () => {
  const first = run('FAILURE', { startedAt: '2026-11-10T10:00:00Z' })
  const second = run('SUCCESS', { startedAt: '2026-11-10T11:00:00Z', detailsUrl: `${RUNS}/1/job/9` })
  expect(told(first, second)).toEqual(['test passed'])
  expect(told(second, first)).toEqual(['test passed'])
  const again = run('', { status: 'IN_PROGRESS', startedAt: '2026-11-10T12:00:00Z' })
  expect(told(again, second)).toEqual(['test running'])
})

test('checks of one name from several workflows or services are all told, so none hides the failure of another', () => {
  const nightly = run('SUCCESS', { detailsUrl: `${RUNS}/7/job/8` })
  expect(told(run('FAILURE'), nightly)).toEqual(['test failed', 'test (2) passed'])
  expect(told(run('FAILURE', { workflowName: 'CI' }), { ...nightly, workflowName: 'Nightly' })).toEqual([
    'CI / test failed',
    'Nightly / test passed',
  ])
  const elsewhere = { context: 'test', state: 'SUCCESS', targetUrl: 'https://ci.example/1' }
  expect(told(run('FAILURE'), elsewhere)).toEqual(['test failed', 'test (2) passed'])
})

test('of very many checks, those that failed are among the ones that are told', () => {
  const many = Array.from({ length: 70 }, (_, n) => run(n === 65 ? 'TIMED_OUT' : 'SUCCESS', { name: `matrix ${n}` }))
  const all = told(...many)
  expect(all).toHaveLength(50)
  expect(all[0]).toBe('matrix 65 failed')
})

test.each([
  [{ status: 'QUEUED', conclusion: '' }, 'running'],
  [{ status: 'COMPLETED', conclusion: 'NEUTRAL' }, 'passed'],
  [{ status: 'COMPLETED', conclusion: 'ACTION_REQUIRED' }, 'failed'],
  [{ status: null, conclusion: null, state: 'EXPECTED' }, 'running'],
  [{ status: null, conclusion: null, state: 'ERROR' }, 'failed'],
] as const)('GitHub says %j', (said, state) => {
  expect(told({ ...run(''), ...said })).toEqual([`test ${state}`])
})
