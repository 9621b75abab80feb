import { setTimeout as passed } from 'node:timers/promises'
import { expect, test } from 'vitest'
import type { Question } from '../../domain/records/talk.ts'
import { aMission, aProject, aSession } from '../../domain/samples.testkit.ts'
import type { Stored } from '../../store/index.ts'
import { aFleet } from '../fleet.testkit.ts'
import { put } from '../records.ts'
import { askHuman } from './ask-human.ts'
import { answerQuestion } from './questions.ts'

const patience = { seconds: 10, signal: new AbortController().signal }

async function askedOf() {
  const fleet = aFleet()
  await fleet.store.commit({
    changes: [
      put('projects', aProject(), 'absent'),
      put('missions', aMission({ status: 'running', session_id: 's1' }), 'absent'),
      put('sessions', aSession(), 'absent'),
    ],
  })
  const reads: string[] = []
  const { get, find } = fleet.store
  fleet.store.get = (collection, id) => {
    reads.push(`get ${collection}`)
    return get.call(fleet.store, collection, id) as never
  }
  fleet.store.find = (collection, query) => {
    reads.push(`find ${collection}`)
    return find.call(fleet.store, collection, query) as never
  }
  const question = async () => {
    const { items } = await find.call(fleet.store, 'questions', { index: 'open', limit: 1 })
    return items[0] as Stored<Question> | undefined
  }
  return { fleet, reads, question }
}

test('an answer reaches the asker at once, and nothing is read while nothing is committed', async () => {
  const { fleet, reads, question } = await askedOf()
  const asked = askHuman(fleet, 's1', 'Which?', patience)
  await expect.poll(question).toBeDefined()
  // By then, everything that the question itself set off was read.
  await expect.poll(() => reads.at(-1)).toBe('get questions')
  await passed(50)
  reads.length = 0
  await passed(600)
  expect(reads).toEqual([])

  const { id } = (await question())!.value
  await answerQuestion(fleet, { operation: 'answer_question', actor: 'person' }, async () => id, { text: 'This.' })
  const answered = performance.now()
  expect(await asked).toBe('This.')
  expect(performance.now() - answered).toBeLessThan(50)
})

test('a caller that goes away, or whose time is up, learns that nobody has answered', async () => {
  const { fleet } = await askedOf()
  expect(await askHuman(fleet, 's1', 'Which?', { ...patience, seconds: 0 })).toBeNull()
  const gone = new AbortController()
  const asked = askHuman(fleet, 's1', 'Which?', { seconds: 10, signal: gone.signal })
  await passed(20)
  gone.abort()
  expect(await asked).toBeNull()
})

test('a question that was withdrawn has no answer', async () => {
  const { fleet, question } = await askedOf()
  const asked = askHuman(fleet, 's1', 'Which?', patience)
  await expect.poll(question).toBeDefined()
  const { value, version } = (await question())!
  await fleet.store.commit({ changes: [put('questions', { ...value, status: 'withdrawn' }, version)] })
  expect(await asked).toBeNull()
})
