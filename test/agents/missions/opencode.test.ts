import { mkdtempSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterAll, beforeAll, describe, onTestFinished } from 'vitest'
import { opencode } from '../../../src/agents/opencode/adapter.ts'
import { binaryOf, HOW_TO_INSTALL } from '../../clients/clients.ts'
import { insideScenarios } from '../../kit/inside-scenarios.ts'
import { budgetScenario, contextScenario, daysBudgetScenario } from '../../kit/measure-scenarios.ts'
import { missionScenarios } from '../../kit/mission-scenarios.ts'
import { aScene, type Scene } from '../../kit/scene.ts'
import { type Model, startModel } from '../../model/index.ts'
import { opencodeHome } from '../opencode-home.ts'

const binary = binaryOf('opencode')
if (!binary) console.warn(`Skipped: ${HOW_TO_INSTALL}`)

/** The real client as the agent of a mission: through the runner, its files and a real server. */
describe.skipIf(!binary)('a mission for the real OpenCode client', () => {
  let model: Model
  beforeAll(async () => {
    model = await startModel()
  })
  afterAll(() => model.close())

  function scene(): Promise<Scene> {
    const home = mkdtempSync(join(tmpdir(), 'flotilla-opencode-'))
    onTestFinished(() => rm(home, { recursive: true, force: true, maxRetries: 5 }))
    return aScene({
      project: { agent: 'opencode' },
      env: { PATH: `${dirname(binary!)}:${process.env.PATH}`, HOME: home, ...opencodeHome(home, model.url) },
    })
  }
  missionScenarios(opencode, scene, () => model)
  // Our table does not know the scripted model. Its window is in the client's own configuration.
  contextScenario(scene)
  budgetScenario(scene)
  daysBudgetScenario(scene)
  insideScenarios((tool, server = 'fleet') => `${server}_${tool}`, scene, { saysWhatFails: false })
})
