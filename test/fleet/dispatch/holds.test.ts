import { dirname } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { claudeBinary, HOW_TO_INSTALL } from '../../clients/clients.ts'
import { eventually } from '../../kit/fleet.ts'
import { aScene, type Scene } from '../../kit/scene.ts'
import { type Model, startModel, steps } from '../../model/index.ts'

const binary = claudeBinary()
if (!binary) console.warn(`Skipped: ${HOW_TO_INSTALL}`)

describe.skipIf(!binary)('what holds an agent back', () => {
  let model: Model
  beforeAll(async () => {
    model = await startModel()
  })
  afterAll(() => model.close())

  const scene = (env: Record<string, string> = {}, project: object = {}): Promise<Scene> =>
    aScene({
      project: { agent: 'claude', ...project },
      env: {
        PATH: `${dirname(binary!)}:${process.env.PATH}`,
        ANTHROPIC_BASE_URL: model.url,
        ANTHROPIC_API_KEY: 'test-key',
        CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
        CLAUDE_CODE_MAX_RETRIES: '0',
        ...env,
      },
    })
  const waiting = ({ fleet }: Scene, id: string, kind: string) =>
    eventually(`${id} waits for ${kind}`, async () =>
      (await fleet.show(id)).waits_for.find(reason => reason.kind === kind),
    )

  test('a rate limit holds back that provider only, and the mission goes on by itself', async () => {
    const s = await scene()
    // Two refusals: the client gives up at the first, the second session gets the other, and the third session
    // succeeds.
    const limited = await s.fleet.mission(
      s.project,
      `Do it.\n${steps({ fail: 429, times: 1 }, { write: 'a.txt', content: 'a\n' }, { say: 'Done.' })}`,
    )
    await eventually('the limit', async () => (await s.fleet.show(limited.id)).sessions[0]?.outcome === 'rate_limited')
    const held = (await s.fleet.fleet.store.get('providers', 'anthropic'))?.value
    expect(held && Date.parse(held.held_until!)).toBeGreaterThan(Date.parse(held!.updated_at))

    const other = await s.fleet.mission(s.project, 'echo b > b.txt', { agent: 'shell' })
    await s.fleet.until(other.id, 'done')
    const done = await s.fleet.until(limited.id, 'done', 'failed')
    expect(done).toMatchObject({ status: 'done', result: 'landed' })
    expect(done.sessions.map(session => session.outcome)).toEqual(['rate_limited', 'completed'])
  })

  test("once the day's budget of a project is spent, its missions wait and say so; others go on", async () => {
    const s = await scene({}, { daily_budget_usd: 0.0001 })
    const script = (file: string) => `Do it.\n${steps({ write: file, content: 'x\n' }, { say: 'Done.' })}`
    const first = await s.fleet.mission(s.project, script('a.txt'))
    const ended = await s.fleet.until(first.id, 'done', 'needs_input', 'failed')
    expect(ended.sessions[0]!.usage!.cost_usd).toBeGreaterThan(0.0001)

    const second = await s.fleet.mission(s.project, script('b.txt'))
    expect((await waiting(s, second.id, 'budget')).text).toMatch(/budget of project test is spent: \$0.0001/)
    expect(await s.fleet.call('list_spending')).toMatchObject({
      spending: [{ agent: 'claude', model: ended.sessions[0]!.used_model, sessions: 1 }],
    })
    expect(ended.sessions[0]!.used_model).toMatch(/^claude-/)
    expect(await s.fleet.call('get_budgets')).toMatchObject({
      projects: [{ project_id: s.project.id, budget_usd: 0.0001, usage: { cost_usd: ended.usage.cost_usd } }],
    })

    await s.fleet.call('update_project', { project_id: s.project.id, daily_budget_usd: 10 })
    await s.fleet.until(second.id, 'done')
    expect(await s.fleet.call('list_spending')).toMatchObject({ spending: [{ sessions: 2 }] })
  })
})
