import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { Unfit } from '../../domain/errors.ts'
import { LEASE } from '../../domain/records/store.ts'
import { LeaseLost, takeLease } from '../lease.ts'
import { openStore } from '../open.ts'
import { Conflict, Damaged, type Store, StoreOutdated, Unavailable } from '../port.ts'
import { aMission, anEvent } from '../samples.testkit.ts'
import { aFolder, run } from '../sqlite/processes.testkit.ts'
import type { PostgresSettings } from './address.ts'
import { examinePostgres, repairPostgres } from './examine.ts'
import { aSchema, SHARED, WHY_SKIPPED } from './schema.testkit.ts'
import { rawly as asSuperuser } from './server.testkit.ts'
import { explained } from './troubles.ts'

describe.skipIf(!SHARED)(`the postgresql engine${SHARED ? '' : ` (${WHY_SKIPPED})`}`, () => {
  const rawly = <T extends object>(text: string, values?: unknown[]) => asSuperuser<T>(SHARED!, text, values)

  async function aStore(settings: PostgresSettings = aSchema(), onDamage?: (name: string) => void): Promise<Store> {
    const store = await openStore(settings, { migrate: true, onDamage })
    onTestFinished(() => store.close())
    return store
  }
  const add = (id: string) => ({ put: 'missions' as const, value: aMission(id), expects: 'absent' as const })

  test('eight processes write at once: all get through, and a reader misses and reorders nothing', async () => {
    const settings = aSchema()
    const store = await aStore(settings)
    await store.commit({ changes: [add('count')] })
    const each = 15
    const writers = Array.from({ length: 8 }, (_, n) =>
      run('../postgres/writer.testkit.ts', JSON.stringify(settings), `w${n}`, String(each)),
    )
    const seen: string[] = []
    for (let after = await store.tail(); seen.length < 8 * each; await pause(1)) {
      const page = await store.events({ after, limit: 7 })
      after = page.cursor
      seen.push(...page.events.map(({ data }) => `${data.writer}-${data.n}`))
      expect(writers.filter(writer => writer.child.exitCode)).toEqual([])
    }
    expect(await Promise.all(writers.map(writer => writer.exit))).toEqual(Array(8).fill(0))
    expect(new Set(seen).size).toBe(8 * each)
    writers.forEach((writer, n) => {
      expect(seen.filter(event => event.startsWith(`w${n}-`))).toEqual(writer.printed)
    })
    expect((await store.get('missions', 'count'))!.value.sessions).toBe(8 * each)
  })

  test('connections killed again and again during commits: nothing is lost, nothing is doubled', async () => {
    const settings = aSchema()
    const store = await aStore(settings)
    await store.commit({ changes: [add('count')] })
    const start = await store.tail()
    let over = false
    let killed = 0
    const kill = async () => {
      while (!over) {
        const rows = await rawly<{ gone: boolean }>(
          `SELECT pg_terminate_backend(pid) AS gone FROM pg_stat_activity
           WHERE application_name = 'flotilla' AND query LIKE $1 AND pid <> pg_backend_pid()`,
          [`%${settings.schema}.%`],
        )
        killed += rows.length
        await pause(4)
      }
    }
    const acknowledged: string[] = []
    const doubtful: string[] = []
    const write = async (writer: number) => {
      for (let n = 0; n < 40; n++) {
        const id = `w${writer}-${n}`
        try {
          await store.commit({ changes: [add(id)], events: [anEvent({ mission_id: id })] })
          acknowledged.push(id)
        } catch (error) {
          // Its outcome is unknown. Anything else would be wrong: nobody else writes this record.
          expect(error).toBeInstanceOf(Unavailable)
          doubtful.push(id)
        }
      }
    }
    const killing = kill()
    await Promise.all(Array.from({ length: 4 }, (_, writer) => write(writer)))
    over = true
    await killing
    const { events } = await store.events({ after: start, limit: 1000 })
    const told = events.map(({ mission_id }) => mission_id!)
    expect(killed).toBeGreaterThan(20)
    expect(new Set(told).size).toBe(told.length)
    for (const id of acknowledged) expect(told).toContain(id)
    for (const id of doubtful) expect((await store.get('missions', id)) !== undefined).toBe(told.includes(id))
    expect(await examinePostgres(settings)).toMatchObject({ damaged: [], indexes: 0 })
  })

  test('a commit of events alone that is cut off is in doubt, and never written twice', async () => {
    const settings = aSchema()
    const store = await aStore(settings)
    const start = await store.tail()
    const { release } = await holding(settings)
    const cut = store.commit({ changes: [], events: [anEvent()] }).catch(error => error)
    await vi.waitFor(async () => expect(await waiting(settings)).toBe(1))
    await rawly(
      `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query LIKE $1`,
      [`%${settings.schema}.commit_batch%`],
    )
    expect(await cut).toBeInstanceOf(Unavailable)
    await release()
    expect((await store.events({ after: start, limit: 5 })).events).toHaveLength(0)
  })

  /** Another transaction that holds the head of the store. */
  async function holding({ schema }: PostgresSettings) {
    const pg = await import('pg')
    const client = new pg.default.Client(SHARED!)
    await client.connect()
    await client.query(`BEGIN; SELECT FROM ${schema}.store FOR UPDATE`)
    return { release: () => client.query('COMMIT').then(() => client.end()) }
  }
  const waiting = async ({ schema }: PostgresSettings) =>
    (
      await rawly(`SELECT FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query LIKE $1`, [
        `%${schema}.commit_batch%`,
      ])
    ).length

  test('a reader never sees an event before an earlier one, whichever transaction ends first', async () => {
    const settings = aSchema()
    const [one, other] = [await aStore(settings), await aStore(settings)]
    const start = await one.tail()
    const { release } = await holding(settings)
    const both = Promise.all([
      one.commit({ changes: [], events: [anEvent({ data: { n: 1 } })] }),
      other.commit({ changes: [], events: [anEvent({ data: { n: 2 } })] }),
    ])
    await vi.waitFor(async () => expect(await waiting(settings)).toBe(2))
    const seen: string[] = []
    let after = start
    const reading = (async () => {
      while (seen.length < 2) {
        const page = await one.events({ after, limit: 1 })
        after = page.cursor
        seen.push(...page.events.map(({ cursor }) => cursor))
      }
    })()
    await release()
    await both
    await reading
    expect(seen).toEqual([String(Number(start) + 1), String(Number(start) + 2)])
  })

  test("another process's commit is hinted at within 100 ms, and also if the announcement is lost", async () => {
    const settings = aSchema()
    const [store, other] = [await aStore(settings), await aStore(settings)]
    let hinted = Number.NaN
    store.watch(() => {
      hinted = performance.now()
    })
    const delays: number[] = []
    await pause(300)
    for (let round = 0; round < 5; round++) {
      hinted = Number.NaN
      await other.commit({ changes: [], events: [anEvent()] })
      const committed = performance.now()
      await vi.waitFor(() => expect(hinted).toBeGreaterThan(0), { interval: 5, timeout: 10_000 })
      delays.push(hinted - committed)
    }
    expect(delays.sort((a, b) => a - b)[2]).toBeLessThan(100)
    hinted = Number.NaN
    await rawly(`UPDATE ${settings.schema}.store SET commits = commits + 1`)
    await vi.waitFor(() => expect(hinted).toBeGreaterThan(0), { timeout: 5000 })
  })

  test('of two who race for the lease one is left, and the other commits nothing more', async () => {
    const settings = aSchema()
    const stores = [await aStore(settings), await aStore(settings)]
    for (let round = 0; round < 10; round++) {
      const leases = await Promise.all(stores.map(store => takeLease(store, '2026-01-01T00:00:00.000Z')))
      const newest = Math.max(...leases.map(({ epoch }) => epoch))
      expect(new Set(leases.map(({ epoch }) => epoch)).size).toBe(2)
      for (const lease of leases) {
        const committing = lease.commit({ changes: [add(`r${round}-${lease.epoch}`)] })
        if (lease.epoch === newest) await committing
        else await expect(committing).rejects.toBeInstanceOf(LeaseLost)
      }
    }
    expect((await stores[0]!.find('missions', { index: 'id', limit: 100 })).items).toHaveLength(10)
    expect((await stores[0]!.get('lease', LEASE))!.value.epoch).toBe(20)
  })

  test('a record that cannot be read is left out and reported once; its indexes can be built again', async () => {
    const settings = aSchema()
    const damage = vi.fn()
    const store = await aStore(settings, damage)
    await store.commit({ changes: ['a', 'b'].map(add), events: [anEvent(), anEvent()] })
    const { version } = (await store.get('missions', 'a'))!
    await rawly(`UPDATE ${settings.schema}.records SET body = '{"id":', version = version + 1 WHERE id = 'a'`)
    await rawly(`UPDATE ${settings.schema}.events SET body = 'x' WHERE sequence = 1`)
    await rawly(`DELETE FROM ${settings.schema}.index_entries WHERE id = 'b'`)
    for (let twice = 0; twice < 2; twice++) {
      await expect(store.get('missions', 'a')).rejects.toBeInstanceOf(Damaged)
      expect((await store.find('missions', { index: 'created', limit: 5 })).items).toEqual([])
      expect(await store.events({ limit: 5 })).toMatchObject({ reset: true, events: [{ cursor: '2' }] })
    }
    expect(damage.mock.calls.flat().toSorted()).toEqual(['events/1', 'missions/a'])
    expect([...store.unreadable]).toEqual(['missions/a'])
    expect(await examinePostgres(settings)).toMatchObject({
      damaged: ['missions/a', 'events/1'],
      indexes: expect.any(Number),
    })
    await repairPostgres(settings)
    expect((await examinePostgres(settings)).indexes).toBe(0)
    expect((await store.find('missions', { index: 'created', limit: 5 })).items).toHaveLength(1)
    const damaged = await store.get('missions', 'a').catch(error => error)
    expect(damaged.version).not.toBe(version)
    await store.commit({ changes: [{ put: 'missions', value: aMission('a'), expects: damaged.version }] })
    expect(store.unreadable.size).toBe(1)
    expect(await store.get('missions', 'a')).toBeDefined()
    expect(store.unreadable.size).toBe(0)
  })

  test('text with zeros and halves of letters is stored as it is', async () => {
    const store = await aStore()
    const title = 'a\0b\ud800c \\u0000 💡'
    await store.commit({
      changes: [{ put: 'missions', value: aMission('a', { title, tags: ['x\0y'] }), expects: 'absent' }],
      events: [anEvent({ data: { title } })],
    })
    expect((await store.get('missions', 'a'))!.value.title).toBe(title)
    expect((await store.find('missions', { index: 'tag', equals: ['x\0y'], limit: 5 })).items).toHaveLength(1)
    expect((await store.events({ limit: 1 })).events[0]!.data.title).toBe(title)
    expect(await store.get('missions', 'a\0')).toBeUndefined()
  })

  test('only a process that may migrate makes a missing store; two at once make one', async () => {
    const settings = aSchema()
    const refusal = await openStore(settings, { migrate: false }).catch(error => error)
    expect(refusal).toBeInstanceOf(StoreOutdated)
    expect(refusal).toMatchObject({ missing: true, hint: expect.stringContaining('fleet up') })
    await Promise.all([1, 2, 3].map(() => aStore(settings)))
    await (await openStore(settings, { migrate: false })).close()
    expect(await rawly(`SELECT FROM ${settings.schema}.store`)).toHaveLength(1)
  })

  test('a store from before an index was declared gets it; a newer one is refused', async () => {
    const settings = aSchema()
    const store = await aStore(settings)
    await store.commit({ changes: [add('a')] })
    await rawly(`UPDATE ${settings.schema}.store SET indexes = 1`)
    await rawly(`DELETE FROM ${settings.schema}.index_entries`)
    await expect(openStore(settings, { migrate: false })).rejects.toBeInstanceOf(StoreOutdated)
    await aStore(settings)
    expect((await store.find('missions', { index: 'created', limit: 5 })).items).toHaveLength(1)
    await rawly(`UPDATE ${settings.schema}.store SET indexes = 9999`)
    for (const migrate of [true, false]) {
      const refusal = await openStore(settings, { migrate }).catch(error => error)
      expect(refusal).toBeInstanceOf(Unfit)
      expect(refusal.hint).toContain('newer')
    }
  })

  test('two fleets in two schemas do not see each other', async () => {
    const [one, other] = [await aStore(), await aStore()]
    await one.commit({ changes: [add('a')], events: [anEvent()] })
    expect(await other.get('missions', 'a')).toBeUndefined()
    expect((await other.events({ limit: 5 })).events).toEqual([])
    await other.commit({ changes: [add('a')] })
  })

  test('a role that has only its own schema is enough; without one it is told what it needs', async () => {
    const { schema } = aSchema()
    await rawly(`CREATE ROLE ${schema} LOGIN`)
    onTestFinished(() => rawly(`DROP SCHEMA IF EXISTS ${schema} CASCADE; DROP ROLE ${schema}`).then(() => {}))
    const settings = { ...aSchema(SHARED!.replace('fleet@', `${schema}@`)), schema }
    const refusal = await openStore(settings, { migrate: true }).catch(error => error)
    expect(refusal).toBeInstanceOf(Unfit)
    expect(refusal.hint).toContain('CREATE SCHEMA')
    await rawly(`CREATE SCHEMA ${schema} AUTHORIZATION ${schema}`)
    const store = await openStore(settings, { migrate: true })
    await store.commit({ changes: [add('a')], events: [anEvent()] })
    await store.close()
  })

  test('a role whose commits would not see the one before is refused in words, also later', async () => {
    const { schema } = aSchema()
    await rawly(`CREATE ROLE ${schema} LOGIN; CREATE SCHEMA ${schema} AUTHORIZATION ${schema}`)
    onTestFinished(() => rawly(`DROP SCHEMA ${schema} CASCADE; DROP ROLE ${schema}`).then(() => {}))
    const settings = { ...aSchema(SHARED!.replace('fleet@', `${schema}@`)), schema }
    const begins = (level: string) => rawly(`ALTER ROLE ${schema} SET default_transaction_isolation = '${level}'`)
    await begins('serializable')
    const refusal = 'begins its transactions as serializable; the fleet needs read committed'
    await expect(openStore(settings, { migrate: true })).rejects.toThrow(refusal)
    await begins('read committed')
    await (await openStore(settings, { migrate: true })).close()
    const later = explained(Object.assign(new Error('could not serialize access'), { code: '40001' }), { words: '' })
    expect(later).toMatchObject({ message: expect.stringContaining('the fleet needs read committed') })
  })

  test('a database that cannot store all letters is refused before anything is made there', async () => {
    const { schema } = aSchema()
    await rawly(`CREATE DATABASE ${schema} ENCODING 'LATIN1' LOCALE 'C' TEMPLATE template0`)
    onTestFinished(() => rawly(`DROP DATABASE ${schema} WITH (FORCE)`).then(() => {}))
    const url = new URL(SHARED!)
    url.pathname = `/${schema}`
    const settings = { ...aSchema(url.href), schema }
    await expect(openStore(settings, { migrate: true })).rejects.toThrow('has the encoding LATIN1')
    expect(await asSuperuser(url.href, 'SELECT to_regnamespace($1) AS there', [schema])).toEqual([{ there: null }])
  })

  test('a home remembers its store without the password, and refuses another one', async () => {
    const memory = join(aFolder(), 'store.json')
    const url = SHARED!.replace('fleet@', 'fleet:s3cret@')
    await aStore({ ...aSchema(url), memory })
    const text = readFileSync(memory, 'utf8')
    expect(text).not.toContain('s3cret')
    expect(JSON.parse(text)).toMatchObject({ engine: 'postgresql', url: expect.stringContaining('schema=test_') })
    const other = aSchema(url)
    const refused = async () => openStore({ ...other, memory }, { migrate: true }).catch(error => error)
    expect((await refused()).message).toContain('are gone')
    // Somebody may be putting a backup back: nothing was made there.
    expect(await rawly('SELECT to_regnamespace($1) AS there', [other.schema])).toEqual([{ there: null }])
    await aStore(other)
    const refusal = await refused()
    expect(refusal).toBeInstanceOf(Unfit)
    expect(refusal.message).toContain('is gone')
  })

  test('a transaction that holds the store for too long is named, and nothing is written', async () => {
    const settings = aSchema(`${SHARED}?statement_timeout=400`)
    const store = await aStore(settings)
    const { release } = await holding(settings)
    const refusal = await store.commit({ changes: [add('late')] }).catch(error => error)
    expect(refusal).toBeInstanceOf(Unavailable)
    await release()
    await vi.waitFor(async () => expect(await waiting(settings)).toBe(0))
    // Whether it was written after all is known by looking, and then it is there once.
    const there = await store.get('missions', 'late')
    const again = store.commit({ changes: [add('late')] })
    if (there) await expect(again).rejects.toBeInstanceOf(Conflict)
    else await again
  })

  test('an address that is wrong is told without its password', async () => {
    const file = join(aFolder(), 'address')
    for (const [url, says] of [
      ['postgresql://fleet:s3cret@127.0.0.1:1/x', /does not answer.*nothing listens/],
      ['postgresql://fleet:s3cret@127.0.0.1:1/x?sslmod=require', /sslmod is not a parameter/],
      ['postgresql://fleet:s3cret@127.0.0.1:99999/x', /not a valid address/],
      ['mysql://fleet:s3cret@127.0.0.1/x', /postgresql:\/\//],
      ['postgresql://fleet:s3cret@127.0.0.1:1/x?sslmode=verify-full&sslrootcert=/none', /sslrootcert.*cannot be read/],
      [SHARED!.replace('fleet@', 'fleet:s3cret@').replace('/postgres', '/nothing'), /no such database/],
      [`${SHARED!.replace('fleet@', 'fleet:s3cret@')}?sslmode=require`, /does not speak TLS/],
      [SHARED!.replace('fleet@', 'nobody:s3cret@'), /does not let this user in/],
    ] as const) {
      writeFileSync(file, `${url}\n`)
      for (const given of [url, `file:${file}`]) {
        const refusal = await openStore({ engine: 'postgresql', url: given }, { migrate: true }).catch(error => error)
        expect(`${refusal.message} ${refusal.hint} ${refusal.stack} ${JSON.stringify(refusal)}`).not.toContain('s3cret')
        expect(refusal.message).toMatch(says)
      }
    }
    expect(existsSync(file)).toBe(true)
  })
})
