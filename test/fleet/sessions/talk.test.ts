import { readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { claudeBinary, HOW_TO_INSTALL } from '../../clients/clients.ts'
import { eventually } from '../../kit/fleet.ts'
import { aScene, type Scene } from '../../kit/scene.ts'
import { type Model, type Step, startModel, steps } from '../../model/index.ts'

const binary = claudeBinary()
if (!binary) console.warn(`Skipped: ${HOW_TO_INSTALL}`)

interface Inbox {
  questions: { id: string; mission_id: string; kind: string; tool: string; text: string }[]
}

describe.skipIf(!binary)('talking with an agent at work', () => {
  let model: Model
  beforeAll(async () => {
    model = await startModel()
  })
  afterAll(() => model.close())

  const scene = (env: Record<string, string> = {}): Promise<Scene> =>
    aScene({
      project: { agent: 'claude' },
      env: {
        PATH: `${dirname(binary!)}:${process.env.PATH}`,
        ANTHROPIC_BASE_URL: model.url,
        ANTHROPIC_API_KEY: 'test-key',
        CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
        ...env,
      },
    })
  const prompt = (...script: Step[]): string => `Do it.\n${steps(...script)}`
  const ASKING = { tool_preset: 'review', approvals: 'ask' }
  const question = ({ fleet }: Scene) =>
    eventually('a question', async () => (await fleet.call<Inbox>('list_inbox')).questions[0])

  test('what a person says reaches it in the middle of its work', async () => {
    const s = await scene()
    const held = s.gate('tool')
    const { id } = await s.fleet.mission(
      s.project,
      prompt({ run: held.wait }, { write: 'a.txt', content: 'a\n' }, { say: 'Done.' }),
    )
    await eventually('the tool runs', () => held.reached())

    const said = await s.fleet.call('say_to_mission', { mission_id: id, text: 'Mind the harbour.' })
    expect(said).toMatchObject({ heard: 'mid-turn' })
    const { session_id } = await s.fleet.show(id)
    const sent = join(s.fleet.fleet.home.session(session_id!), 'agent-1/sent')
    await eventually('it has been sent', () => readFileSync(sent, 'utf8').includes('harbour'))
    held.open()
    const mission = await s.fleet.until(id, 'done', 'failed')

    expect(mission.sessions).toHaveLength(1)
    const kinds = (await s.fleet.events()).map(event => event.kind)
    expect(kinds).toContain('message_arrived')
    // Watchers see the cost while it works.
    expect(kinds.indexOf('usage')).toBeLessThan(kinds.indexOf('session_ended'))
    expect(kinds).toContain('usage')
    expect(model.requests.some(({ body }) => JSON.stringify(body ?? '').includes('Mind the harbour.'))).toBe(true)
  })

  test('an agent without the means, or none at all, is an honest no', async () => {
    const s = await scene()
    const held = s.gate('shell')
    const { id } = await s.fleet.mission(s.project, held.wait, { agent: 'shell' })
    await eventually('it runs', () => held.reached())
    await expect(s.fleet.call('say_to_mission', { mission_id: id, text: 'x' })).rejects.toThrow(
      /cannot receive messages/,
    )
    await expect(s.fleet.call('interrupt_mission', { mission_id: id })).rejects.toThrow(/cannot be interrupted/)
    held.open()
    await s.fleet.until(id, 'failed')
    await expect(s.fleet.call('say_to_mission', { mission_id: id, text: 'x' })).rejects.toThrow(/No agent is at work/)
    await expect(s.fleet.call('interrupt_mission', { mission_id: id })).rejects.toThrow(/No agent is at work/)
  })

  test.each([
    ['allow', true],
    ['deny', false],
  ] as const)('what its preset does not allow is asked for, and a person may %s it', async (decision, written) => {
    const s = await scene()
    const { id } = await s.fleet.mission(
      s.project,
      prompt({ write: 'asked.txt', content: 'yes\n' }, { say: 'Reviewed.' }),
      { ...ASKING, mission_type: 'review' },
    )
    const asked = await question(s)
    expect(asked).toMatchObject({ tool: 'Write', text: expect.stringContaining('asked.txt') })
    expect(await s.fleet.show(id)).toMatchObject({ status: 'needs_input', status_reason: { code: 'question' } })
    await expect(s.fleet.call('resume_mission', { mission_id: id })).rejects.toThrow(/waits for an answer/)

    await s.fleet.call('answer_question', { question_id: id, decision })
    await expect(s.fleet.call('answer_question', { question_id: asked.id, decision: 'allow' })).rejects.toThrow(
      /already answered by person/,
    )
    const mission = await s.fleet.until(id, 'done', 'failed')
    expect(mission).toMatchObject({ status: 'done', result: written ? 'landed' : 'no_changes' })
    expect((await s.repo.filesOn('main')).includes('asked.txt')).toBe(written)
  })

  test('its own question is put to a person with what there is to choose from, and it goes on with the answer', async () => {
    const s = await scene()
    const options = [
      { label: 'Red', description: 'warm' },
      { label: 'Blue', description: 'cold' },
    ]
    const questions = [{ question: 'Which colour?', header: 'Colour', multiSelect: false, options }]
    const { id } = await s.fleet.mission(
      s.project,
      prompt({ tool: 'AskUserQuestion', input: { questions } }, { write: 'c.txt', content: 'c\n' }, { say: 'Done.' }),
      { approvals: 'ask' },
    )
    const asked = await question(s)
    expect(asked).toMatchObject({ kind: 'question', text: 'Which colour?\n- Red: warm\n- Blue: cold' })
    await expect(s.fleet.call('answer_question', { question_id: asked.id })).rejects.toThrow(/words/)

    const answered = await s.fleet.fleetCommand(['answer', asked.id, 'Blue'])
    expect(answered.code, answered.stderr).toBe(0)
    expect(await s.fleet.until(id, 'done', 'failed')).toMatchObject({ status: 'done', result: 'landed' })
    const heard = model.requests.some(({ body }) => JSON.stringify(body).includes('\\"Which colour?\\"=\\"Blue\\"'))
    expect(heard).toBe(true)
  })

  test('a server may die while an agent waits, and the answer still reaches it', async () => {
    const s = await scene()
    const { id } = await s.fleet.mission(
      s.project,
      prompt({ write: 'asked.txt', content: 'yes\n' }, { say: 'Written.' }),
      ASKING,
    )
    const asked = await question(s)
    await s.fleet.kill()
    await s.fleet.call('answer_question', { question_id: asked.id, decision: 'allow' })
    await s.fleet.start()
    const mission = await s.fleet.until(id, 'done', 'failed')
    expect(mission).toMatchObject({ status: 'done', result: 'landed' })
    expect(mission.sessions).toHaveLength(1)
  })

  test('nobody answers in time: the answer that was set is given', async () => {
    const s = await scene()
    const { id } = await s.fleet.mission(
      s.project,
      prompt({ write: 'asked.txt', content: 'yes\n' }, { say: 'Written.' }),
      { ...ASKING, answer_within_seconds: 1, otherwise: 'allow' },
    )
    expect(await s.fleet.until(id, 'done', 'failed')).toMatchObject({ status: 'done', result: 'landed' })
  })

  test('an agent that waits long is put aside, frees its slot, and goes on with the answer', async () => {
    const s = await scene({ FLEET_PARK_AFTER: '1', FLEET_MAX_CONCURRENT: '1' })
    const { id } = await s.fleet.mission(
      s.project,
      prompt({ write: 'asked.txt', content: 'yes\n' }, { say: 'Written.' }),
      ASKING,
    )
    const asked = await question(s)
    await eventually('it is put aside', async () => (await s.fleet.show(id)).sessions[0]?.outcome === 'parked')
    expect(await s.fleet.show(id)).toMatchObject({ status: 'needs_input', status_reason: { code: 'question' } })
    const other = await s.fleet.mission(s.project, 'echo b > b.txt', { agent: 'shell' })
    await s.fleet.until(other.id, 'done')

    for (const words of ['maybe', 'no, do not', 'yes and no']) {
      const refused = await s.fleet.fleetCommand(['answer', asked.id, words])
      expect([refused.code, refused.stderr], words).toEqual([2, expect.stringContaining('say allow or deny')])
      await expect(s.fleet.call('answer_question', { question_id: asked.id, text: words })).rejects.toThrow(
        /permission/,
      )
    }
    expect(await s.fleet.show(id)).toMatchObject({ status: 'needs_input', status_reason: { code: 'question' } })

    await s.fleet.call('answer_question', {
      question_id: asked.id,
      decision: 'No',
      text: steps({ write: 'b2.txt', content: 'b\n' }, { say: 'Otherwise.' }),
    })
    const resumed = await eventually('it asks again', async () => (await s.fleet.show(id)).sessions[1])
    expect(resumed.reason).toBe('resume')
    await s.fleet.call('cancel_mission', { mission_id: id })
    await s.fleet.until(id, 'cancelled')
    expect(s.fleet.processes(resumed.id)).toEqual([])
  })

  test('allowed for the session, it is not asked again: not after it was put aside, nor by another server', async () => {
    const s = await scene({ FLEET_PARK_AFTER: '1' })
    const touch = { run: 'touch made.txt && echo made' }
    const { id } = await s.fleet.mission(s.project, prompt(touch, { say: 'Never said.' }), ASKING)
    const asked = await question(s)
    await eventually('it is put aside', async () => (await s.fleet.show(id)).sessions[0]?.outcome === 'parked')
    await s.fleet.kill()
    await s.fleet.start({ env: { FLEET_PARK_AFTER: '600' } })
    const text = steps(touch, { write: 'other.txt', content: 'x\n' }, touch, { say: 'Done.' })
    await s.fleet.call('answer_question', {
      question_id: asked.id,
      decision: 'allow',
      text: `\n${text}`,
      remember: 'session',
    })
    const other = await question(s)
    expect(other).toMatchObject({ tool: 'Write' })
    await s.fleet.call('answer_question', { question_id: other.id, decision: 'deny' })
    expect(await s.fleet.until(id, 'done', 'failed')).toMatchObject({ status: 'done', result: 'landed' })
    expect(await s.repo.filesOn('main')).toContain('made.txt')
    const by = (
      await s.fleet.call<{ questions: { tool: string; answered_by: string }[] }>('get_mission_notes', {
        mission_id: id,
      })
    ).questions.map(({ tool, answered_by }) => [tool, answered_by.replace(/:.*/, '')])
    expect(by).toEqual([
      ['Bash', 'person'],
      ['Bash', 'rule'],
      ['Write', 'person'],
      ['Bash', 'rule'],
    ])
  })

  test('one that was interrupted and left alone is put aside, and goes on with the answer', async () => {
    const s = await scene({ FLEET_PARK_AFTER: '1' })
    const held = s.gate('tool')
    const { id } = await s.fleet.mission(s.project, prompt({ run: held.wait }, { say: 'Never said.' }))
    await eventually('the tool runs', () => held.reached())
    await s.fleet.call('interrupt_mission', { mission_id: id })
    await eventually('it is put aside', async () => (await s.fleet.show(id)).sessions[0]?.outcome === 'parked')

    const text = steps({ write: 'd.txt', content: 'd\n' }, { say: 'Done.' })
    await s.fleet.call('answer_question', { question_id: id, text: `\n${text}` })
    const mission = await s.fleet.until(id, 'done', 'failed')
    expect(mission).toMatchObject({ status: 'done', result: 'landed' })
    expect(mission.sessions[1]!.conversation).toBe(mission.sessions[0]!.conversation)
  })

  test('cancelling an agent that waits ends it', async () => {
    const s = await scene()
    const { id } = await s.fleet.mission(s.project, prompt({ write: 'asked.txt', content: 'yes\n' }), ASKING)
    const asked = await question(s)
    await s.fleet.call('cancel_mission', { mission_id: id })
    const { sessions } = await s.fleet.until(id, 'cancelled')
    expect(s.fleet.processes(sessions[0]!.id)).toEqual([])
    await expect(s.fleet.call('answer_question', { question_id: asked.id })).rejects.toThrow(/no longer open/)
  })
})
