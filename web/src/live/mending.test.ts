import { QueryClient } from '@tanstack/react-query'
import { afterEach, expect, test, vi } from 'vitest'
import type { FleetEvent } from './fleet-events.ts'
import {
  fits,
  type Mission,
  type MissionFilter,
  type MissionPages,
  mended,
  mendMissionLists,
  type News,
} from './mending.ts'

vi.mock('virtual:operations', () => ({ default: { list_missions: 'GET /api/missions' } }))
// There is no browser that could sign a request.
vi.mock('../../../src/server/pages/proof.js', () => ({
  provenFetch: (address: string, options?: RequestInit) => fetch(address, options),
}))
afterEach(() => vi.unstubAllGlobals())

const at = (minute: number): string => `2026-01-01T00:${String(minute).padStart(2, '0')}:00.000Z`
const mission = (id: string, minute: number, rest: Partial<Mission> = {}): Mission =>
  ({
    id,
    project_id: 'p1',
    title: `mission ${id}`,
    detailed_prompt: '',
    status: 'queued',
    tags: [],
    result: null,
    ended_at: null,
    parent_mission_id: null,
    created_at: at(minute),
    ...rest,
  }) as unknown as Mission
const pagesOf = (...pages: Mission[][]): MissionPages => ({
  pages: pages.map((missions, index) => ({ missions, cursor: index < pages.length - 1 ? `${index}` : undefined })),
  pageParams: pages.map(() => undefined),
})
const idsIn = ({ pages }: MissionPages): string[][] => pages.map(page => page.missions.map(({ id }) => id))
const news = (fresh: Mission[], gone: string[] = [], isOf: News['isOf'] = () => false): News => ({
  fresh: new Map(fresh.map(each => [each.id, each])),
  gone: new Set(gone),
  isOf,
})

test('a mission is put in, taken out and put elsewhere without the list being read again', () => {
  const before = pagesOf([mission('d', 40), mission('c', 30)], [mission('b', 20), mission('a', 10)])
  const after = mended(
    before,
    { status: 'queued' },
    news([mission('c', 30, { status: 'running' }), mission('b', 20, { title: 'new words' }), mission('e', 50)], ['a']),
  )
  expect(idsIn(after)).toEqual([['e', 'd'], ['b']])
  expect(after.pages[1]!.missions[0]!.title).toBe('new words')
})

test('one that comes back into the middle stands where its time says, in the page that holds that time', () => {
  const before = pagesOf([mission('e', 50), mission('d', 40)], [mission('b', 20), mission('a', 10)])
  expect(idsIn(mended(before, {}, news([mission('c', 30)])))).toEqual([
    ['e', 'd'],
    ['c', 'b', 'a'],
  ])
})

test('one that is older than all that was read waits for its page', () => {
  const before = pagesOf([mission('e', 50), mission('d', 40)])
  before.pages[0]!.cursor = 'more'
  expect(idsIn(mended(before, {}, news([mission('c', 30)])))).toEqual([['e', 'd']])
  expect(idsIn(mended(before, {}, news([mission('f', 60)])))).toEqual([['f', 'e', 'd']])
})

test('pages that nothing happened to stay the same, so that nothing is drawn again', () => {
  const before = pagesOf([mission('d', 40)], [mission('a', 10)])
  const after = mended(before, {}, news([mission('d', 40, { title: 'other' })]))
  expect(after.pages[0]).not.toBe(before.pages[0])
  expect(after.pages[1]).toBe(before.pages[1])
})

test('a list by end takes only what is over, and one that ended again comes first', () => {
  const ended = (id: string, minute: number, end: number) =>
    mission(id, minute, { status: 'done', result: 'landed', ended_at: at(end) })
  const filter: MissionFilter = { status: 'done', order: 'ended' }
  const before = pagesOf([ended('a', 1, 30), ended('c', 3, 20), ended('b', 2, 10)])
  expect(idsIn(mended(before, filter, news([ended('b', 2, 40)])))).toEqual([['b', 'a', 'c']])
  expect(idsIn(mended(before, filter, news([mission('b', 2, { ended_at: at(40), status: 'review' })])))).toEqual([
    ['a', 'c'],
  ])
})

test('the page asks the same question as the server', () => {
  const of: Pick<News, 'isOf'> = { isOf: (_, agent) => agent === 'claude' }
  const one = mission('abcdef123456', 1, { title: 'Write the Docs', detailed_prompt: 'all of them', tags: ['docs'] })
  expect(fits(one, { text: 'the docs' }, of)).toBe(true)
  expect(fits(one, { text: 'ALL of' }, of)).toBe(true)
  expect(fits(one, { text: 'abcd' }, of)).toBe(true)
  // Too short for the beginning of an id.
  expect(fits(one, { text: 'abc' }, of)).toBe(false)
  expect(fits(one, { tag: 'docs', agent: 'claude', project_id: 'p1' }, of)).toBe(true)
  expect(fits(one, { agent: 'codex' }, of)).toBe(false)
  expect(fits(one, { ids: ['other'] }, of)).toBe(false)
  expect(fits(one, { result: 'landed' }, of)).toBe(false)
  expect(fits(one, { ended_since: at(0) }, of)).toBe(false)
})

test('a page that was still loading does not overwrite a newer state', async () => {
  const client = new QueryClient()
  const filter: MissionFilter = { status: 'queued' }
  let arrive = (_: unknown) => {}
  const reading = client.fetchInfiniteQuery({
    queryKey: ['list_missions', filter],
    queryFn: () => new Promise(resolve => (arrive = resolve)),
    initialPageParam: undefined,
    getNextPageParam: () => undefined,
  })
  const asked: string[] = []
  vi.stubGlobal('fetch', async (address: string) => {
    asked.push(address)
    return Response.json({ missions: [mission('a', 10, { status: 'running' })] })
  })
  const event = { kind: 'session_starting', mission_id: 'a' } as FleetEvent
  const mending = mendMissionLists(client, [event, { kind: 'usage', mission_id: 'b' } as FleetEvent])
  await vi.waitFor(() => expect(asked).toHaveLength(1))
  expect(asked[0]).toContain('ids=a')
  expect(asked[0]).not.toContain('ids=b')
  // The page was read before the mission started to run.
  arrive({ missions: [mission('a', 10)] })
  await Promise.all([reading, mending])
  expect(idsIn(client.getQueryData<MissionPages>(['list_missions', filter])!)).toEqual([[]])
})
