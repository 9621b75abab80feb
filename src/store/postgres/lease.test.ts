import { describe, expect, onTestFinished, test } from 'vitest'
import { EFFECT_MS, LEASE_MS } from '../../domain/rules/lease.ts'
import { effect, guardEffects } from '../../platform/effects.ts'
import { LeaseLost, type TimedLease, tryLease } from '../lease.ts'
import { openStore } from '../open.ts'
import { type ServerInfo, type Store, StoreHeld, StoreNewer, StoreOutdated } from '../port.ts'
import { aMission, anEvent } from '../samples.testkit.ts'
import { aSchema, SHARED, WHY_SKIPPED } from './schema.testkit.ts'
import { rawly } from './server.testkit.ts'

const NOW = '2026-01-01T00:00:00.000Z'
const STALE_COMMITS = 50

let made = 0
const aServer = (home = 'home'): ServerInfo => ({
  ...{ id: `s${++made}`, host: 'box', pid: made, version: '1.0.0', home, url: null },
})

describe.skipIf(!SHARED)(`the lease on postgresql${SHARED ? '' : ` (${WHY_SKIPPED})`}`, () => {
  async function aStore(settings = aSchema()) {
    const store = await openStore(settings, { migrate: true })
    onTestFinished(() => store.close())
    return { store, settings, sql: (text: string) => rawly(settings.url, text.replaceAll('$S', settings.schema!)) }
  }
  const take = async (store: Store, server = aServer()): Promise<TimedLease> => {
    const taken = await tryLease(store, store.heartbeats!, server, { now: NOW })
    if ('kept' in taken) throw new Error(taken.kept)
    return taken.lease
  }
  const tried = (store: Store, server = aServer(), fromAnyHome = false) =>
    tryLease(store, store.heartbeats!, server, { now: NOW, fromAnyHome })
  const EXPIRE = `UPDATE $S.heartbeat SET until = clock_timestamp() - interval '1 second'`
  const SHORT = `UPDATE $S.heartbeat SET until = clock_timestamp() + interval '${EFFECT_MS - 500} milliseconds'`

  test('of many who want it at once one has it, and it says so in the events', async () => {
    const { store, settings } = await aStore()
    const stores = await Promise.all(Array.from({ length: 4 }, () => openStore(settings, { migrate: false })))
    onTestFinished(() => Promise.all(stores.map(each => each.close())).then(() => {}))
    const tries = await Promise.all(stores.map(each => tried(each)))
    expect(tries.filter(each => 'lease' in each)).toHaveLength(1)
    const { leftMs } = await store.heartbeats!.held()
    expect(leftMs).toBeGreaterThan(LEASE_MS - 2000)
    expect(leftMs).toBeLessThanOrEqual(LEASE_MS)
    const { events } = await store.events({ limit: 10 })
    expect(events.map(({ kind }) => kind)).toEqual(['decider_changed'])
  })

  test('who was stopped for longer than the lease commits nothing, and begins nothing outside', async () => {
    const { store, sql } = await aStore()
    const first = await take(store)
    const mayStill = await first.mayAct()
    expect(mayStill()).toBe(true)
    await sql(EXPIRE)
    const second = await take(store)
    expect(second.epoch).toBeGreaterThan(first.epoch)
    const tail = await store.tail()
    let refused = 0
    for (let n = 0; n < STALE_COMMITS; n++)
      await first
        .commit({ changes: [{ put: 'missions', value: aMission(`m${n}`), expects: 'absent' }], events: [anEvent()] })
        .catch(error => {
          expect(error).toBeInstanceOf(LeaseLost)
          refused++
        })
    expect(refused).toBe(STALE_COMMITS)
    expect(await store.tail()).toBe(tail)
    await expect(first.mayAct()).rejects.toBeInstanceOf(LeaseLost)
    expect(mayStill()).toBe(false)
    expect(first.lost.aborted).toBe(true)
    expect((await second.mayAct())()).toBe(true)
    await second.commit({ changes: [], events: [anEvent()] })
  })

  test('an effect waits for a lease that is long enough, and is refused once another has it', async () => {
    const { store, sql } = await aStore()
    const lease = await take(store)
    onTestFinished(guardEffects(() => lease.mayAct()))
    let ran = 0
    const act = () => effect('git.update-ref', () => void ran++)
    // Too little is left: it is renewed first.
    await sql(SHORT)
    await act()
    expect((await store.heartbeats!.held()).leftMs).toBeGreaterThan(EFFECT_MS)
    // It is over, but nobody else has taken it.
    await sql(EXPIRE)
    await act()
    expect(ran).toBe(2)
    await sql(EXPIRE)
    await take(store)
    await expect(act()).rejects.toBeInstanceOf(LeaseLost)
    expect(ran).toBe(2)
    // Commits are checked by themselves.
    await effect('commit.wish', () => void ran++)
    expect(ran).toBe(3)
  })

  test('renewing touches no commit, and tells who has lost it', async () => {
    const { store, sql } = await aStore()
    const [server, other] = [aServer(), aServer()]
    const lease = await take(store, server)
    const commits = async () => (await sql('SELECT commits FROM $S.store'))[0]!.commits
    const before = await commits()
    await lease.renew(server)
    await store.heartbeats!.beat(other)
    expect(await commits()).toBe(before)
    expect((await store.heartbeats!.servers()).map(({ id }) => id).toSorted()).toEqual([server.id, other.id].toSorted())
    await sql(EXPIRE)
    await take(store, other)
    await lease.renew(server)
    expect(lease.lost.aborted).toBe(true)
  })

  test('it is handed over at once, but only to a server with the files of the fleet', async () => {
    const { store } = await aStore()
    const lease = await take(store, aServer('here'))
    expect(await tried(store, aServer('here'))).toMatchObject({ kept: 'held' })
    await lease.release()
    expect(await tried(store, aServer('there'))).toMatchObject({ kept: 'elsewhere', home: 'here' })
    expect(await tried(store, aServer('here'))).toMatchObject({ lease: { epoch: expect.any(Number) } })
    // A person says that home is gone, but its server still decides.
    expect(await tried(store, aServer('there'), true)).toMatchObject({ kept: 'held' })
    await store.heartbeats!.release((await store.heartbeats!.held()).epoch)
    expect(await tried(store, aServer('there'), true)).toMatchObject({ lease: { epoch: expect.any(Number) } })
  })

  test('a store is brought up to date only while nobody decides, and a newer one ends an older server', async () => {
    const { store, settings, sql } = await aStore()
    const server = aServer()
    const lease = await take(store, server)
    const opened = (migrate: boolean) => openStore(settings, { migrate }).then(each => each.close())
    await sql('UPDATE $S.store SET indexes = indexes - 1')
    await expect(opened(false)).rejects.toBeInstanceOf(StoreOutdated)
    const held = await opened(true).catch(error => error)
    expect(held).toBeInstanceOf(StoreHeld)
    expect(held.message).toContain('The server of version 1.0.0 on box')
    await lease.release()
    await opened(true)
    await sql('UPDATE $S.store SET indexes = indexes + 1')
    await expect(store.heartbeats!.beat(server)).rejects.toBeInstanceOf(StoreNewer)
    const newer = await opened(false).catch(error => error)
    expect(newer).toBeInstanceOf(StoreNewer)
    expect(newer.message).toMatch(/this program only knows up to version/)
  })
})
