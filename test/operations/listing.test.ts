import { expect, onTestFinished, test } from 'vitest'
import type { Mission } from '../../src/domain/records/mission.ts'
import { MOST_LOOKED_AT } from '../../src/fleet/missions/listing.ts'
import { aRepository } from '../../src/git/testkit.ts'
import { aFleet, type TestFleet } from '../kit/fleet.ts'
import { aFleetWith, aMission, aProject, at } from '../kit/records.ts'

interface Answer {
  missions: Mission[]
  cursor?: string
}
const ids = ({ missions }: Answer): string => missions.map(({ id }) => id).join(' ')

/** All pages of a list, joined. */
async function whole(fleet: TestFleet, filter: object): Promise<{ ids: string; calls: number }> {
  const found: string[] = []
  let cursor: string | undefined
  let calls = 0
  do {
    const page = await fleet.call<Answer>('list_missions', { ...filter, cursor })
    found.push(...page.missions.map(({ id }) => id))
    cursor = page.cursor
    calls++
  } while (cursor)
  return { ids: found.join(' '), calls }
}

test('several statuses come as one list, newest first, and every page goes on where the last one ended', async () => {
  // Made in one commit at the same time, so the time alone does not say where a page ended.
  const together = ['c1', 'c2', 'c3', 'c4'].map(id => aMission(id, 5, { status: id > 'c2' ? 'queued' : 'failed' }))
  const fleet = await aFleetWith([
    aMission('a1', 1, { status: 'failed' }),
    aMission('b1', 2, { status: 'queued' }),
    aMission('b2', 3, { status: 'draft' }),
    ...together,
    aMission('d1', 9, { status: 'failed' }),
  ])
  const all = 'd1 c4 c3 c2 c1 b1 a1'
  expect(ids(await fleet.call('list_missions', { status: ['failed', 'queued'] }))).toBe(all)
  for (const limit of [1, 2, 3]) expect((await whole(fleet, { status: ['failed', 'queued'], limit })).ids).toBe(all)
  expect((await whole(fleet, { status: ['failed', 'queued'], project_id: 'p1', limit: 2 })).ids).toBe(all)
  expect(ids(await fleet.call('list_missions', { status: 'draft' }))).toBe('b2')
  const since = { created_since: at(5) }
  expect(ids(await fleet.call('list_missions', since))).toBe('d1 c4 c3 c2 c1')
  expect(ids(await fleet.call('list_missions', { ...since, status: ['failed', 'queued'], project_id: 'p1' }))).toBe(
    'd1 c4 c3 c2 c1',
  )
  expect(ids(await fleet.call('list_missions', { created_since: at(3), status: ['draft', 'queued'] }))).toBe('c4 c3 b2')
  expect(ids(await fleet.call('list_missions', { created_since: at(10) }))).toBe('')
  await expect(fleet.call('list_missions', { cursor: 'bm9uc2Vuc2U' })).rejects.toThrow(/not a cursor of this list/)
})

test('a text finds titles, the beginning of prompts and first letters of ids, in any case', async () => {
  const fleet = await aFleetWith([
    aMission('abcd1234', 1, { title: 'Old one' }),
    aMission('x2', 2, { title: 'Mend the LOGIN page' }),
    aMission('x3', 3, { prompt: { inline: 'the login is slow' } }),
    aMission('x4', 4, { title: 'another ABCD thing' }),
    aMission('x5', 5),
  ])
  expect(ids(await fleet.call('list_missions', { text: 'Login' }))).toBe('x3 x2')
  expect(ids(await fleet.call('list_missions', { text: 'abcd' }))).toBe('abcd1234 x4')
  expect((await whole(fleet, { text: 'abcd', limit: 1 })).ids).toBe('abcd1234 x4')
  expect(ids(await fleet.call('list_missions', { text: 'nobody says this' }))).toBe('')
})

