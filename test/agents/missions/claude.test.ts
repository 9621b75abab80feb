import { readFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { claude } from '../../../src/agents/claude/adapter.ts'
import { claudeBinary, HOW_TO_INSTALL } from '../../clients/clients.ts'
import { insideScenarios } from '../../kit/inside-scenarios.ts'
import { budgetScenario, contextScenario } from '../../kit/measure-scenarios.ts'
import { missionScenarios } from '../../kit/mission-scenarios.ts'
import { aScene, type Scene } from '../../kit/scene.ts'
import { type Model, startModel, steps } from '../../model/index.ts'

const binary = claudeBinary()
if (!binary) console.warn(`Skipped: ${HOW_TO_INSTALL}`)

/** The real client as the agent of a mission: through the runner, its files, its FIFO and a real server. */
describe.skipIf(!binary)('a mission for the real Claude client', () => {
  let model: Model
  beforeAll(async () => {
    model = await startModel()
  })
  afterAll(() => model.close())

  const scene = (): Promise<Scene> =>
    aScene({
      project: { agent: 'claude' },
      env: {
        PATH: `${dirname(binary!)}:${process.env.PATH}`,
        ANTHROPIC_BASE_URL: model.url,
        ANTHROPIC_API_KEY: 'test-key',
        CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
        CLAUDE_CODE_MAX_RETRIES: '1',
      },
    })
  missionScenarios(claude, scene, () => model)
  contextScenario(scene)
  budgetScenario(scene)
  insideScenarios((tool, server = 'fleet') => `mcp__${server}__${tool}`, scene)

  test('a prompt of 200 kB arrives byte for byte', async () => {
    const { fleet, project } = await scene()
    const long = `${'"quotes" $(and) `more` \\ ünïcödé 🚢 '.repeat(5000)}\n${steps({ write: 'x.txt', content: 'x' }, { say: 'Read.' })}`
    const { id } = await fleet.mission(project, long)
    const mission = await fleet.until(id, 'done', 'failed', 'needs_input')
    expect(mission.status).toBe('done')
    const arrived = model.requests.some(({ body }) =>
      JSON.stringify(body ?? '').includes(JSON.stringify(long).slice(1, -1)),
    )
    expect(arrived).toBe(true)
    expect(readFileSync(`${fleet.fleet.home.session(mission.sessions[0]!.id)}/agent-1/sent`, 'utf8')).toContain(
      'quotes',
    )
  })
})
