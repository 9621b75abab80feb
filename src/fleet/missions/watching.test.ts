import { expect, test } from 'vitest'
import { Question } from '../../domain/records/talk.ts'
import { Delivery, Team } from '../../domain/records/team.ts'
import { aMission, NOW } from '../../domain/samples.testkit.ts'
import { personId } from '../teams/teams.ts'
import { aBench } from '../workshop.testkit.ts'
import { awaitMission } from './await.ts'
import { graphOf } from './graph.ts'
import { countOf, waitingForPerson } from './waiting.ts'

const aQuestion = (id: string, mission_id: string): Question =>
  Question.parse({
    ...{ id, mission_id, project_id: 'p1', session_id: 's1', kind: 'question', asked_as: id, tool: null },
    ...{ text: { inline: 'Which?' }, status: 'open', answer: null, answered_by: null },
    ...{ deadline: null, otherwise: 'deny', created_at: NOW, answered_at: null },
  })

test('what waits for a person is counted once: a mission that asks is its question', async () => {
  const { fleet, save } = aBench()
  await save('missions', aMission({ id: 'm1', status: 'review' }), aMission({ id: 'm2', status: 'needs_input' }))
  await save('missions', aMission({ id: 'm3', status: 'needs_input', asking: true }), aMission({ id: 'm4' }))
  await save('questions', aQuestion('q1', 'm3'))
  const waiting = await waitingForPerson(fleet, 'person')
  expect(waiting.missions.map(({ id }) => id).toSorted()).toEqual(['m1', 'm2'])
  expect(countOf(waiting)).toBe(3)
})

test('mail waits for the person it is to; mail that is held back waits for everybody', async () => {
  const { fleet, save } = aBench()
  const times = { created_at: NOW, updated_at: NOW }
  await save('teams', Team.parse({ id: 't1', project_id: 'p1', name: 'crew', ...times }))
  const mail = (id: string, to: string, delivery: object = {}) => {
    const of = { team_id: 't1', project_id: 'p1', order: 1, created_at: NOW }
    const waiting = { mail_id: id, from: 'ada', state: 'queued', needs: 'none', wakes: false }
    return save('deliveries', Delivery.parse({ id: `d-${id}`, member_id: to, ...waiting, ...delivery, ...of }))
  }
  await mail('unread', personId('t1', 'person'))
  await mail('read', personId('t1', 'person'), { state: 'heard' })
  await mail('asked', personId('t1', 'person'), { state: 'heard', needs: 'reply' })
  await mail('other', personId('t1', 'person:grace'))
  await mail('between', 'bob')
  await mail('held', 'bob', { held: 'Too many' })
  const idsFor = async (actor: string) =>
    (await waitingForPerson(fleet, actor)).mail.map(({ delivery }) => delivery.mail_id)
  expect((await idsFor('person')).toSorted()).toEqual(['asked', 'held', 'unread'])
  expect((await idsFor('person:grace')).toSorted()).toEqual(['held', 'other'])
  expect(countOf(await waitingForPerson(fleet, 'person'))).toBe(3)
})

test('failures are news for three days, and wait for nobody', async () => {
  const { fleet, save } = aBench()
  const ended = (id: string, ended_at: string) => aMission({ id, status: 'failed', ended_at })
  await save('missions', ended('new', '2026-11-13T10:00:00.000Z'), ended('old', '2026-11-12T09:59:59.000Z'))
  const waiting = await waitingForPerson(fleet, 'person')
  expect([waiting.failures.map(({ id }) => id), countOf(waiting)]).toEqual([['new'], 0])
})

const forAMoment = (settled: (status: string) => boolean) => ({
  ...{ seconds: 5, tell: () => {}, signal: new AbortController().signal },
  settled: async ({ status }: { status: string }) => settled(status),
})

test('a caller that waits is woken by the commit that settles the mission', async () => {
  const { fleet, save, change } = aBench()
  await save('missions', aMission({ status: 'running' }))
  const seen: string[] = []
  const tell = ({ status }: { status: string }) => void seen.push(status)
  const waiting = awaitMission(fleet, 'm1', { ...forAMoment(status => status === 'done'), tell })
  await change('missions', 'm1', { priority: 1 })
  await change('missions', 'm1', { status: 'done' })
  expect((await waiting).status).toBe('done')
  expect(new Set(seen)).toEqual(new Set(['running']))
})

test('a caller that waits for a mission learns that it was deleted', async () => {
  const { fleet, save } = aBench()
  await save('missions', aMission({ status: 'running' }))
  const waiting = expect(
    awaitMission(
      fleet,
      'm1',
      forAMoment(() => false),
    ),
  ).rejects.toThrow('There is no mission "m1".')
  const { version } = (await fleet.store.get('missions', 'm1'))!
  await fleet.store.commit({ changes: [{ remove: 'missions', id: 'm1', expects: version }] })
  await waiting
})

test('a time that is up gives the mission as it is', async () => {
  const { fleet, save } = aBench()
  await save('missions', aMission({ status: 'running' }))
  const last = await awaitMission(fleet, 'm1', { ...forAMoment(() => false), seconds: 0 })
  expect(last.status).toBe('running')
})

test('a graph of a project has what is unfinished and its next links; one of a mission has all links', async () => {
  const { fleet, save } = aBench()
  await save(
    'missions',
    aMission({ id: 'a', status: 'done' }),
    aMission({ id: 'b', status: 'done', depends_on: ['a'] }),
  )
  await save('missions', aMission({ id: 'c', status: 'queued', depends_on: ['b'] }))
  await save('missions', aMission({ id: 'd', status: 'draft', parent_mission_id: 'c' }))
  await save('missions', aMission({ id: 'e', status: 'cancelled', depends_on: ['c'] }))
  const seen = async (scope: Parameters<typeof graphOf>[1], limit = 10) => {
    const { missions, edges, more } = await graphOf(fleet, scope, limit)
    return {
      ids: missions
        .map(({ id }) => id)
        .toSorted()
        .join(''),
      edges: edges.length,
      more,
    }
  }
  expect(await seen({ of: 'project', id: 'p1' })).toEqual({ ids: 'bcd', edges: 2, more: false })
  expect(await seen({ of: 'mission', id: 'd' })).toEqual({ ids: 'abcde', edges: 4, more: false })
  expect(await seen({ of: 'mission', id: 'd' }, 2)).toEqual({ ids: 'cd', edges: 1, more: true })
})
