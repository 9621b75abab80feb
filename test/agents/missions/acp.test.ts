import { writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { binaryOf, HOW_TO_INSTALL } from '../../clients/clients.ts'
import { eventually, type TestFleet } from '../../kit/fleet.ts'
import { insideScenarios } from '../../kit/inside-scenarios.ts'
import { contextScenario, daysBudgetScenario } from '../../kit/measure-scenarios.ts'
import { interruptScenario } from '../../kit/mission-scenarios.ts'
import { SANDBOX_WORKS } from '../../kit/sandbox.ts'
import { aScene, type Scene } from '../../kit/scene.ts'
import { type Model, type Step, startModel, steps } from '../../model/index.ts'
import { CLAUDE_ACP, GEMINI_ACP } from '../acp-agents.ts'
import { geminiHome } from '../gemini-home.ts'

const claude = binaryOf('claude-agent-acp')
const gemini = binaryOf('gemini')
if (!claude || !gemini) console.warn(`Skipped: ${HOW_TO_INSTALL}`)

const declare = (fleet: TestFleet, declared: unknown) =>
  writeFileSync(join(fleet.fleet.home.path, 'agents.json'), JSON.stringify(declared))

/** Agents that a person declared in the home, run through the runner, its files, its FIFO and a real server. */
describe.skipIf(!claude || !gemini)('a mission for an agent that speaks the Agent Client Protocol', () => {
  let model: Model
  beforeAll(async () => {
    model = await startModel()
  })
  afterAll(() => model.close())

  async function scene(): Promise<Scene> {
    const it = await aScene({
      start: false,
      env: {
        PATH: `${dirname(claude!)}:${dirname(gemini!)}:${process.env.PATH}`,
        ANTHROPIC_BASE_URL: model.url,
        ANTHROPIC_API_KEY: 'test-key',
        CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
        CLAUDE_CODE_MAX_RETRIES: '1',
        GEMINI_API_KEY: 'test-key',
        GOOGLE_GEMINI_BASE_URL: model.url,
      },
    })
    geminiHome(it.fleet.root, model.url)
    declare(it.fleet, { agents: [CLAUDE_ACP, GEMINI_ACP] })
    await it.fleet.start()
    return it
  }
  const prompt = (...script: Step[]): string => `Do it.\n${steps(...script)}`

  insideScenarios((tool, server = 'fleet') => `mcp__${server}__${tool}`, scene, {
    ...{ settings: { agent: CLAUDE_ACP.name }, saysWhatFails: false, takesNames: false },
    waitsForServer: true,
  })

  test.each([CLAUDE_ACP.name, GEMINI_ACP.name])(
    '%s edits, reports and lands, instructed by fleet, project, mission and dispatch',
    async agent => {
      const { fleet, repo, project } = await scene()
      const said = ['fleet', 'project', 'mission', 'dispatch'].map(who => `The ${who} says to ${agent}: mind ünï $HOME`)
      writeFileSync(join(fleet.fleet.home.path, 'instructions.md'), said[0]!)
      await fleet.call('update_project', { project_id: project.id, instructions: said[1] })
      const script = prompt(
        { write: 'made.txt', content: 'by acp\n' },
        { run: 'cp made.txt copy.txt' },
        { say: 'I made two.' },
      )
      const { id } = await fleet.mission(project, script, {
        agent,
        append_system_prompt: said[2],
        auto_dispatch: false,
      })
      await fleet.call('dispatch_mission', { mission_id: id, append_system_prompt: said[3] })
      const mission = await fleet.until(id, 'done', 'failed', 'needs_input')

      expect(mission, JSON.stringify(mission.status_reason)).toMatchObject({
        ...{ status: 'done', result: 'landed', report: { summary: 'I made two.' } },
        sessions: [{ outcome: 'completed', agent, usage: { turns: 3 } }],
      })
      expect(await repo.readOn('main', 'copy.txt')).toBe('by acp')
      const asked = JSON.stringify(model.requests)
      for (const text of said) expect(asked).toContain(text)
    },
  )

  interruptScenario(scene, { agent: CLAUDE_ACP.name })
  contextScenario(scene, { agent: CLAUDE_ACP.name })
  daysBudgetScenario(scene, { agent: CLAUDE_ACP.name })

  test('goes on while the server is dead, is taken up, and lands with no gap in its transcript', async () => {
    const { fleet, repo, project, gate } = await scene()
    const held = gate('turn')
    const script = prompt({ run: held.wait }, { write: 'after.txt', content: 'after\n' }, { say: 'Survived.' })
    const { id } = await fleet.mission(project, script, { agent: CLAUDE_ACP.name })
    await eventually('the agent is at its tool', () => held.reached())

    await fleet.kill()
    held.open()
    await fleet.start()
    const mission = await fleet.until(id, 'done', 'failed', 'needs_input')

    expect(mission).toMatchObject({ status: 'done', result: 'landed', report: { summary: 'Survived.' } })
    expect(mission.sessions).toHaveLength(1)
    expect(await repo.readOn('main', 'after.txt')).toBe('after')
    const stream = await (await fleet.http(`/api/sessions/${mission.sessions[0]!.id}/stream`)).text()
    const kinds = [...stream.matchAll(/^event: (\w+)$/gm)].map(match => match[1])
    expect(kinds.filter(kind => kind === 'tool_result')).toHaveLength(2)
    expect(kinds.at(-1)).toBe('end')
  })

  test('asks a person for what its preset does not allow, and hears the answer from another server', async () => {
    const { fleet, repo, project } = await scene()
    const { id } = await fleet.mission(
      project,
      prompt({ read: 'README.md' }, { write: 'asked.txt', content: 'x\n' }, { say: 'I may.' }),
      {
        ...{ agent: CLAUDE_ACP.name, tool_preset: 'review', approvals: 'ask' },
      },
    )
    await fleet.until(id, 'needs_input', 'done', 'failed')
    const { questions } = await fleet.call<{ questions: { id: string; tool: string }[] }>('list_inbox')
    expect(questions).toMatchObject([{ tool: 'Write' }])

    await fleet.kill()
    await fleet.call('answer_question', { question_id: questions[0]!.id, decision: 'allow' })
    await fleet.start()
    expect(await fleet.until(id, 'done', 'failed')).toMatchObject({ status: 'done', result: 'landed' })
    expect(await repo.readOn('main', 'asked.txt')).toBe('x')
  })

  if (SANDBOX_WORKS)
    test('one that does not ask, under review: nothing is written or removed', async () => {
      const { fleet, project } = await scene()
      const { asks: _, ...silent } = { ...CLAUDE_ACP, folders: ['~/.claude'] }
      declare(fleet, { agents: [silent] })
      const script = prompt(
        { write: 'new.txt', content: 'x' },
        { run: 'rm -f README.md; echo tried' },
        { say: 'I could not.' },
      )
      const { id } = await fleet.mission(project, script, {
        ...{ agent: CLAUDE_ACP.name, tool_preset: 'review', mission_type: 'review' },
      })
      const mission = await fleet.until(id, 'done', 'failed', 'needs_input')
      expect(mission, JSON.stringify(mission.status_reason)).toMatchObject({ status: 'done', result: 'no_changes' })
      expect(mission.report).toMatchObject({ summary: 'I could not.', files_changed: [] })
      const stream = await (await fleet.http(`/api/sessions/${mission.sessions[0]!.id}/stream`)).text()
      expect(stream).toMatch(/EROFS|[Rr]ead-only file system/)
    })

  test('hears between two turns what it was told in the first', async () => {
    const { fleet, repo, project, gate } = await scene()
    const held = gate('turn')
    const { id } = await fleet.mission(project, prompt({ run: held.wait }, { say: 'First.' }), {
      agent: CLAUDE_ACP.name,
    })
    await eventually('the agent is at its tool', () => held.reached())
    const said = await fleet.call('say_to_mission', {
      mission_id: id,
      text: steps({ write: 'second.txt', content: '2\n' }, { say: 'Second.' }),
    })
    expect(said).toMatchObject({ heard: 'next-turn' })

    held.open()
    const mission = await fleet.until(id, 'done', 'failed', 'needs_input')
    expect(mission).toMatchObject({ status: 'done', report: { summary: 'Second.' } })
    expect(mission.sessions).toHaveLength(1)
    expect(await repo.readOn('main', 'second.txt')).toBe('2')
  })

  test('stops at its limit of turns with the work kept, and goes on in the same conversation with a larger one', async () => {
    const { fleet, repo, project } = await scene()
    const script = ['one', 'two', 'three', 'four'].map(name => ({ write: `${name}.txt`, content: `${name}\n` }))
    const { id } = await fleet.mission(project, prompt(...script, { hang: true }), {
      agent: CLAUDE_ACP.name,
      max_turns: 2,
    })
    const limited = await fleet.until(id, 'needs_input', 'done', 'failed')
    expect(limited).toMatchObject({ status: 'needs_input', status_reason: { code: 'limit' } })
    expect(await repo.filesOn('main')).not.toContain('one.txt')

    const message = steps({ write: 'last.txt', content: 'last\n' }, { say: 'Done now.' })
    await fleet.call('resume_mission', { mission_id: id, max_turns: 20, message })
    const done = await fleet.until(id, 'done', 'failed', 'needs_input')
    expect(done, JSON.stringify(done.status_reason)).toMatchObject({ status: 'done', result: 'landed' })
    expect(await repo.filesOn('main')).toEqual(expect.arrayContaining(['one.txt', 'last.txt']))
    expect(done.sessions[1]!.conversation).toBe(done.sessions[0]!.conversation)
  })

  test('a model that hangs is waited for until the time is up, and no longer', async () => {
    const { fleet, project } = await scene()
    const settings = { agent: CLAUDE_ACP.name, timeout_seconds: 8 }
    const { id } = await fleet.mission(project, prompt({ hang: true }), settings)
    const mission = await fleet.until(id, 'needs_input', 'done', 'failed')
    expect(mission).toMatchObject({ status: 'needs_input', status_reason: { code: 'limit' } })
    expect(mission.sessions[0]!.outcome_reason).toContain('time limit of 8 seconds')
    expect(fleet.processes(mission.sessions[0]!.id)).toEqual([])
  })

  test('cancelled in the middle of a tool, leaves no process and keeps its work', async () => {
    const { fleet, repo, project, gate } = await scene()
    const held = gate('tool')
    const script = prompt({ write: 'half.txt', content: 'half\n' }, { run: held.wait })
    const { id } = await fleet.mission(project, script, { agent: GEMINI_ACP.name })
    await eventually('the tool runs', () => held.reached())

    await fleet.call('cancel_mission', { mission_id: id })
    const { sessions, branch } = await fleet.until(id, 'cancelled')
    expect(fleet.processes(sessions[0]!.id)).toEqual([])
    expect(await repo.readOn(branch!, 'half.txt')).toBe('half')
  })
})
