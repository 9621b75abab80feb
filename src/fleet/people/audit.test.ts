import { expect, test, vi } from 'vitest'
import { aMission, NOW } from '../../domain/samples.testkit.ts'
import { memoryStore, type Store, Unavailable } from '../../store/index.ts'
import { aFleet } from '../fleet.testkit.ts'
import type { Fleet } from '../fleet.ts'
import { put } from '../records.ts'
import { aboutBatch, record } from './audit.ts'
import { listAudit } from './audit-list.ts'
import { AuditRetention } from './audit-retention.ts'
import type { Asked } from './refusals.ts'

const ASKED: Asked = {
  principal: { kind: 'person', id: 'ada', name: 'Ada' },
  ...{ way: 'rest', address: '127.0.0.1', device_id: null, token_id: null, operation: 'update_mission' },
}
const NOTHING = { project_id: null, mission_id: null, touched: [] }
const about = async () => NOTHING
const entriesIn = async (fleet: Fleet, filter = {}) => (await listAudit(fleet, filter, { limit: 500 })).entries

test('the entry of a command is in its first commit, and a command without one gets a commit of its own', async () => {
  const store = memoryStore()
  const commit = vi.spyOn(store, 'commit')
  const fleet = aFleet({ store, now: () => NOW })
  const one = record(fleet, ASKED)
  const mission = aMission({ id: 'm', project_id: 'p' })
  const event = { kind: 'mission_created', time: NOW, actor: 'person:ada', project_id: 'p', mission_id: 'm' } as const
  await one.fleet.commit('commit.wish', { changes: [put('missions', mission, 'absent')], events: [event] })
  await one.fleet.commit('commit.wish', { changes: [put('missions', aMission({ id: 'n' }), 'absent')] })
  await one.done(about)
  expect(commit).toHaveBeenCalledTimes(2)
  expect(await entriesIn(fleet)).toMatchObject([
    { ...ASKED, project_id: 'p', mission_id: 'm', touched: ['missions/m'], outcome: 'done', code: null, count: 1 },
  ])
  await record(fleet, ASKED).done(async () => ({ ...NOTHING, touched: ['devices/d'] }))
  expect(commit).toHaveBeenCalledTimes(3)
  expect(await entriesIn(fleet)).toHaveLength(2)
})

test('a command that fails after its first commit is refused, and still says what it did', async () => {
  const fleet = aFleet({ now: () => NOW })
  const one = record(fleet, ASKED)
  await one.fleet.commit('commit.wish', { changes: [put('missions', aMission({ id: 'm' }), 'absent')] })
  await one.refused('wrong_state', about)
  expect(await entriesIn(fleet)).toMatchObject([{ outcome: 'refused', code: 'wrong_state', touched: ['missions/m'] }])
})

/** Writes, but says that it does not know. */
const unsure = (): Store => {
  const store = memoryStore()
  const { commit } = store
  let first = true
  store.commit = async batch => {
    await commit.call(store, batch)
    if (first) {
      first = false
      throw new Unavailable('no answer')
    }
  }
  return store
}

test('a conflict or a lost answer leaves exactly one entry', async () => {
  const fleet = aFleet({ store: unsure(), now: () => NOW })
  const one = record(fleet, ASKED)
  const batch = { changes: [put('missions', aMission({ id: 'm' }), 'absent')] }
  await expect(one.fleet.commit('commit.wish', batch)).rejects.toThrow('no answer')
  await expect(one.fleet.commit('commit.wish', batch)).rejects.toThrow()
  await one.done(about)
  expect(await entriesIn(fleet)).toHaveLength(1)

  const other = record(fleet, ASKED)
  await expect(other.fleet.commit('commit.wish', batch)).rejects.toThrow()
  await other.fleet.commit('commit.wish', { changes: [put('missions', aMission({ id: 'n' }), 'absent')] })
  await other.done(about)
  expect(await entriesIn(fleet)).toHaveLength(2)
})

test('what a commit changes in another project is not named', () => {
  const changes = [
    put('missions', aMission({ id: 'm', project_id: 'p' }), 'absent'),
    put('missions', aMission({ id: 'foreign', project_id: 'q' }), 'absent'),
  ]
  expect(aboutBatch({ changes })).toEqual({ project_id: 'p', mission_id: null, touched: ['missions/m'] })
})

test('a flood of refusals is a few entries with a count', async () => {
  let now = NOW
  const fleet = aFleet({ now: () => now })
  const refuse = (operation: string, times: number) => {
    for (let i = 0; i < times; i++) fleet.refusals.note({ ...ASKED, operation }, 'forbidden', NOTHING, now)
  }
  refuse('land_mission', 10_000)
  await fleet.refusals.flush()
  refuse('land_mission', 5)
  await fleet.refusals.flush()
  expect(await entriesIn(fleet)).toMatchObject([{ operation: 'land_mission', count: 10_005 }])
  now = new Date(Date.parse(NOW) + 60_000).toISOString()
  for (let i = 0; i < 1000; i++) refuse(`operation_${i}`, 1)
  await fleet.refusals.flush()
  const entries = await entriesIn(fleet)
  expect(entries).toHaveLength(201)
  expect(entries.reduce((sum, { count }) => sum + count, 0)).toBe(11_005)
  expect(entries.find(({ operation }) => operation === 'other')!.count).toBe(801)
})

test('old entries and those beyond the limit are dropped, the oldest first', async () => {
  let now = '2026-01-01T00:00:00.000Z'
  const fleet = aFleet({ now: () => now })
  const add = async (days: number, many: number) => {
    for (let i = 0; i < many; i++) {
      now = new Date(Date.parse('2026-01-01T00:00:00.000Z') + days * 86_400_000 + i).toISOString()
      await record(fleet, ASKED).done(about)
    }
  }
  await add(0, 60)
  await add(100, 30)
  const retention = new AuditRetention(fleet)
  await retention.round()
  expect(await entriesIn(fleet)).toHaveLength(30)
  Object.defineProperty(fleet, 'settings', { value: { ...fleet.settings, auditMost: 20 } })
  await retention.round()
  expect(await entriesIn(fleet)).toHaveLength(20)
  await add(101, 15)
  await retention.round()
  const left = await entriesIn(fleet)
  expect(left).toHaveLength(20)
  expect(left.filter(({ at }) => at >= '2026-04-12')).toHaveLength(15)
})

test('who floods the log pushes out entries of their own, not what others did', async () => {
  let ms = Date.parse(NOW)
  const fleet = aFleet({ now: () => new Date(ms++).toISOString() })
  Object.defineProperty(fleet, 'settings', { value: { ...fleet.settings, auditMost: 100 } })
  const asked = (id: string, many: number) =>
    Array.from({ length: many }, () => ({ ...ASKED, principal: { kind: 'person' as const, id, name: id } }))
  const retention = new AuditRetention(fleet)
  for (const each of [...asked('ada', 30), ...asked('mallory', 60)]) await record(fleet, each).done(about)
  await retention.round()
  for (const each of [...asked('mallory', 240), ...asked('bob', 5)]) await record(fleet, each).done(about)
  await retention.round()
  const left = Map.groupBy(await entriesIn(fleet), ({ principal }) => principal.id)
  expect([left.get('ada')!.length, left.get('mallory')!.length, left.get('bob')!.length]).toEqual([30, 65, 5])
  const newest = left.get('mallory')![0]!.at
  await retention.round()
  expect((await entriesIn(fleet, { by: 'person:mallory' }))[0]!.at).toBe(newest)
})
