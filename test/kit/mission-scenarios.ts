import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import type { Agent } from '../../src/agents/index.ts'
import { newId } from '../../src/domain/ids.ts'
import { put } from '../../src/fleet/records.ts'
import { type Model, type Step, steps } from '../model/index.ts'
import { eventually, type TestFleet } from './fleet.ts'
import type { Scene } from './scene.ts'

export const prompt = (...script: Step[]): string => `Do it.\n${steps(...script)}`

/** Whether a process of the session was started with these words. */
const isRunning = (fleet: TestFleet, session: string, words: string): boolean =>
  fleet.processes(session).some(pid => {
    try {
      return readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes(words)
    } catch {
      return false
    }
  })

/** What a mission with any real client must show, through the runner, its files and a real server. */
export function missionScenarios({ can }: Pick<Agent, 'can'>, scene: () => Promise<Scene>, model: () => Model): void {
  test('edits, reports and lands, instructed by fleet, project, mission and dispatch', async () => {
    const { fleet, repo, project } = await scene()
    const said = ['fleet', 'project', 'mission', 'dispatch'].map(who => `The ${who} says: "mind" ünï $HOME ${newId()}`)
    writeFileSync(join(fleet.fleet.home.path, 'instructions.md'), said[0]!)
    await fleet.call('update_project', { project_id: project.id, instructions: said[1] })
    const script = prompt({ write: 'made.txt', content: 'by an agent\n' }, { say: 'I made made.txt.' })
    const { id } = await fleet.mission(project, script, { append_system_prompt: said[2], auto_dispatch: false })
    await fleet.call('dispatch_mission', { mission_id: id, append_system_prompt: said[3] })
    const mission = await fleet.until(id, 'done', 'failed', 'needs_input')

    const asked = JSON.stringify(model().requests.filter(({ body }) => JSON.stringify(body ?? '').includes('made.txt')))
    for (const text of said) expect(asked).toContain(JSON.stringify(text).slice(1, -1))

    const report = { summary: 'I made made.txt.', files_changed: [{ path: 'made.txt', change: 'added' }] }
    expect(mission, JSON.stringify(mission.status_reason)).toMatchObject({ status: 'done', result: 'landed', report })
    expect(mission.sessions[0]).toMatchObject({ outcome: 'completed', exit_code: 0, usage: { turns: 2 } })
    expect(mission.sessions[0]!.usage!.cost_usd > 0).toBe(can.cost === 'money' || can.cost === 'priced')
    expect(await repo.readOn('main', 'made.txt')).toBe('by an agent')
    expect(await repo.git('status', '--porcelain')).toBe('')
  })

  if (can.adopted) survivalScenario(scene)

  test('stops at its limit of turns with the work kept, and goes on in the same conversation with a larger one', async () => {
    const { fleet, repo, project, gate } = await scene()
    const script = prompt(
      { write: 'one.txt', content: '1\n' },
      { run: 'true' },
      { run: gate('third').wait },
      { say: 'Never said.' },
    )
    const { id } = await fleet.mission(project, script, { max_turns: 1 })
    const limited = await fleet.until(id, 'needs_input', 'done', 'failed')
    expect(limited, JSON.stringify(limited.status_reason)).toMatchObject({
      status: 'needs_input',
      status_reason: { code: 'limit' },
    })
    expect(fleet.processes(limited.sessions[0]!.id)).toEqual([])
    expect(await repo.filesOn('main')).not.toContain('one.txt')

    const message = steps({ write: 'two.txt', content: '2\n' }, { say: 'Done now.' })
    await fleet.call('resume_mission', { mission_id: id, max_turns: 20, message })
    const done = await fleet.until(id, 'done', 'failed', 'needs_input')
    expect(done).toMatchObject({ status: 'done', result: 'landed' })
    expect(await repo.filesOn('main')).toEqual(expect.arrayContaining(['one.txt', 'two.txt']))
    expect(done.sessions[1]!.conversation).toBe(done.sessions[0]!.conversation)
  })

  test('cancelled in the middle of a tool, leaves no process and keeps its work', async () => {
    const { fleet, repo, project, gate } = await scene()
    const held = gate('tool')
    const { id } = await fleet.mission(project, prompt({ write: 'half.txt', content: 'half\n' }, { run: held.wait }))
    await eventually('the tool runs', () => held.reached())

    await fleet.call('cancel_mission', { mission_id: id })
    const { sessions, branch } = await fleet.until(id, 'cancelled')
    expect(fleet.processes(sessions[0]!.id)).toEqual([])
    expect(await repo.readOn(branch!, 'half.txt')).toBe('half')
  })

  test('a model that hangs is waited for until the time is up, and no longer', async () => {
    const { fleet, project } = await scene()
    const { id } = await fleet.mission(project, prompt({ hang: true }), { timeout_seconds: 8 })
    const mission = await fleet.until(id, 'needs_input', 'done', 'failed')
    expect(mission).toMatchObject({ status: 'needs_input', status_reason: { code: 'limit' } })
    expect(mission.sessions[0]!.outcome_reason).toContain('time limit of 8 seconds')
    expect(fleet.processes(mission.sessions[0]!.id)).toEqual([])
  })

  if (can.resume) forgottenScenario(scene)
  if (can.interrupt) interruptScenario(scene, {}, can.adopted)

  if (can.approvals) wordsScenario(scene, model)
  if (can.approvals)
    test(`asks a person for what its preset does not allow, and hears the answer${can.adopted ? ' from another server' : ''}`, async () => {
      const { fleet, repo, project } = await scene()
      const script = prompt({ write: 'asked.txt', content: 'x\n' }, { say: 'I may.' })
      const { id } = await fleet.mission(project, script, { tool_preset: 'review', approvals: 'ask' })
      await fleet.until(id, 'needs_input', 'done', 'failed')
      const { questions } = await fleet.call<{ questions: { id: string }[] }>('list_inbox')
      expect(questions).toHaveLength(1)

      if (can.adopted) await fleet.kill()
      await fleet.call('answer_question', { question_id: questions[0]!.id, decision: 'allow' })
      if (can.adopted) await fleet.start()
      expect(await fleet.until(id, 'done', 'failed')).toMatchObject({ status: 'done', result: 'landed' })
      expect(await repo.readOn('main', 'asked.txt')).toBe('x')
    })
}

