import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { claude } from '../../src/agents/claude/adapter.ts'
import { codex } from '../../src/agents/codex/adapter.ts'
import type { Agent, AgentEvent } from '../../src/agents/contract.ts'
import { gemini } from '../../src/agents/gemini/adapter.ts'
import { opencode } from '../../src/agents/opencode/adapter.ts'
import { binaryOf, HOW_TO_INSTALL } from '../clients/clients.ts'
import { planOf } from '../kit/planner.ts'
import { aScene } from '../kit/scene.ts'
import { type Model, startModel, steps } from '../model/index.ts'
import { aCodexWorkspace, codexSettings } from './codex-home.ts'
import { aRequest, aWorkspace, drive, type Workspace } from './drive.ts'
import { geminiHome } from './gemini-home.ts'
import { opencodeHome } from './opencode-home.ts'

interface Driver {
  agent: Agent
  model?: string
  /** The name by which it calls a tool of the server `fleet`. */
  tool: (name: string) => string
  workspace: (binary: string, modelUrl: string) => Workspace
  /** The client that works on the mission. */
  worker: 'claude' | 'codex'
}

const withHome =
  (home: (root: string, modelUrl: string) => Record<string, string>): Driver['workspace'] =>
  (binary, modelUrl) => {
    const workspace = aWorkspace(binary, modelUrl)
    const { HOME, PATH } = workspace.environment
    return { ...workspace, environment: { HOME: HOME!, PATH: PATH!, ...home(workspace.root, modelUrl) } }
  }

const DRIVERS: Driver[] = [
  { agent: claude, tool: name => `mcp__fleet__${name}`, workspace: aWorkspace, worker: 'codex' },
  { agent: codex, tool: name => `mcp__fleet__${name}`, workspace: aCodexWorkspace, worker: 'claude' },
  {
    agent: gemini,
    model: 'gemini-2.5-pro',
    tool: name => `mcp_fleet_${name}`,
    workspace: withHome(geminiHome),
    worker: 'claude',
  },
  { agent: opencode, tool: name => `fleet_${name}`, workspace: withHome(opencodeHome), worker: 'codex' },
]

const NAMES = ['claude', 'codex', 'gemini', 'opencode'] as const
const installed = NAMES.every(binaryOf)
if (!installed) console.warn(`Skipped: ${HOW_TO_INSTALL}`)

/** An agent outside the fleet drives it, and another real client does the work. */
describe.skipIf(!installed)('a real client pointed at /mcp', { timeout: 180_000 }, () => {
  let model: Model
  beforeAll(async () => {
    model = await startModel()
  })
  afterAll(() => model.close())

  test.each(DRIVERS)(
    '$agent.name has work planned, makes and sends a mission, waits and reads the reports',
    async driver => {
      const { agent, tool, worker } = driver
      const scene = await aScene({ env: environmentOf(model.url), start: false })
      const { fleet, repo, project } = scene
      const codexHome = join(fleet.root, 'codex')
      mkdirSync(codexHome)
      writeFileSync(join(codexHome, 'config.toml'), codexSettings(model.url))
      const { url } = await fleet.start({ env: { CODEX_HOME: codexHome } })
      const workspace = driver.workspace(binaryOf(agent.name as 'claude')!, model.url)
      onTestFinished(() => workspace.remove())

      const work = `Do it.\n${steps({ write: 'made.txt', content: `by ${worker}\n` }, { say: `Made by ${worker}.` })}`
      const mission = { project_id: project.id, title: 'make it', prompt: work, agent: worker }
      const planned = {
        key: 'plan',
        agent: worker,
        script: `Do it.\n${steps({ write: 'planned.txt', content: 'so\n' }, { say: 'As planned.' })}`,
      }
      const goal = { prompt: `Plan it.\n${steps({ say: planOf(planned) })}`, project_path: repo.path, agent: worker }
      const script = steps(
        { tool: tool('plan_project'), input: { ...goal, timeout_seconds: 50 } },
        { tool: tool('approve_plan'), input: { plan_id: '{{plan_id}}' } },
        { tool: tool('wait_for_mission'), input: { mission_id: '{{mission_id}}', timeout_seconds: 50 } },
        { tool: tool('get_report'), input: { mission_id: '{{mission_id}}' } },
        { tool: tool('create_mission'), input: mission },
        { tool: tool('dispatch_mission'), input: { mission_id: '{{mission_id}}' } },
        { tool: tool('wait_for_mission'), input: { mission_id: '{{mission_id}}', timeout_seconds: 50 } },
        { tool: tool('get_report'), input: { mission_id: '{{mission_id}}' } },
        { say: 'It is done.' },
      )
      const { ending, events } = await drive(
        agent,
        aRequest(workspace, {
          prompt: `Do it.\n${script}`,
          model: driver.model ?? null,
          mcpServers: {
            fleet: {
              url: `${url}/mcp?tools=missions`,
              headers: { authorization: `Bearer ${await fleet.fleet.keys.ownerToken()}` },
            },
          },
        }),
      )

      const said = answers(events)
      expect(ending.outcome, said.join('\n')).toBe('completed')
      expect(
        said.find(text => text.includes('"answer')),
        said.join('\n'),
      ).toMatch(/answer\W+over/)
      expect(said.at(-5)).toContain('As planned.')
      expect(said.at(-1)).toContain(`Made by ${worker}.`)
      const { missions } = await fleet.call<{ missions: { id: string }[] }>('list_missions', { project_id: project.id })
      expect(missions).toHaveLength(3)
      const done = await fleet.show(missions[0]!.id)
      expect(done).toMatchObject({ status: 'done', result: 'landed', sessions: [{ agent: worker }] })
      expect(await repo.readOn('main', 'planned.txt')).toBe('so')
      expect(await repo.readOn('main', 'made.txt')).toBe(`by ${worker}`)
    },
  )
})

const answers = (events: AgentEvent[]): string[] =>
  events.flatMap(event => (event.type === 'tool_result' ? event.output : []))

const environmentOf = (modelUrl: string): Record<string, string> => ({
  PATH: `${dirname(binaryOf('claude')!)}:${dirname(binaryOf('codex')!)}:${process.env.PATH}`,
  ANTHROPIC_BASE_URL: modelUrl,
  ANTHROPIC_API_KEY: 'test-key',
  CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
  OPENAI_API_KEY: 'test-key',
})
