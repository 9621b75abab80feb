import { join } from 'node:path'
import Database from 'better-sqlite3'
import { describe, expect, onTestFinished, test } from 'vitest'
import { LEASE } from '../domain/records/store.ts'
import { LeaseLost, takeLease } from './lease.ts'
import { openStore, type StoreSettings } from './open.ts'
import { type Batch, Conflict, MAX_COMMIT_ITEMS, type Store } from './port.ts'
import { aSchema, SHARED } from './postgres/schema.testkit.ts'
import { aMission, anEvent, insist } from './samples.testkit.ts'
import { aFolder } from './sqlite/processes.testkit.ts'

let seed = 0
const ENGINES: Record<string, () => StoreSettings> = {
  sqlite: () => ({ engine: 'sqlite', file: join(aFolder(), 'store.db') }),
  memory: () => ({ engine: 'memory' }),
  'hostile memory': () => ({ engine: 'memory', hostile: { seed: ++seed } }),
  ...(SHARED && { postgresql: () => aSchema() }),
}
const NOW = '2026-01-01T00:00:00.000Z'

describe.each(Object.entries(ENGINES))('on the %s engine', (_name, settings) => {
  async function aStore(): Promise<Store> {
    const store = await openStore(settings(), { migrate: true })
    onTestFinished(() => store.close())
    return store
  }
  const making = (id: string): Batch => ({
    changes: [{ put: 'missions', value: aMission(id), expects: 'absent' }],
    events: [anEvent({ mission_id: id })],
  })

  test('each taking is a new epoch, and all commits of the one before are refused whole', async () => {
    const store = await aStore()
    const first = await takeLease(store, NOW)
    await insist(first, making('a'))
    const second = await takeLease(store, NOW)
    expect(second.epoch).toBe(first.epoch + 1)
    expect(first.lost.aborted).toBe(false)
    const tail = await store.tail()
    for (const id of ['b', 'c']) await expect(insist(first, making(id))).rejects.toBeInstanceOf(LeaseLost)
    expect(first.lost.aborted).toBe(true)
    expect(await store.get('missions', 'b')).toBeUndefined()
    expect(await store.tail()).toBe(tail)
    await insist(second, making('b'))
    // A process that only makes requests needs no lease.
    await insist(store, making('c'))
    expect(second.lost.aborted).toBe(false)
  })

  test('a daemon with nothing to commit learns of it by looking', async () => {
    const store = await aStore()
    const first = await takeLease(store, NOW)
    await first.look()
    expect(first.lost.aborted).toBe(false)
    await takeLease(store, NOW)
    await first.look()
    expect(first.lost.aborted).toBe(true)
  })

  test('of many who take it at once one is left, with the highest epoch', async () => {
    const store = await aStore()
    const leases = await Promise.all(Array.from({ length: 6 }, () => takeLease(store, NOW)))
    for (const lease of leases) await lease.look()
    const left = leases.filter(lease => !lease.lost.aborted)
    expect(left.map(({ epoch }) => epoch)).toEqual([Math.max(...leases.map(({ epoch }) => epoch))])
    expect((await store.get('lease', LEASE))!.value.epoch).toBe(left[0]!.epoch)
  })

  test('an ordinary conflict is told as one, and a full commit has room for the check', async () => {
    const store = await aStore()
    const lease = await takeLease(store, NOW)
    await insist(lease, making('a'))
    await expect(lease.commit(making('a'))).rejects.toBeInstanceOf(Conflict)
    expect(lease.lost.aborted).toBe(false)
    const full = Array.from({ length: MAX_COMMIT_ITEMS }, (_, n) => aMission(`m${n}`))
    await insist(lease, { changes: full.map(value => ({ put: 'missions', value, expects: 'absent' })) })
  })
})

test('a damaged lease, and damaged notes of migrations, keep no daemon from acting', async () => {
  const file = join(aFolder(), 'store.db')
  const first = await openStore({ engine: 'sqlite', file }, { migrate: true })
  const before = await takeLease(first, NOW)
  const db = new Database(file)
  db.exec(`UPDATE records_lease SET body = '{"half'; UPDATE records_migrations SET body = '{"half'`)
  db.close()
  const store = await openStore({ engine: 'sqlite', file }, { migrate: true })
  onTestFinished(async () => {
    await store.close()
    await first.close()
  })
  const after = await takeLease(store, NOW)
  expect(after.epoch).toBeGreaterThan(before.epoch)
  await before.look()
  expect(before.lost.aborted).toBe(true)
  await after.commit({ changes: [{ put: 'missions', value: aMission('a'), expects: 'absent' }] })
})