/** A person's note on a decision is for the model, so the model's own log shows whether it arrived. */
export function wordsScenario(scene: () => Promise<Scene>, model: () => Model): void {
  test.each(['allow', 'deny'] as const)(
    'shows what it asks leave for, and the model hears the words that go with %s',
    async decision => {
      const { fleet, project } = await scene()
      const script = prompt({ write: 'asked.txt', content: `a ${decision}ed line\n` }, { say: 'So be it.' })
      const { id } = await fleet.mission(project, script, {
        ...{ tool_preset: 'review', mission_type: 'review', approvals: 'ask' },
      })
      await fleet.until(id, 'needs_input', 'done', 'failed')
      const { questions } = await fleet.call<{ questions: { id: string; text: string }[] }>('list_inbox')
      expect(questions).toMatchObject([{ text: expect.stringContaining(`a ${decision}ed line`) }])
      expect(questions[0]!.text).toContain('asked.txt')
      const shown = (await fleet.fleetCommand(['inbox'])).stdout
      expect([shown, shown]).toEqual([
        expect.stringContaining('asked.txt'),
        expect.stringContaining(`a ${decision}ed line`),
      ])

      const words = `Mind the gap number ${newId()}.`
      await fleet.call('answer_question', { question_id: questions[0]!.id, decision, text: words })
      const over = await fleet.until(id, 'done', 'failed')
      expect(over, JSON.stringify(over.status_reason)).toMatchObject({ status: 'done' })
      expect(over.sessions).toHaveLength(1)
      const heard = model().requests.filter(({ body }) => JSON.stringify(body ?? '').includes(words))
      expect(heard.length, 'requests of the model with the words in it').toBeGreaterThan(0)
    },
  )
}