test('the agent is the one a mission would run with, whoever says so', async () => {
  const projects = [aProject({ id: 'p1', agent: 'codex' }), aProject({ id: 'p2' })]
  const fleet = await aFleetWith(
    [aMission('own', 1, { agent: 'gemini' }), aMission('projects', 2), aMission('fleets', 3, { project_id: 'p2' })],
    projects,
  )
  expect(ids(await fleet.call('list_missions', { agent: 'gemini' }))).toBe('own')
  expect(ids(await fleet.call('list_missions', { agent: 'codex' }))).toBe('projects')
  fleet.fleet.configuration.take({ defaultAgent: 'opencode' })
  expect(ids(await fleet.call('list_missions', { agent: 'opencode' }))).toBe('fleets')
})

test('a batch of ids is answered with those that exist and fit', async () => {
  const fleet = await aFleetWith([aMission('a', 1), aMission('b', 2, { status: 'done' }), aMission('c', 3)])
  expect(ids(await fleet.call('list_missions', { ids: ['a', 'gone', 'c', 'a'] }))).toBe('c a')
  expect(ids(await fleet.call('list_missions', { ids: ['a', 'b'], status: 'done' }))).toBe('b')
})

test('what ended since a time comes by when it ended, and nothing that was taken up again since', async () => {
  const landed = { status: 'done', result: 'landed' } as const
  const fleet = await aFleetWith(
    [
      aMission('early', 1, { ...landed, ended_at: at(10) }),
      aMission('late', 2, { ...landed, ended_at: at(30) }),
      aMission('failed', 3, { status: 'failed', ended_at: at(20) }),
      aMission('undone', 4, { status: 'review', ended_at: at(40) }),
      aMission('other', 5, { ...landed, ended_at: at(25), project_id: 'p2' }),
    ],
    [aProject({ id: 'p1' }), aProject({ id: 'p2' })],
  )
  expect(ids(await fleet.call('list_missions', { order: 'ended' }))).toBe('late other failed early')
  expect((await whole(fleet, { order: 'ended', limit: 1 })).ids).toBe('late other failed early')
  expect(ids(await fleet.call('list_missions', { ended_since: at(20) }))).toBe('late other failed')
  expect(ids(await fleet.call('list_missions', { ended_since: at(20), result: 'landed', project_id: 'p1' }))).toBe(
    'late',
  )
})

test('what no index covers costs a bounded look, and is found by going on', async () => {
  const many = Array.from({ length: MOST_LOOKED_AT + 50 }, (_, n) => aMission(`m${n}`, n + 1))
  const fleet = await aFleetWith([aMission('needle', 0, { title: 'the one in the haystack' }), ...many])
  const first = await fleet.call<Answer>('list_missions', { text: 'haystack' })
  expect(first.missions).toEqual([])
  expect(first.cursor).toBeDefined()
  expect(await whole(fleet, { text: 'haystack' })).toEqual({ ids: 'needle', calls: 2 })
})

test('counts are those of the records, in all and for each project, and only of missions', async () => {
  const fleet = await aFleet()
  onTestFinished(() => fleet.remove())
  const repositories = [await aRepository(), await aRepository()]
  onTestFinished(async () => void (await Promise.all(repositories.map(each => each.remove()))))
  const [one, two] = await Promise.all(repositories.map(({ path }) => fleet.project(path)))
  const make = (project: { id: string }, auto_dispatch: boolean) => fleet.mission(project, 'exit 0', { auto_dispatch })
  const first = await make(one!, true)
  await make(one!, false)
  await make(two!, true)
  await fleet.call('cancel_mission', { mission_id: first.id })
  // An agent's report is an event with a status too.
  await fleet.fleet.store.commit({
    changes: [],
    events: [
      {
        kind: 'reported',
        time: at(0),
        actor: 'fleet',
        project_id: one!.id,
        mission_id: first.id,
        data: { status: 'completed' },
      },
    ],
  })
  expect(await fleet.call('count_missions')).toEqual({
    total: 3,
    counts: { cancelled: 1, draft: 1, queued: 1 },
    projects: { [one!.id]: { cancelled: 1, draft: 1 }, [two!.id]: { queued: 1 } },
  })
  await fleet.call('delete_mission', { mission_id: first.id })
  expect(await fleet.call('count_missions', { project_id: one!.id })).toMatchObject({ total: 1, counts: { draft: 1 } })
})
