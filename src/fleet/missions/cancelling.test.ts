import { expect, test } from 'vitest'
import { aMission } from '../../domain/samples.testkit.ts'
import { put } from '../records.ts'
import { aBench, afterReading } from '../workshop.testkit.ts'
import { cancelWithSubMissions } from './cancelling.ts'

const ask = { operation: 'test', actor: 'a person' }

test('a cancellation takes unfinished sub-missions along, at every depth, and tells why', async () => {
  const { fleet, save, mission } = aBench()
  await save('missions', aMission({ id: 'm1', status: 'running' }))
  await save('missions', aMission({ id: 'm2', status: 'queued', parent_mission_id: 'm1' }))
  await save('missions', aMission({ id: 'm3', status: 'waiting', parent_mission_id: 'm2' }))
  const { subMissions } = await cancelWithSubMissions(fleet, ask, 'm1')
  expect(subMissions).toBe(2)
  expect(await mission('m1')).toMatchObject({ status: 'running', cancel_requested: true })
  expect(await mission('m2')).toMatchObject({
    status: 'cancelled',
    status_reason: { text: 'Its parent mission m1 was cancelled.' },
  })
  expect((await mission('m3')).status).toBe('cancelled')
})

test.each(['review', 'done', 'landing', 'failed'] as const)(
  'a sub-mission that is in %s stays as it is: a person decides about finished work',
  async status => {
    const { fleet, save, mission } = aBench()
    await save('missions', aMission({ id: 'm1', status: 'queued' }))
    await save('missions', aMission({ id: 'm2', status, parent_mission_id: 'm1' }))
    expect((await cancelWithSubMissions(fleet, ask, 'm1')).subMissions).toBe(0)
    expect((await mission('m2')).status).toBe(status)
  },
)

test.each([
  { meanwhile: 'ends', leaves: 'done' },
  { meanwhile: 'is deleted', leaves: undefined },
] as const)('a sub-mission that $meanwhile in the same moment does not keep its parent', async ({ leaves }) => {
  const store = afterReading('missions', 'm2', async inside => {
    const { value, version } = (await inside.get('missions', 'm2'))!
    const gone = { remove: 'missions', id: 'm2', expects: version } as const
    await inside.commit({ changes: [leaves ? put('missions', { ...value, status: leaves }, version) : gone] })
  })
  const { fleet, save, mission } = aBench({ store })
  await save('missions', aMission({ id: 'm1', status: 'queued' }))
  await save('missions', aMission({ id: 'm2', status: 'running', parent_mission_id: 'm1' }))
  expect((await cancelWithSubMissions(fleet, ask, 'm1')).subMissions).toBe(0)
  expect((await mission('m1')).status).toBe('cancelled')
  expect((await fleet.store.get('missions', 'm2'))?.value.status).toBe(leaves)
})
