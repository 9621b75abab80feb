import { expect, test } from 'vitest'
import { aMission, aProject, aSession, NOW } from '../../domain/samples.testkit.ts'
import { aFleet } from '../fleet.testkit.ts'
import { sayToMission } from '../questions/messages.ts'
import { answerQuestion, questionId, raiseQuestion } from '../questions/questions.ts'
import { keep, read } from '../records.testkit.ts'
import { talkLeft } from './ending.ts'

test('all that people said and the agent did not hear reaches the next one, however much it is', async () => {
  let seconds = 0
  const fleet = aFleet({ now: () => new Date(Date.parse(NOW) + 1000 * seconds++).toISOString() })
  await keep(fleet, 'projects', aProject({ agent: 'claude' }))
  await keep(fleet, 'missions', aMission({ status: 'running', session_id: 's1', sessions: 1, session_ids: ['s1'] }))
  await keep(fleet, 'sessions', aSession({ agent: 'claude', status: 'running' }))
  const said = Array.from({ length: 25 }, (_, i) => `words ${i}`)
  for (const words of said) await sayToMission(fleet, { operation: 'test', actor: 'a person' }, 'm1', words)
  const { unheard } = await talkLeft(
    fleet,
    await read(fleet, 'missions', 'm1'),
    await read(fleet, 'sessions', 's1'),
    false,
  )
  expect((await fleet.blobs.read(unheard!)).split('\n\n')).toEqual(said)
})

test('an answer waits while another question of a parked agent is open, and goes when none is', async () => {
  const fleet = aFleet({ now: () => NOW })
  await keep(fleet, 'projects', aProject())
  await keep(fleet, 'missions', aMission({ status: 'running', session_id: 's1', session_ids: ['s1'] }))
  await keep(fleet, 'sessions', aSession({ status: 'running' }))
  const session = await read(fleet, 'sessions', 's1')
  for (const id of ['one', 'two']) await raiseQuestion(fleet, session, { type: 'question', id, text: `${id}?` }, 'tool')
  const answer = (id: string, text: string) =>
    answerQuestion(fleet, { operation: 'test', actor: 'a person' }, async () => questionId('s1', id), { text })
  const left = async () => talkLeft(fleet, await read(fleet, 'missions', 'm1'), session, true)
  await answer('one', 'First.')
  expect(await left()).toMatchObject({ unheard: null, changes: [], question: 'two?' })
  await answer('two', 'Second.')
  const { unheard, changes, question } = await left()
  expect([changes.length, question]).toEqual([2, null])
  expect(await fleet.blobs.read(unheard!)).toMatch(
    /They said: First\.[\s\S]*They said: Second\.|They said: Second\.[\s\S]*They said: First\./,
  )
})
