import { join } from 'node:path'
import { expect, test } from 'vitest'
import { newId } from '../domain/ids.ts'
import { oncePerKey } from '../fleet/commands.ts'
import { aFleet } from '../fleet/fleet.testkit.ts'
import { put } from '../fleet/records.ts'
import { memoryStore, openStore, Unavailable } from '../store/index.ts'
import { aMission } from '../store/samples.testkit.ts'
import { aFolder } from '../store/sqlite/processes.testkit.ts'
import { Housekeeping } from './housekeeping.ts'

const ask = { operation: 'test', actor: 'person', key: 'k', input: 'one' }
const counting = () => {
  let times = 0
  return async () => ({ subject: String(++times), changes: [] })
}

test('a key is for one thing: the same is done once, something else is refused', async () => {
  const fleet = aFleet()
  const decide = counting()
  expect(await oncePerKey(fleet, ask, decide)).toBe('1')
  expect(await oncePerKey(fleet, ask, decide)).toBe('1')
  await expect(oncePerKey(fleet, { ...ask, input: 'two' }, decide)).rejects.toThrow('used for something else')
  expect(await oncePerKey(fleet, { ...ask, actor: 'session:x', input: 'two' }, decide)).toBe('2')
})

const silent = (seed: number) => memoryStore({ hostile: { seed, silent: true } })

test('a command with a key is done once, also where the store often gives no answer', async () => {
  const fleet = aFleet({ store: silent(5) })
  for (let n = 0; n < 60; n++) {
    const id = newId()
    const decide = async () => ({
      subject: id,
      changes: [put('missions', aMission(id), 'absent')],
      events: [{ kind: 'mission_created' as const, time: fleet.now(), actor: 'person', data: { n } }],
    })
    expect(await oncePerKey(fleet, { ...ask, key: `k${n}` }, decide)).toBe(id)
  }
  const { events } = await fleet.store.events({ limit: 500 })
  expect(events.map(({ data }) => data.n)).toEqual(Array.from({ length: 60 }, (_, n) => n))
})

test('a command without a key fails when nobody knows whether it was done', async () => {
  const fleet = aFleet({ store: silent(6) })
  const asked = Array.from({ length: 60 }, () =>
    oncePerKey(fleet, { operation: 'test', actor: 'person' }, async () => {
      const id = newId()
      return { subject: id, changes: [put('missions', aMission(id), 'absent')] }
    }),
  )
  const failed = (await Promise.allSettled(asked)).filter(each => each.status === 'rejected')
  expect(failed.length).toBeGreaterThan(0)
  for (const { reason } of failed) expect(reason).toBeInstanceOf(Unavailable)
})

test.each(['memory', 'sqlite'] as const)('receipts are kept for a week (%s)', async engine => {
  let now = '2026-01-01T00:00:00.000Z'
  const store =
    engine === 'sqlite' ? await openStore({ engine, file: join(aFolder(), 'store.db') }, { migrate: true }) : undefined
  const fleet = aFleet({ now: () => now, store })
  for (let n = 0; n < 120; n++) await oncePerKey(fleet, { ...ask, key: `k${n}` }, counting())
  now = '2026-01-07T00:00:00.000Z'
  await oncePerKey(fleet, { ...ask, key: 'later' }, counting())
  await new Housekeeping(fleet).tick()
  expect((await fleet.store.find('receipts', { index: 'created', limit: 500 })).items).toHaveLength(121)
  now = '2026-01-09T00:00:00.000Z'
  await new Housekeeping(fleet).tick()
  expect((await fleet.store.find('receipts', { index: 'created', limit: 500 })).items).toHaveLength(1)
})
