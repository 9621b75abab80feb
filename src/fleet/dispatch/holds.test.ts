import { expect, test } from 'vitest'
import { NO_USAGE, type Session } from '../../domain/records/session.ts'
import { aSession } from '../../domain/samples.testkit.ts'
import { memoryStore } from '../../store/index.ts'
import type { Fleet } from '../fleet.ts'
import { derivedId } from '../records.ts'
import { spent } from './holds.ts'

const day = '2026-11-15'

test('usage is summed by model; usage that was stored without a model stays without one', async () => {
  const store = memoryStore()
  const fleet = { store } as unknown as Fleet
  const old = { ...NO_USAGE, day, project_id: 'p1', agent: 'claude', sessions: 3, cost_usd: 1 }
  const id = derivedId('spending', day, 'p1', 'claude')
  await store.commit({ changes: [{ put: 'spending', value: { id, ...old } as never, expects: 'absent' }] })
  const end = async (more: Partial<Session>) => {
    const usage = { ...NO_USAGE, cost_usd: 2 }
    const session = aSession({ agent: 'claude', usage, ended_at: `${day}T10:00:00.000Z`, ...more })
    await store.commit({ changes: await spent(fleet, session) })
  }
  await end({})
  await end({ model: 'opus', used_model: 'claude-opus-5-5' })
  await end({ model: 'opus', used_model: 'claude-opus-5-5' })
  await end({ model: 'small' })
  const { items } = await store.find('spending', { index: 'day', from: day, limit: 10 })
  const rows = items.map(({ value: { model, sessions, cost_usd } }) => ({ model, sessions, cost_usd }))
  expect(rows).toHaveLength(3)
  expect(rows).toEqual(
    expect.arrayContaining([
      { model: null, sessions: 4, cost_usd: 3 },
      { model: 'claude-opus-5-5', sessions: 2, cost_usd: 4 },
      { model: 'small', sessions: 1, cost_usd: 2 },
    ]),
  )
})
