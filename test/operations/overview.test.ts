import { expect, test } from 'vitest'
import { derivedId, put } from '../../src/fleet/records.ts'
import { aFleetWith, aMission, aProject } from '../kit/records.ts'

const now = new Date().toISOString()
const day = now.slice(0, 10)
const yesterday = new Date(Date.parse(day) - 1000).toISOString()
const reason = (code: string) => ({ status_reason: { code, text: code } })

test('the day at a glance: what needs a person, what landed, what it cost against the budgets', async () => {
  const landed = { status: 'done', result: 'landed' } as const
  const fleet = await aFleetWith(
    [
      aMission('today', 1, { ...landed, ended_at: now }),
      aMission('earlier', 2, { ...landed, ended_at: yesterday }),
      aMission('kept', 3, { status: 'done', result: 'kept', ended_at: now }),
      aMission('failed', 4, { status: 'failed', ended_at: now }),
      aMission('work', 5, { status: 'review', branch: 'b', ...reason('policy') }),
      aMission('clash', 6, { status: 'needs_input', branch: 'b', ...reason('conflict') }),
      aMission('limit', 7, { status: 'needs_input', branch: 'b', ...reason('limit') }),
      aMission('asks', 8, { status: 'needs_input', asking: true, ...reason('question') }),
    ],
    [
      aProject({ id: 'p1', daily_budget_usd: 5 }),
      aProject({ id: 'p2', name: 'second' }),
      aProject({ id: 'p3', name: 'idle' }),
    ],
  )
  const spending = (project_id: string, on: string, cost_usd: number) =>
    put(
      'spending',
      {
        id: derivedId(project_id, on),
        day: on,
        project_id,
        agent: 'claude',
        model: null,
        sessions: 1,
        input_tokens: 100,
        output_tokens: 10,
        reasoning_tokens: 0,
        cache_read_tokens: 0,
        cache_write_tokens: 0,
        turns: 1,
        untold_answers: 0,
        cost_usd,
      },
      'absent',
    )
  await fleet.fleet.store.commit({
    changes: [spending('p1', day, 1), spending('p2', day, 2), spending('p1', yesterday.slice(0, 10), 50)],
  })
  expect(await fleet.call('get_overview')).toMatchObject({
    day,
    paused: false,
    needs_you: { questions: 0, plans: 0, reviews: 2, conflicts: 1, stuck: 1, failed_today: 1 },
    live_sessions: 0,
    landed_today: { count: 1, more: false, missions: [{ id: 'today' }] },
    spent_today: {
      usage: { cost_usd: 3, input_tokens: 200, output_tokens: 20 },
      budget_usd: null,
      projects: [
        { project_id: 'p2', name: 'second', usage: { cost_usd: 2 }, budget_usd: null },
        { project_id: 'p1', usage: { cost_usd: 1 }, budget_usd: 5 },
      ],
    },
    providers: [],
  })
})
