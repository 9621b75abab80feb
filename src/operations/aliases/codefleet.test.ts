import { expect, test } from 'vitest'
import { STATUSES } from '../../domain/records/mission.ts'
import { duration, listSummary, ourStatuses, WORKER_STATUSES, workerStatus, workflowAnswer } from './codefleet.ts'

const reason = (code: string) => ({ code, text: 'why' })

test('a worker that waits for a person is over where codefleet would have ended it', () => {
  const waiting = (code: string) => workerStatus({ status: 'needs_input', status_reason: reason(code) })
  expect([waiting('limit'), waiting('blocked'), waiting('rate_limited')]).toEqual(['timed_out', 'succeeded', 'failed'])
  expect([waiting('question'), waiting('permission')]).toEqual(['running', 'running'])
})

test('whatever is told as a status is looked for under it', () => {
  const codes = ['question', 'limit', 'blocked', 'rate_limited']
  for (const status of STATUSES)
    for (const code of codes)
      expect(ourStatuses([workerStatus({ status, status_reason: reason(code) })])).toContain(status)
  expect(ourStatuses(undefined)).toBeUndefined()
  expect(ourStatuses(WORKER_STATUSES)).toEqual(expect.arrayContaining([...STATUSES]))
})

test('times are told as people read them', () => {
  expect([null, 0.4, 65, 3720].map(duration)).toEqual(['-', '0s', '1m 05s', '1h 02m'])
})

test('a list is summed up', () => {
  const items = (['running', 'succeeded', 'succeeded'] as const).map(status => ({ status }))
  expect(listSummary(items, 'workers')).toBe('3 workers: 1 running, 2 ok')
  expect(listSummary([], 'workflows')).toBe('0 workflows')
})

test('a workflow tells its progress in a line', () => {
  const stage = { agent: 'codex', model: null, subdirectory: 'api', mission_id: 'm', elapsed_seconds: 5 }
  const told = workflowAnswer(
    {
      ...{ id: 'w', project_id: 'p', name: 'ship', status: 'running', status_reason: null, ended_at: null },
      created_at: '2026-01-01T00:00:00.000Z',
      stages: [
        { ...stage, name: 'write', status: 'done' },
        { ...stage, name: 'review', status: 'made', elapsed_seconds: null },
      ],
    },
    { path: '/repo' },
    Date.parse('2026-01-01T00:01:00.000Z'),
  )
  expect(told).toMatchObject({
    workflow_id: 'w',
    repo_path: '/repo/api',
    stage_summary: [
      { index: 0, executor: 'codex', status: 'succeeded', worker_id: 'm', elapsed: '5s', status_label: '[OK]' },
      { index: 1, status: 'pending', worker_id: null, elapsed: '-' },
    ],
    created_at: Date.parse('2026-01-01T00:00:00.000Z') / 1000,
    completed_at: null,
    summary_line: '[RUNNING] ship — 1/2 stages complete (1 done, 1 pending) (1m 00s)',
  })
})
