import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import type { Mission } from '../domain/records/mission.ts'
import {
  Conflict,
  MAX_COMMIT_ITEMS,
  MAX_RECORD_BYTES,
  type Page,
  type Query,
  type Store,
  type Version,
} from './port.ts'
import { aMission, anEvent, insist } from './samples.testkit.ts'

/** What every engine promises. `find` may lag, so the tests wait for its results. */
export function storeContract(name: string, open: () => Promise<Store>): void {
  describe(`${name} store`, () => {
    let store: Store
    beforeEach(async () => {
      store = await open()
    })
    afterEach(() => store.close())

    const add = (...missions: Mission[]) =>
      insist(store, { changes: missions.map(value => ({ put: 'missions', value, expects: 'absent' })) })
    const change = async (id: string, fields: Partial<Mission>) => {
      const { value, version } = (await store.get('missions', id))!
      await insist(store, { changes: [{ put: 'missions', value: { ...value, ...fields }, expects: version }] })
    }
    const versionOf = async (id: string) => (await store.get('missions', id))!.version
    const ids = (page: Page<{ id: string }>) => page.items.map(item => item.value.id)
    const shows = (query: Partial<Query> & { index: string }, expected: string[]) =>
      eventually(async () => expect(ids(await store.find('missions', { limit: 100, ...query }))).toEqual(expected))
    const walk = async (query: Query, between: () => Promise<void> = async () => {}) => {
      const seen: string[] = []
      for (let cursor: string | undefined, more = true; more; more = cursor !== undefined) {
        const page = await store.find('missions', { ...query, cursor })
        expect(page.items.length).toBeLessThanOrEqual(query.limit)
        seen.push(...ids(page))
        cursor = page.cursor
        if (cursor) await between()
      }
      return seen
    }

    describe('records', () => {
      test('are absent, then as written, and each write has a version of its own', async () => {
        expect(await store.get('missions', 'a')).toBeUndefined()
        await add(aMission('a', { title: 'née 💡' }))
        const first = (await store.get('missions', 'a'))!
        expect(first).toMatchObject({ value: { title: 'née 💡', priority: 0, tags: [] } })
        expect((await store.get('missions', 'a'))!.version).toBe(first.version)
        await change('a', { title: 'second' })
        const second = (await store.get('missions', 'a'))!
        expect(second).toMatchObject({ value: { title: 'second' } })
        expect(second.version).not.toBe(first.version)
        await eventually(async () =>
          expect((await store.find('missions', { index: 'id', limit: 1 })).items).toEqual([second]),
        )
      })

      test('cannot be changed by who wrote or read one', async () => {
        const given = aMission('a', { tags: ['kept'] })
        await add(given)
        given.tags.push('after')
        const read = await store.get('missions', 'a')
        // An engine may refuse it, or have given a copy.
        try {
          read!.value.tags.push('read')
        } catch {}
        expect((await store.get('missions', 'a'))!.value.tags).toEqual(['kept'])
      })

      test('of two collections with one id are apart', async () => {
        await add(aMission('same'))
        expect(await store.get('comments', 'same')).toBeUndefined()
      })

      test('can be removed and made again, and then no earlier version is valid', async () => {
        const had: Version[] = []
        for (let n = 0; n < 10; n++) {
          await add(aMission('a'))
          for (let writes = 0; writes < n % 4; writes++) {
            had.push(await versionOf('a'))
            await change('a', { title: String(writes) })
          }
          for (const expects of had)
            await expect(insist(store, { changes: [{ remove: 'missions', id: 'a', expects }] })).rejects.toThrow(
              Conflict,
            )
          had.push(await versionOf('a'))
          await insist(store, { changes: [{ remove: 'missions', id: 'a', expects: had.at(-1)! }] })
          expect(await store.get('missions', 'a')).toBeUndefined()
        }
        expect(new Set(had).size).toBe(had.length)
        await shows({ index: 'id' }, [])
      })
    })

    describe('find', () => {
      test('goes by the index asked for, in both directions', async () => {
        await add(
          aMission('old', { created_at: at(1) }),
          aMission('new', { created_at: at(3) }),
          aMission('mid', { created_at: at(2) }),
        )
        await shows({ index: 'created' }, ['old', 'mid', 'new'])
        await shows({ index: 'created', newestFirst: true }, ['new', 'mid', 'old'])
        await shows({ index: 'id' }, ['mid', 'new', 'old'])
      })

      test('follows a record that changes, and forgets where it was', async () => {
        await add(aMission('a', { status: 'queued' }), aMission('b', { status: 'queued' }))
        await change('a', { status: 'running' })
        await shows({ index: 'status', equals: ['queued'] }, ['b'])
        await shows({ index: 'status', equals: ['running'] }, ['a'])
        await shows({ index: 'created' }, ['a', 'b'])
      })

      test('orders numbers as numbers', async () => {
        const queued = (id: string, priority: number) => aMission(id, { status: 'queued', ready: true, priority })
        await add(queued('low', -1000), queued('none', 0), queued('nine', 9), queued('ten', 10), queued('high', 1000))
        await shows({ index: 'ready' }, ['high', 'ten', 'nine', 'none', 'low'])
      })

      test('matches leading parts exactly, ranges and prefixes', async () => {
        const tagged = (id: string, day: number, ...tags: string[]) => aMission(id, { tags, created_at: at(day) })
        await add(
          tagged('a', 1, 'web', 'web'),
          tagged('b', 2, 'web', 'webapp'),
          tagged('c', 3, 'web'),
          tagged('d', 4, 'we', 'übung'),
        )
        await shows({ index: 'tag', equals: ['web'] }, ['a', 'b', 'c'])
        await shows({ index: 'tag', equals: ['web'], from: at(2) }, ['b', 'c'])
        await shows({ index: 'tag', equals: ['web'], below: at(2) }, ['a'])
        await shows({ index: 'tag', equals: ['web'], from: at(2), below: at(3), newestFirst: true }, ['b'])
        await shows({ index: 'tag', equals: ['web'], prefix: at(3).slice(0, 10) }, ['c'])
        await shows({ index: 'tag', prefix: 'webapp' }, ['b'])
        await shows({ index: 'tag', prefix: 'üb' }, ['d'])
        await shows({ index: 'id', prefix: 'c' }, ['c'])
        await shows({ index: 'tag', equals: ['nothing'] }, [])
      })

      test.each([false, true])('pages stay in place while others write (newest first: %s)', async newestFirst => {
        const there = Array.from({ length: 20 }, (_, n) => `m${String(n).padStart(2, '0')}`)
        await add(...there.map((id, n) => aMission(id, { created_at: at(1 + (n >> 2)) })))
        const query = { index: 'created', limit: 3, newestFirst }
        const expected = newestFirst ? there.toReversed() : there
        await eventually(async () => expect(await walk(query)).toEqual(expected))
        let disturbance = 0
        const disturb = async () => {
          const n = disturbance++
          await add(aMission(`early${n}`, { created_at: at(1) }), aMission(`late${n}`, { created_at: at(9) }))
        }
        await eventually(async () => {
          const seen = await walk({ ...query, below: at(9) }, disturb)
          expect(seen.filter(id => id.startsWith('m'))).toEqual(expected)
          expect(new Set(seen).size).toBe(seen.length)
        })
      })

      test('gives no cursor at the end, and refuses one it never gave', async () => {
        await add(aMission('a'), aMission('b'))
        await eventually(async () =>
          expect(await store.find('missions', { index: 'id', limit: 2 })).not.toHaveProperty('cursor'),
        )
        await expect(store.find('missions', { index: 'id', limit: 2, cursor: '***' })).rejects.toThrow('cursor')
      })

      test('refuses an index that is not declared', async () => {
        await expect(store.find('missions', { index: 'title', limit: 1 })).rejects.toThrow('no index title')
      })
    })

    describe('commit', () => {
      const refused = (batch: Parameters<Store['commit']>[0]) =>
        expect(store.commit(batch)).rejects.toBeInstanceOf(Conflict)

      test('refuses what is no longer as it was read', async () => {
        await add(aMission('a'))
        const read = await versionOf('a')
        await change('a', { title: 'theirs' })
        const theirs = await store.get('missions', 'a')
        await refused({ changes: [{ put: 'missions', value: aMission('a'), expects: read }] })
        await refused({ changes: [{ put: 'missions', value: aMission('a'), expects: 'absent' }] })
        await refused({ changes: [{ put: 'missions', value: aMission('b'), expects: read }] })
        await refused({ changes: [{ remove: 'missions', id: 'a', expects: read }] })
        expect(theirs).toMatchObject({ value: { title: 'theirs' } })
        expect(await store.get('missions', 'a')).toEqual(theirs)
      })

      test('lets exactly one of many win, and all of those who read again', async () => {
        await add(aMission('a'))
        const increment = async () => {
          for (;;) {
            const { value, version } = (await store.get('missions', 'a'))!
            const next = { ...value, sessions: value.sessions + 1 }
            try {
              return await store.commit({ changes: [{ put: 'missions', value: next, expects: version }] })
            } catch (error) {
              if (!(error instanceof Conflict)) throw error
            }
          }
        }
        await Promise.all(Array.from({ length: 12 }, increment))
        expect(await store.get('missions', 'a')).toMatchObject({ value: { sessions: 12 } })
      })

      test('refuses one of two commits if each checks what the other changes', async () => {
        await add(aMission('a'), aMission('b'))
        const read: Record<string, Version> = { a: await versionOf('a'), b: await versionOf('b') }
        const depend = (id: string, on: string) =>
          store.commit({
            changes: [{ put: 'missions', value: aMission(id, { depends_on: [on] }), expects: read[id]! }],
            checks: [{ collection: 'missions', id: on, expects: read[on]! }],
          })
        let won: string[]
        do {
          const results = await Promise.allSettled([depend('a', 'b'), depend('b', 'a')])
          won = results.map(result => result.status)
        } while (!won.includes('fulfilled'))
        expect(won.sort()).toEqual(['fulfilled', 'rejected'])
        const both = [await store.get('missions', 'a'), await store.get('missions', 'b')]
        expect(both.flatMap(mission => mission!.value.depends_on)).toHaveLength(1)
      })

      test('checks that a record is still absent', async () => {
        const batch = {
          changes: [{ put: 'missions' as const, value: aMission('a'), expects: 'absent' as const }],
          checks: [{ collection: 'missions' as const, id: 'b', expects: 'absent' as const }],
        }
        await add(aMission('b'))
        await refused(batch)
        await insist(store, { changes: [{ remove: 'missions', id: 'b', expects: await versionOf('b') }] })
        await insist(store, batch)
      })

      test('writes all or nothing: no record, no index entry, no event', async () => {
        await add(aMission('taken'))
        const tail = await store.tail()
        await refused({
          changes: [
            { put: 'missions', value: aMission('new'), expects: 'absent' },
            { put: 'missions', value: aMission('taken'), expects: 'absent' },
          ],
          events: [anEvent()],
        })
        expect(await store.get('missions', 'new')).toBeUndefined()
        expect((await store.events({ after: tail, limit: 10 })).events).toEqual([])
        await shows({ index: 'id' }, ['taken'])
      })

      test('holds every engine to the same bounds', async () => {
        const big = { inline: 'x'.repeat(MAX_RECORD_BYTES) }
        await expect(add(aMission('a', { prompt: big }))).rejects.toThrow(`${MAX_RECORD_BYTES}`)
        await expect(insist(store, { changes: [], events: [anEvent({ data: { big } })] })).rejects.toThrow('event')
        const missions = Array.from({ length: MAX_COMMIT_ITEMS }, (_, n) => aMission(`m${n}`))
        await expect(add(...missions, aMission('one-more'))).rejects.toThrow(`${MAX_COMMIT_ITEMS}`)
        expect(await store.get('missions', 'm0')).toBeUndefined()
        await add(...missions)
        expect(await store.get('missions', 'm89')).toBeDefined()
      })

      test('refuses a record that does not fit its schema, and one named twice', async () => {
        await expect(add({ ...aMission('a'), status: 'dancing' as 'draft' })).rejects.toThrow('status')
        await expect(add({ ...aMission('NOT AN ID') })).rejects.toThrow('an id')
        await expect(add(aMission('a'), aMission('a'))).rejects.toThrow('twice')
        expect(await store.get('missions', 'a')).toBeUndefined()
      })
    })

    describe('events', () => {
      test('come with the commit, in order, by mission and by project', async () => {
        const start = await store.tail()
        await insist(store, {
          changes: [{ put: 'missions', value: aMission('a'), expects: 'absent' }],
          events: [
            anEvent({ mission_id: 'a', project_id: 'p' }),
            anEvent({ mission_id: 'b', project_id: 'p' }),
            anEvent(),
          ],
        })
        const all = await store.events({ after: start, limit: 10 })
        expect(all.events.map(event => event.mission_id)).toEqual(['a', 'b', null])
        expect(all.events[0]).toMatchObject({ kind: 'mission_created', cause: null, data: {} })
        for (const after of [all.cursor, await store.tail(), all.events.at(-1)!.cursor])
          expect(await store.events({ after, limit: 10 })).toMatchObject({ events: [], reset: false })
        const by = async (query: object) =>
          (await store.events({ limit: 10, ...query })).events.map(event => event.mission_id)
        expect(await by({ mission_id: 'b' })).toEqual(['b'])
        expect(await by({ project_id: 'p' })).toEqual(['a', 'b'])
        expect(await by({ project_id: 'other', mission_id: 'a' })).toEqual([])
        expect(await by({ after: all.events[0]!.cursor })).toEqual(['b', null])
      })

      test('are read on from where an answer ended, also an empty one', async () => {
        const empty = await store.events({ limit: 2 })
        expect(empty).toMatchObject({ events: [], reset: false })
        for (const mission_id of ['a', 'b', 'a', 'a'])
          await insist(store, { changes: [], events: [anEvent({ mission_id })] })
        const first = await store.events({ after: empty.cursor, limit: 2, mission_id: 'a' })
        const second = await store.events({ after: first.cursor, limit: 2, mission_id: 'a' })
        expect([first.events.length, second.events.length]).toEqual([2, 1])
        const none = await store.events({ after: second.cursor, limit: 2 })
        expect(none).toMatchObject({ events: [], reset: false })
        expect(await store.events({ after: none.cursor, limit: 2 })).toMatchObject({ events: [], reset: false })
        await expect(store.events({ after: 'x', limit: 2 })).rejects.toThrow('cursor')
        const last = await store.events({ newest: true, limit: 2, mission_id: 'a' })
        expect(last.events).toEqual([first.events[1], second.events[0]])
        expect(await store.events({ after: last.cursor, limit: 2 })).toMatchObject({ events: [], reset: false })
        expect((await store.events({ newest: true, limit: 50, mission_id: 'a' })).events).toHaveLength(3)
        const [, middle, third] = (await store.events({ limit: 50, mission_id: 'a' })).events
        const earlier = await store.events({ newest: true, before: third!.cursor, limit: 1, mission_id: 'a' })
        expect(earlier.events).toEqual([middle])
        expect((await store.events({ before: third!.cursor, limit: 50, mission_id: 'a' })).events).toHaveLength(2)
        await expect(store.events({ before: 'x', limit: 2 })).rejects.toThrow('cursor')
      })

      test('that were dropped give a reset to readers who missed them, and to nobody else', async () => {
        const start = await store.tail()
        for (let n = 0; n < 5; n++) await insist(store, { changes: [], events: [anEvent({ data: { n } })] })
        const { events } = await store.events({ limit: 10 })
        await store.trimEvents(2)
        const numbers = async (after?: string) => {
          const page = await store.events({ after, limit: 10 })
          return { reset: page.reset, numbers: page.events.map(event => event.data.n) }
        }
        expect(await numbers(start)).toEqual({ reset: true, numbers: [3, 4] })
        expect(await numbers(events[1]!.cursor)).toEqual({ reset: true, numbers: [3, 4] })
        expect(await numbers(events[2]!.cursor)).toEqual({ reset: false, numbers: [3, 4] })
        expect(await numbers()).toEqual({ reset: false, numbers: [3, 4] })
        await store.trimEvents(0)
        const tail = await store.tail()
        expect(await numbers()).toEqual({ reset: false, numbers: [4] })
        await insist(store, { changes: [], events: [anEvent({ data: { n: 5 } })] })
        expect(await numbers(tail)).toEqual({ reset: false, numbers: [5] })
      })

      test('of eight writers reach a reader who follows, none missed, none twice, none out of order', async () => {
        const each = 20
        const write = async (writer: number) => {
          for (let n = 0; n < each; n++)
            await insist(store, { changes: [], events: [anEvent({ data: { writer, n } })] })
        }
        let after = await store.tail()
        let writing = true
        const written = Promise.all(Array.from({ length: 8 }, (_, writer) => write(writer))).finally(() => {
          writing = false
        })
        const seen: string[] = []
        for (let more = true; more; ) {
          const last = !writing
          const page = await store.events({ after, limit: 7 })
          expect(page.reset).toBe(false)
          seen.push(...page.events.map(({ data }) => `${data.writer}:${data.n}`))
          after = page.cursor
          more = page.events.length > 0 || !last
          await new Promise(setImmediate)
        }
        await written
        expect(new Set(seen).size).toBe(8 * each)
        for (let writer = 0; writer < 8; writer++)
          expect(seen.filter(event => event.startsWith(`${writer}:`))).toEqual(
            Array.from({ length: each }, (_, n) => `${writer}:${n}`),
          )
        expect((await store.events({ limit: 1000 })).events.map(({ data }) => `${data.writer}:${data.n}`)).toEqual(seen)
      })
    })

    test('watch hints after a commit until it is stopped', async () => {
      const hint = vi.fn()
      const other = vi.fn()
      const stop = store.watch(hint)
      store.watch(other)
      await add(aMission('a'))
      await eventually(() => expect(hint).toHaveBeenCalled())
      stop()
      hint.mockClear()
      other.mockClear()
      await add(aMission('b'))
      await eventually(() => expect(other).toHaveBeenCalled())
      expect(hint).not.toHaveBeenCalled()
    })

    test('watch leads to what find shows, however late', async () => {
      const seen = new Promise<void>(resolve => {
        store.watch(async () => {
          if ((await store.find('missions', { index: 'id', limit: 1 })).items.length) resolve()
        })
      })
      await add(aMission('a'))
      await seen
    })
  })
}

const eventually = (holds: () => void | Promise<void>) => vi.waitFor(holds, { timeout: 10_000, interval: 5 })
const at = (day: number): string => `2026-01-${String(day).padStart(2, '0')}T00:00:00.000Z`
