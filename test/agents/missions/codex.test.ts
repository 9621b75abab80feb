import { existsSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { codex } from '../../../src/agents/codex/adapter.ts'
import { binaryOf, HOW_TO_INSTALL } from '../../clients/clients.ts'
import { eventually } from '../../kit/fleet.ts'
import { insideScenarios } from '../../kit/inside-scenarios.ts'
import { budgetScenario, contextScenario, daysBudgetScenario } from '../../kit/measure-scenarios.ts'
import { missionScenarios, prompt, rateLimitScenario } from '../../kit/mission-scenarios.ts'
import { aScene, type Scene } from '../../kit/scene.ts'
import { type Model, startModel, steps } from '../../model/index.ts'
import { aCodexHome } from '../codex-home.ts'

const binary = binaryOf('codex')
if (!binary) console.warn(`Skipped: ${HOW_TO_INSTALL}`)

/** The real client as the agent of a mission: through the runner, its files, its FIFO and a real server. */
describe.skipIf(!binary)('a mission for the real Codex client', () => {
  let model: Model
  let home: string
  beforeAll(async () => {
    model = await startModel()
    home = aCodexHome(model.url)
  })
  afterAll(async () => {
    await model.close()
    await rm(home, { recursive: true, force: true, maxRetries: 5 })
  })

  const scene = (): Promise<Scene> =>
    aScene({
      project: { agent: 'codex' },
      env: { PATH: `${dirname(binary!)}:${process.env.PATH}`, CODEX_HOME: home, OPENAI_API_KEY: 'test-key' },
    })
  missionScenarios(codex, scene, () => model)
  rateLimitScenario(scene, 3)

  test('its own question is put to a person, and it goes on with the answer', async () => {
    const { fleet, project } = await scene()
    const options = ['Red', 'Blue'].map(label => ({ label, description: label.toLowerCase() }))
    const questions = [{ id: 'colour', header: 'Colour', question: 'Which colour?', options }]
    const script = [
      { tool: 'request_user_input', input: { questions } },
      { write: 'c.txt', content: 'c\n' },
    ]
    const { id } = await fleet.mission(project, `Do it.\n${steps(...script, { say: 'Done.' })}`, { approvals: 'ask' })
    await fleet.until(id, 'needs_input', 'done', 'failed')
    const inbox = await fleet.call<{ questions: { kind: string; text: string }[] }>('list_inbox')
    expect(inbox.questions).toMatchObject([{ kind: 'question', text: 'Which colour?\n- Red: red\n- Blue: blue' }])

    await fleet.call('answer_question', { question_id: id, text: 'Blue' })
    expect(await fleet.until(id, 'done', 'failed')).toMatchObject({ status: 'done', result: 'landed' })
    expect(model.requests.some(({ body }) => JSON.stringify(body ?? '').includes('[\\"Blue\\"]'))).toBe(true)
  })
  contextScenario(scene)
  budgetScenario(scene)
  daysBudgetScenario(scene)
  insideScenarios((tool, server = 'fleet') => `mcp__${server}__${tool}`, scene)

  test('what it gives to a sub-mission it may no longer spend, while it works', async () => {
    const { fleet, project, gate } = await scene()
    const part = { title: 'part', detailed_prompt: gate('part').wait, agent: 'shell', max_budget_usd: 49.99 }
    const script = prompt(
      { tool: 'mcp__fleet__create_sub_mission', input: part },
      { run: 'true', tokens: { input: 100_000 } },
      { run: gate('dear').wait },
    )
    const { id } = await fleet.mission(project, script, { max_budget_usd: 50 })
    const limited = await fleet.until(id, 'needs_input', 'done', 'failed')
    expect(limited).toMatchObject({ status: 'needs_input', status_reason: { code: 'limit' } })
    expect(limited.status_reason!.text).toMatch(/budget.*\$[\d.]+ spent/)
    expect(limited.sessions[0]!.usage!.cost_usd).toBeLessThan(50)
    expect(limited.children).toMatchObject([{ max_budget_usd: 49.99 }])
  })

  test('is resumed in the same conversation', async () => {
    const { fleet, repo, project } = await scene()
    const { id } = await fleet.mission(project, prompt({ fail: 500 }), { max_retries: 0 })
    const failed = await fleet.until(id, 'failed')
    const message = steps({ write: 'later.txt', content: 'later\n' }, { say: 'Done now.' })
    await fleet.call('resume_mission', { mission_id: id, message })
    const done = await fleet.until(id, 'done', 'failed', 'needs_input')
    expect(done).toMatchObject({ status: 'done', result: 'landed' })
    expect(done.sessions[0]!.conversation).toBeTruthy()
    expect(done.sessions.at(-1)!.conversation).toBe(failed.sessions.at(-1)!.conversation)
    expect(await repo.filesOn('main')).toContain('later.txt')
  })

  test('under review it reads and reports, and changes nothing', async () => {
    const { fleet, repo, project } = await scene()
    const script = prompt({ run: 'git log --oneline' }, { run: 'touch made.txt' }, { say: 'It is fine.' })
    const { id } = await fleet.mission(project, script, { tool_preset: 'review', mission_type: 'review' })
    const mission = await fleet.until(id, 'done', 'failed', 'needs_input')
    expect(mission).toMatchObject({ status: 'done', result: 'no_changes' })
    expect(existsSync(join(repo.path, 'made.txt'))).toBe(false)
  })

  test('tells how much of the window of its provider is used; from the limit on nothing new of it starts', async () => {
    const { fleet, project } = await scene()
    const resets = Math.floor(Date.now() / 1000) + 3600
    const headers = {
      'x-codex-primary-used-percent': '97',
      'x-codex-primary-window-minutes': '300',
      'x-codex-primary-reset-at': String(resets),
    }
    const script = prompt({ write: 'a.txt', content: 'a\n', headers }, { say: 'Done.', headers })
    const first = await fleet.mission(project, script)
    await fleet.until(first.id, 'done', 'failed')
    const second = await fleet.mission(project, script)
    const waits = await eventually('it waits', async () => (await fleet.show(second.id)).waits_for[0])
    expect(waits).toMatchObject({ kind: 'provider_window', until: new Date(resets * 1000).toISOString() })
    expect(waits.text).toContain('97 % of the window codex primary of openai')
    const other = await fleet.mission(project, 'echo b >b.txt', { agent: 'shell' })
    expect(await fleet.until(other.id, 'done', 'failed')).toMatchObject({ status: 'done' })
  })
})
