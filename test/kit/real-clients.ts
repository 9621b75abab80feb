import { mkdtempSync, writeFileSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterAll, beforeAll, onTestFinished } from 'vitest'
import { type AcpDeclaration, acpAgent } from '../../src/agents/acp/adapter.ts'
import { claude } from '../../src/agents/claude/adapter.ts'
import { codex } from '../../src/agents/codex/adapter.ts'
import type { Agent } from '../../src/agents/contract.ts'
import { gemini } from '../../src/agents/gemini/adapter.ts'
import { opencode } from '../../src/agents/opencode/adapter.ts'
import { CLAUDE_ACP, GEMINI_ACP } from '../agents/acp-agents.ts'
import { aCodexHome } from '../agents/codex-home.ts'
import { geminiHome } from '../agents/gemini-home.ts'
import { opencodeHome } from '../agents/opencode-home.ts'
import { binaryOf, claudeSdk } from '../clients/clients.ts'
import { type Model, type Step, startModel } from '../model/index.ts'
import { aScene, type Scene, type SceneOptions } from './scene.ts'

/** A real client as missions get it, and how its model calls what every client can do. */
export interface RealClient {
  name: string
  agent: Agent
  /** Its program; undefined if it is not in the cache. */
  binary: string | undefined
  /** The project settings for it. */
  project: object
  declared?: AcpDeclaration
  /** Sets up a home for it, with only the scripted model. */
  environment(home: string, modelUrl: string): Record<string, string>
  /** Its name for a tool of the fleet. */
  named(tool: string): string
  /** A page and a search, as its model requests them; empty if its provider does that. */
  web(url: string): Step[]
}

const anthropic = (modelUrl: string): Record<string, string> => ({
  ANTHROPIC_BASE_URL: modelUrl,
  ANTHROPIC_API_KEY: 'test-key',
  CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
  CLAUDE_CODE_MAX_RETRIES: '1',
})

const claudeWeb = (url: string): Step[] => [
  { tool: 'WebFetch', input: { url, prompt: 'What is there?' } },
  { tool: 'WebSearch', input: { query: url } },
]
const geminiWeb = (url: string): Step[] => [
  { tool: 'web_fetch', input: { prompt: `Say what is at ${url}` } },
  { tool: 'google_web_search', input: { query: url } },
]

const CLAUDE: RealClient = {
  name: 'claude',
  agent: claude,
  binary: binaryOf('claude'),
  project: { agent: 'claude' },
  environment: (_home, modelUrl) => anthropic(modelUrl),
  named: tool => `mcp__fleet__${tool}`,
  web: claudeWeb,
}

export const REAL_CLIENTS: readonly RealClient[] = [
  CLAUDE,
  {
    ...CLAUDE,
    name: 'claude (sdk)',
    agent: claude.engines!.sdk!,
    binary: claudeSdk() && CLAUDE.binary,
    environment: (_home, modelUrl) => ({
      ...anthropic(modelUrl),
      FLEET_CLAUDE_ENGINE: 'sdk',
      FLEET_CLAUDE_SDK: claudeSdk()!,
    }),
  },
  {
    name: 'claude-acp',
    agent: acpAgent(CLAUDE_ACP),
    binary: binaryOf('claude-agent-acp'),
    project: { agent: CLAUDE_ACP.name },
    declared: CLAUDE_ACP,
    environment: (_home, modelUrl) => anthropic(modelUrl),
    named: tool => `mcp__fleet__${tool}`,
    web: claudeWeb,
  },
  {
    name: 'codex',
    agent: codex,
    binary: binaryOf('codex'),
    project: { agent: 'codex' },
    environment: (_home, modelUrl) => ({ CODEX_HOME: aCodexHome(modelUrl), OPENAI_API_KEY: 'test-key' }),
    named: tool => `mcp__fleet__${tool}`,
    web: () => [],
  },
  {
    name: 'gemini',
    agent: gemini,
    binary: binaryOf('gemini'),
    project: { agent: 'gemini', model: 'gemini-2.5-pro' },
    environment: geminiHome,
    named: tool => `mcp_fleet_${tool}`,
    web: geminiWeb,
  },
  {
    name: 'gemini-acp',
    agent: acpAgent(GEMINI_ACP),
    binary: binaryOf('gemini'),
    project: { agent: GEMINI_ACP.name },
    declared: GEMINI_ACP,
    environment: geminiHome,
    named: tool => `mcp_fleet_${tool}`,
    web: geminiWeb,
  },
  {
    name: 'opencode',
    agent: opencode,
    binary: binaryOf('opencode'),
    project: { agent: 'opencode' },
    environment: (home, modelUrl) => ({ HOME: home, ...opencodeHome(home, modelUrl) }),
    named: tool => `fleet_${tool}`,
    web: url => [{ tool: 'webfetch', input: { url, format: 'text' } }],
  },
]

/** The scripted model of a test file, and a running fleet whose project has one of the clients. */
export function clientScenes(): {
  model(): Model
  sceneOf(client: RealClient, options?: SceneOptions): Promise<Scene>
} {
  let model: Model
  beforeAll(async () => {
    model = await startModel()
  })
  afterAll(() => model.close())
  return {
    model: () => model,
    async sceneOf(client, options = {}) {
      const home = mkdtempSync(join(tmpdir(), 'flotilla-client-'))
      const own = client.environment(home, model.url)
      for (const folder of [home, own.CODEX_HOME])
        onTestFinished(async () => {
          if (folder) await rm(folder, { recursive: true, force: true, maxRetries: 5 })
        })
      const it = await aScene({
        ...options,
        start: false,
        project: { landing: 'review', ...options.project },
        env: { PATH: `${dirname(client.binary!)}:${process.env.PATH}`, ...own, ...options.env },
      })
      const agents = client.declared ? [client.declared] : []
      writeFileSync(join(it.fleet.fleet.home.path, 'agents.json'), JSON.stringify({ agents }))
      await it.fleet.call('update_project', { project_id: it.project.id, ...client.project })
      await it.fleet.start()
      return it
    },
  }
}