export function interruptScenario(scene: () => Promise<Scene>, settings: object = {}, restarts = true): void {
  test(`interrupted in the middle of a tool, waits${restarts ? ', also through a restart,' : ''} and goes on with the answer`, async () => {
    const { fleet, repo, project, gate } = await scene()
    const held = gate('tool')
    const script = prompt({ write: 'one.txt', content: '1\n' }, { run: held.wait }, { say: 'Never said.' })
    const { id } = await fleet.mission(project, script, settings)
    await eventually('the tool runs', () => held.reached())

    const { sessions } = await fleet.show(id)
    expect(isRunning(fleet, sessions[0]!.id, 'tool.open')).toBe(true)
    const asked = await fleet.call<{ id: string; kind: string }>('interrupt_mission', { mission_id: id })
    expect(asked.kind).toBe('interruption')
    expect(await fleet.show(id)).toMatchObject({ status: 'needs_input', status_reason: { code: 'question' } })
    await expect(fleet.call('interrupt_mission', { mission_id: id })).rejects.toThrow(/waits for an answer/)
    await eventually('the tool has stopped', () => !isRunning(fleet, sessions[0]!.id, 'tool.open'))
    if (restarts) {
      await fleet.kill()
      await fleet.start()
    }

    const text = steps({ write: 'two.txt', content: '2\n' }, { say: 'Went on.' })
    await fleet.call('answer_question', { question_id: asked.id, text })
    const mission = await fleet.until(id, 'done', 'failed')
    expect(mission, JSON.stringify(mission.status_reason)).toMatchObject({ status: 'done', result: 'landed' })
    expect(mission.sessions).toHaveLength(1)
    expect(await repo.filesOn('main')).toEqual(expect.arrayContaining(['one.txt', 'two.txt']))
    const stream = await (await fleet.http(`/api/sessions/${mission.sessions[0]!.id}/stream`)).text()
    expect(stream.match(/^event: interrupted$/gm)).toHaveLength(1)
    expect(stream).not.toMatch(/"type":"text","text":"Never said/)
  })
}

function forgottenScenario(scene: () => Promise<Scene>): void {
  test('a conversation that its client does not know any more is gone on with afresh, once, with a hand-over', async () => {
    const { fleet, repo, project } = await scene()
    const script = prompt({ write: 'one.txt', content: '1\n' }, { say: 'I made one.txt.' })
    const { id } = await fleet.mission(project, script, { landing: 'review' })
    const { sessions } = await fleet.until(id, 'review', 'failed', 'needs_input')
    const { store, blobs } = fleet.fleet
    const { value, version } = (await store.get('sessions', sessions[0]!.id))!
    const conversation = value.conversation!.replace(/.{6}$/, end =>
      end.replace(/./g, char => (char === '0' ? '1' : '0')),
    )
    await store.commit({ changes: [put('sessions', { ...value, conversation }, version)] })

    const message = steps({ write: 'two.txt', content: '2\n' }, { say: 'I made two.txt.' })
    await fleet.call('resume_mission', { mission_id: id, message })
    await eventually('it went on', async () => (await fleet.show(id)).sessions.length > 1)
    const mission = await fleet.until(id, 'review', 'failed', 'needs_input')
    expect(mission, JSON.stringify(mission.status_reason)).toMatchObject({ status: 'review', failures: 0 })
    expect(mission.sessions.map(({ outcome }) => outcome)).toEqual(['completed', 'lost', 'completed'])
    expect(mission.sessions[1]!.outcome_reason).toContain('no longer has the conversation')
    const told = await blobs.read((await store.get('sessions', mission.sessions[2]!.id))!.value.prompt!)
    for (const words of ['Do it.', 'I made one.txt.', message]) expect(told).toContain(words)
    expect(await repo.filesOn(mission.branch!)).toEqual(expect.arrayContaining(['one.txt', 'two.txt']))
  })
}

function survivalScenario(scene: () => Promise<Scene>): void {
  test('goes on while the server is dead, is taken up, and lands with no gap in its transcript', async () => {
    const { fleet, repo, project, gate } = await scene()
    const held = gate('turn')
    const script = prompt({ run: held.wait }, { write: 'after.txt', content: 'after\n' }, { say: 'Survived.' })
    const { id } = await fleet.mission(project, script)
    await eventually('the agent is at its tool', () => held.reached())

    await fleet.kill()
    held.open()
    await fleet.start()
    const mission = await fleet.until(id, 'done', 'failed', 'needs_input')

    expect(mission).toMatchObject({ status: 'done', result: 'landed', report: { summary: 'Survived.' } })
    expect(mission.sessions).toHaveLength(1)
    expect(mission.sessions[0]).toMatchObject({ outcome: 'completed', usage: { turns: 3, input_tokens: 300 } })
    expect(await repo.readOn('main', 'after.txt')).toBe('after')
    const stream = await (await fleet.http(`/api/sessions/${mission.sessions[0]!.id}/stream`)).text()
    const kinds = [...stream.matchAll(/^event: (\w+)$/gm)].map(match => match[1])
    expect(kinds.filter(kind => kind === 'tool_call')).toHaveLength(2)
    expect(kinds.filter(kind => kind === 'tool_result')).toHaveLength(2)
    expect(kinds.at(-1)).toBe('end')
  })
}

/** `refusals`: after how many this client gives up. */
export function rateLimitScenario(scene: () => Promise<Scene>, refusals: number): void {
  test('a rate limit holds back the mission for a while, and it goes on by itself in the same conversation', async () => {
    const { fleet, project } = await scene()
    const script = [{ write: 'a.txt', content: 'a\n' }, { say: 'Done.' }]
    const { id } = await fleet.mission(project, prompt({ fail: 429, times: refusals, retryAfter: 0 }, ...script))
    const mission = await fleet.until(id, 'done', 'failed', 'needs_input')
    expect(mission, JSON.stringify(mission.status_reason)).toMatchObject({
      status: 'done',
      result: 'landed',
      failures: 0,
    })
    expect(mission.sessions.map(({ outcome }) => outcome)).toEqual(['rate_limited', 'completed'])
    expect(mission.sessions[1]!.conversation).toBe(mission.sessions[0]!.conversation)
  })
}
