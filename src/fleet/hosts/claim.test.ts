import { expect, test } from 'vitest'
import type { Mission } from '../../domain/records/mission.ts'
import type { SideProcess } from '../../domain/records/side-process.ts'
import { aMission, aSession, NOW } from '../../domain/samples.testkit.ts'
import { put } from '../records.ts'
import { aBench, afterReading } from '../workshop.testkit.ts'
import { claimHost } from './claim.ts'

const ask = { operation: 'test', actor: 'a person' }

const aPreview = (more: Partial<SideProcess> = {}): SideProcess => ({
  ...{ id: 'k1', mission_id: 'm1', project_id: 'p1', kind: 'preview', run: 1, session_id: 's1', worktree: '/w' },
  ...{ host: 'old', command: 'serve', status: 'up', stopping: null, port: null, url: null, process: null },
  ...{ exit_code: null, reason: null, until: null, created_at: NOW, up_at: null, ended_at: null },
  ...more,
})
const takenAt = (host: string): Mission =>
  aMission({
    ...{ id: 'm2', status: 'needs_input' },
    taken_over: {
      ...{ by: 'a person', since: NOW, terminal: { pid: 7, started: '1', boot: 'b', host } },
      ...{ was: { status: 'review', result: null, ended_at: null } },
      ...{ session_id: null, gone: false, page: false, next: null, message: null },
    },
  })

test('everything that ran on a lost host now belongs to this machine: sessions, previews and terminals', async () => {
  const { fleet, save, session, mission, told } = aBench()
  await save('sessions', aSession({ host: 'old', generation: 3, pid: 7, process_started: 'x' }))
  await save('processes', aPreview())
  await save('missions', takenAt('old'))
  expect(await claimHost(fleet, ask, 'old')).toEqual({ sessions: ['s1'], processes: ['k1'], terminals: ['m2'] })
  const here = fleet.home.host
  expect(await session('s1')).toMatchObject({ host: here, generation: 4, pid: null, process_started: null })
  expect((await fleet.store.get('processes', 'k1'))?.value.host).toBe(here)
  expect((await mission('m2')).taken_over?.terminal.host).toBe(here)
  expect(await told()).toEqual(['session_claimed m1', 'process_asked m1'])
})

test('saying it again changes nothing', async () => {
  const { fleet, save, session, told } = aBench()
  await save('sessions', aSession({ host: 'old' }))
  await claimHost(fleet, ask, 'old')
  const before = [await session('s1'), await told()]
  expect(await claimHost(fleet, ask, 'old')).toEqual({ sessions: [], processes: [], terminals: [] })
  expect([await session('s1'), await told()]).toEqual(before)
})

test('what is over, of another host or of this one stays as it is', async () => {
  const { fleet, save } = aBench()
  await save('sessions', aSession({ id: 's1', host: 'old', status: 'ended' }), aSession({ id: 's2', host: 'other' }))
  await save('sessions', aSession({ id: 's3', host: null }))
  await save('processes', aPreview({ status: 'ended' }))
  expect(await claimHost(fleet, ask, 'old')).toEqual({ sessions: [], processes: [], terminals: [] })
  await expect(claimHost(fleet, ask, fleet.home.host)).rejects.toThrow(`${fleet.home.host} is this machine.`)
})

test('of two machines that claim at once, one gets each', async () => {
  const claimed = async (collection: 'sessions' | 'processes' | 'missions', id: string) => {
    const store = afterReading(collection, id, async inside => {
      const { value, version } = (await inside.get(collection, id))!
      const other =
        'taken_over' in value ? takenAt('third') : ({ ...value, host: 'third', generation: 9 } as typeof value)
      await inside.commit({ changes: [put(collection, other, version)] })
    })
    const { fleet, save } = aBench({ store })
    await save('sessions', aSession({ host: 'old' }))
    await save('processes', aPreview())
    await save('missions', takenAt('old'))
    await claimHost(fleet, ask, 'old')
    const { value } = (await fleet.store.get(collection, id))!
    return 'taken_over' in value ? value.taken_over?.terminal.host : value.host
  }
  expect(await claimed('sessions', 's1')).toBe('third')
  expect(await claimed('processes', 'k1')).toBe('third')
  expect(await claimed('missions', 'm2')).toBe('third')
})

test('what is deleted in the same moment keeps nothing else from being claimed', async () => {
  const store = afterReading('sessions', 's1', async inside => {
    for (const [collection, id] of [
      ['processes', 'k1'],
      ['sessions', 's2'],
    ] as const) {
      const { version } = (await inside.get(collection, id))!
      await inside.commit({ changes: [{ remove: collection, id, expects: version }] })
    }
  })
  const { fleet, save, mission } = aBench({ store })
  await save(
    'sessions',
    aSession({ host: 'old' }),
    aSession({ id: 's2', host: 'old', created_at: '2026-11-15T11:00:00.000Z' }),
  )
  await save('processes', aPreview())
  await save('missions', takenAt('old'))
  await claimHost(fleet, ask, 'old')
  expect((await mission('m2')).taken_over?.terminal.host).toBe(fleet.home.host)
})
