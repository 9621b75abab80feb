import { expect, test } from 'vitest'
import type { EventKind } from '../domain/records/event.ts'
import { memoryStore } from '../store/index.ts'
import type { Fleet } from './fleet.ts'
import { happenedAfter, happenedBefore } from './history.ts'

const time = '2026-11-15T10:00:00.000Z'

async function aPast(count: number) {
  const store = memoryStore()
  const start = await store.tail()
  const kinds: EventKind[] = ['mission_created', 'dispatched', 'landed']
  for (let n = 0; n < count; n += 50)
    await store.commit({
      changes: [],
      events: Array.from({ length: Math.min(50, count - n) }, (_, i) => ({
        ...{ kind: kinds[(n + i) % 3]!, time, actor: (n + i) % 2 ? 'person' : `session:s${(n + i) % 4}` },
        ...{ mission_id: `m${(n + i) % 5}`, session_id: `s${(n + i) % 4}`, data: { n: n + i } },
      })),
    })
  return { fleet: { store } as unknown as Fleet, start }
}

const numbers = (events: { data: Record<string, unknown> }[]) => events.map(({ data }) => data.n as number)
const upTo = (count: number, is: (n: number) => boolean) => Array.from({ length: count }, (_, n) => n).filter(is)

test.each([
  [{ kinds: ['landed', 'dispatched'] }, (n: number) => n % 3 !== 0],
  [{ mission_id: 'm2' }, (n: number) => n % 5 === 2],
  [{ session_id: 's1', mission_id: 'm1' }, (n: number) => n % 4 === 1 && n % 5 === 1],
  [{ actor: 'session' }, (n: number) => n % 2 === 0],
  [{ actor: 'session:s2', kinds: ['landed'] }, (n: number) => n % 4 === 2 && n % 3 === 2],
  [{}, () => true],
] as const)('what is asked for is found page by page, in both directions: %j', async (wanted, is) => {
  const { fleet, start } = await aPast(1300)
  const should = upTo(1300, is)
  const back: number[] = []
  let page = await happenedBefore(fleet, wanted, { limit: 100 })
  expect(page.cursor).toBe(await fleet.store.tail())
  for (back.unshift(...numbers(page.events)); page.more; back.unshift(...numbers(page.events)))
    page = await happenedBefore(fleet, wanted, { limit: 100, before: page.start })
  expect(back).toEqual(should)
  const on: number[] = []
  for (let after = start, more = true; more; ) {
    const next = await happenedAfter(fleet, wanted, { limit: 100, after })
    on.push(...numbers(next.events))
    after = next.cursor
    more = next.more
  }
  expect(on).toEqual(should)
})

test('one answer goes through so many events and no more, and says where to go on', async () => {
  const { fleet, start } = await aPast(5200)
  const first = await happenedBefore(fleet, { kinds: ['server_started'] }, { limit: 10 })
  expect(first).toMatchObject({ events: [], more: true })
  const second = await happenedBefore(fleet, { kinds: ['server_started'] }, { limit: 10, before: first.start })
  expect(second).toMatchObject({ events: [], more: false })
  const third = await happenedAfter(fleet, { kinds: ['server_started'] }, { limit: 10, after: start })
  expect(third).toMatchObject({ events: [], more: true })
  const rest = await happenedAfter(fleet, {}, { limit: 300, after: third.cursor })
  expect(numbers(rest.events)).toEqual(upTo(5200, n => n >= 5000))
})

test('where nothing happened yet there is nothing to go back to', async () => {
  const { fleet, start } = await aPast(0)
  expect(await happenedBefore(fleet, {}, { limit: 10 })).toEqual({
    ...{ events: [], start: undefined, cursor: start, more: false, reset: false },
  })
})
