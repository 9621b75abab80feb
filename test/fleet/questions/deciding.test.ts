import { expect, test } from 'vitest'
import { aClientThatAsks } from '../../kit/asking.ts'
import { aScene, type Scene } from '../../kit/scene.ts'

const ALLOW = ['yes', 'Y', ' Allow ', 'APPROVE']
const DENY = ['no', 'N', ' Deny ', 'reject']
const NEITHER = ['maybe', 'no, do not', 'yes, but not that', 'do not allow', 'YESNO', '1', 'да', ' ']

type Way = (scene: Scene, question: string, words: string) => Promise<{ taken: boolean; said: string }>

const rest =
  (body: (words: string) => object): Way =>
  async ({ fleet }, question, words) => {
    const answer = await fleet.http(`/api/questions/${question}/answer`, {
      method: 'POST',
      body: JSON.stringify(body(words)),
    })
    if (!answer.ok) expect(answer.status).toBe(400)
    return { taken: answer.ok, said: await answer.text() }
  }
const terminal =
  (...more: string[]): Way =>
  async ({ fleet }, question, words) => {
    const { code, stdout, stderr } = await fleet.fleetCommand(['answer', question, words, ...more])
    return { taken: code === 0, said: stdout + stderr }
  }

const WAYS: Record<string, Way> = {
  'the field decision over REST': rest(decision => ({ decision })),
  'the field decision with a note over REST': rest(decision => ({ decision, text: 'yes' })),
  'fleet answer': terminal(),
  'fleet answer with a note': terminal('allow'),
  'fleet call': async ({ fleet }, question_id, decision) => {
    const input = JSON.stringify({ question_id, decision })
    const { code, stdout, stderr } = await fleet.fleetCommand(['call', 'answer_question', input])
    return { taken: code === 0, said: stdout + stderr }
  },
}

test.each(Object.entries(WAYS))('%s: only a word for it decides about a permission', async (_, way) => {
  const scene = await aScene()
  const agent = await aClientThatAsks(scene)
  for (const [words, decision] of [
    ...ALLOW.map(word => [word, 'allow'] as const),
    ...DENY.map(word => [word, 'deny'] as const),
  ]) {
    const id = await agent.asksLeave()
    expect(await way(scene, id, words), words).toMatchObject({ taken: true })
    expect(await agent.stands(id), words).toMatchObject({ status: 'answered', answer: { decision } })
  }
  const id = await agent.asksLeave()
  for (const words of NEITHER) {
    const { taken, said } = await way(scene, id, words)
    expect([taken, said], words).toEqual([false, expect.stringMatching(/allow.*deny/s)])
    expect(await agent.stands(id), words).toMatchObject({ status: 'open', answer: null })
  }
  agent.open()
})

test('words without a decision decide nothing, whatever they say', async () => {
  const scene = await aScene()
  const agent = await aClientThatAsks(scene)
  const id = await agent.asksLeave()
  const bodies = [{}, { text: '' }, ...[...ALLOW, ...DENY, ...NEITHER].map(text => ({ text }))]
  for (const body of [...bodies, { decision: '' }, { decision: null }, { decision: true }]) {
    const { taken } = await rest(() => body)(scene, id, '')
    expect([taken, (await agent.stands(id)).status], JSON.stringify(body)).toEqual([false, 'open'])
  }
  expect((await agent.ask('answer_question', { question_id: id, decision: 'allow' })).status).toBe(403)
  expect((await agent.stands(id)).status).toBe('open')
  agent.open()
})

test('where words are asked for, words for a decision are words, and silence is no answer', async () => {
  const scene = await aScene()
  const agent = await aClientThatAsks(scene)
  for (const words of ['no', 'Yes', 'deny', 'tabs', 'no, do not']) {
    const id = await agent.asksWords(words)
    expect(await terminal()(scene, id, words)).toMatchObject({ taken: true })
    expect(await agent.stands(id)).toMatchObject({ answer: { decision: 'allow', text: words } })
  }
  const id = await agent.asksWords('nothing')
  for (const body of [{}, { text: ' ' }, { decision: 'allow' }, { decision: 'maybe', text: 'tabs' }])
    expect(await rest(() => body)(scene, id, ''), JSON.stringify(body)).toMatchObject({ taken: false })
  expect(await agent.stands(id)).toMatchObject({ status: 'open' })
  agent.open()
})

test('a permission that is no longer asked is not decided any more', async () => {
  const scene = await aScene()
  const { fleet } = scene
  const agent = await aClientThatAsks(scene)
  const id = await agent.asksLeave()
  await fleet.call('cancel_mission', { mission_id: agent.id })
  await fleet.until(agent.id, 'cancelled')
  for (const words of [...ALLOW, ...NEITHER])
    expect(await terminal()(scene, id, words), words).toMatchObject({ taken: false })
  expect(await agent.stands(id)).toMatchObject({ status: 'withdrawn', answer: null })
})
