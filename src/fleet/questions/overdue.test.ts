import { expect, test } from 'vitest'
import { Question } from '../../domain/records/talk.ts'
import { aMission } from '../../domain/samples.testkit.ts'
import { memoryStore, type Store } from '../../store/index.ts'
import type { Fleet } from '../fleet.ts'
import { aDesk } from '../reactor.testkit.ts'
import type { Desk } from '../reactor.ts'
import { put } from '../records.ts'
import { Questions } from './reactor.ts'

const now = '2026-11-15T12:00:00.000Z'
const before = '2026-11-15T11:00:00.000Z'

const aQuestion = (id: string): Question =>
  Question.parse({
    ...{ id, mission_id: `m-${id}`, project_id: 'p', session_id: `s-${id}`, kind: 'question', asked_as: id },
    ...{ tool: null, text: { inline: 'Which?' }, status: 'open', answer: null, answered_by: null },
    ...{ deadline: before, otherwise: 'deny', created_at: before, answered_at: null },
  })

/** A fleet in whose store a person answers right after the questions were listed. */
async function answeredMeanwhile(id: string): Promise<Fleet> {
  const store = memoryStore()
  for (const each of ['q1', 'q2', 'q3'])
    await store.commit({
      changes: [
        put('missions', aMission({ id: `m-${each}`, status: 'running' }), 'absent'),
        put('questions', aQuestion(each), 'absent'),
      ],
    })
  const find: Store['find'] = async (collection, query) => {
    const page = await store.find(collection, query)
    const question = collection === 'questions' && query.index === 'open' && (await store.get('questions', id))
    if (question && question.value.status === 'open')
      await store.commit({
        changes: [
          put('questions', { ...question.value, status: 'answered', answered_by: 'a person' }, question.version),
        ],
      })
    return page
  }
  const seen = { ...store, find, get: store.get.bind(store), commit: store.commit.bind(store) }
  return {
    store: seen,
    now: () => now,
    settings: { parkAfter: 60 },
    commit: (_: string, batch: Parameters<Store['commit']>[0]) => store.commit(batch),
  } as unknown as Fleet
}

test('a question that a person answers in the moment its time is up keeps their answer, and keeps no other waiting', async () => {
  const fleet = await answeredMeanwhile('q2')
  await new Questions(fleet, aDesk(), () => {}).tick()
  const answers = await Promise.all(['q1', 'q2', 'q3'].map(id => fleet.store.get('questions', id)))
  expect(answers.map(each => [each!.value.status, each!.value.answered_by])).toEqual([
    ['answered', 'fleet'],
    ['answered', 'a person'],
    ['answered', 'fleet'],
  ])
})

test('a question that cannot be answered keeps no other waiting, and is a fault of its own', async () => {
  const fleet = await answeredMeanwhile('none')
  const { get } = fleet.store
  fleet.store.get = ((collection: 'questions', id: string) =>
    id === 'q1' ? Promise.reject(new Error('damaged')) : get(collection, id)) as Store['get']
  const faults: string[] = []
  const attempt: Desk['attempt'] = (ref, work) => work().catch(() => void faults.push(ref))
  await new Questions(fleet, { ...aDesk(), attempt }, () => {}).tick()
  expect(faults).toEqual(['questions/q1'])
  for (const id of ['q2', 'q3']) expect((await get('questions', id))?.value.status).toBe('answered')
})
