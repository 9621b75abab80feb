import { mkdtempSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterAll, beforeAll, describe, onTestFinished, test } from 'vitest'
import { gemini } from '../../../src/agents/gemini/adapter.ts'
import { binaryOf, HOW_TO_INSTALL } from '../../clients/clients.ts'
import { insideScenarios } from '../../kit/inside-scenarios.ts'
import { daysBudgetScenario } from '../../kit/measure-scenarios.ts'
import { missionScenarios, prompt } from '../../kit/mission-scenarios.ts'
import { atTerminal } from '../../kit/pty.ts'
import { aScene, type Scene } from '../../kit/scene.ts'
import { type Model, startModel } from '../../model/index.ts'
import { geminiHome } from '../gemini-home.ts'

const binary = binaryOf('gemini')
if (!binary) console.warn(`Skipped: ${HOW_TO_INSTALL}`)

/** The real client as the agent of a mission: through the runner, its files and a real server. */
describe.skipIf(!binary)('a mission for the real Gemini client', () => {
  let model: Model
  beforeAll(async () => {
    model = await startModel()
  })
  afterAll(() => model.close())

  function scene(): Promise<Scene> {
    const home = mkdtempSync(join(tmpdir(), 'flotilla-gemini-'))
    onTestFinished(() => rm(home, { recursive: true, force: true, maxRetries: 5 }))
    return aScene({
      project: { agent: 'gemini', model: 'gemini-2.5-pro' },
      env: { PATH: `${dirname(binary!)}:${process.env.PATH}`, ...geminiHome(home, model.url) },
    })
  }
  missionScenarios(gemini, scene, () => model)
  daysBudgetScenario(scene)
  insideScenarios((tool, server = 'fleet') => `mcp_${server}_${tool}`, scene)

  test('a person who takes it over finds its conversation', async () => {
    const { fleet, project } = await scene()
    const said = { say: 'The lantern is lit.' }
    const { id } = await fleet.mission(project, prompt({ write: 'lantern.txt', content: 'lit\n' }, said), {
      landing: 'review',
    })
    await fleet.until(id, 'review')
    const person = atTerminal(['takeover', id], fleet.fleet.environment as Record<string, string>)
    await person.sees('The lantern is lit.')
  })
})
