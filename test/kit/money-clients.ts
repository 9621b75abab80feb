import { mkdtempSync, writeFileSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { onTestFinished } from 'vitest'
import { costOf, KNOWN_MODELS, knownModel, type Price } from '../../src/domain/rules/prices.ts'
import { CLAUDE_ACP } from '../agents/acp-agents.ts'
import { aCodexHome } from '../agents/codex-home.ts'
import { geminiHome } from '../agents/gemini-home.ts'
import { opencodeHome } from '../agents/opencode-home.ts'
import { binaryOf, claudeSdk } from '../clients/clients.ts'
import { type Model, NO_TOKENS, type Served, type Tokens } from '../model/index.ts'
import { aScene, type Scene } from './scene.ts'

/** A real client, as a mission gets it, that talks only to the scripted model. */
export interface Paid {
  name: string
  /** The folder of its programs; undefined if it is not installed. */
  binary: string | undefined
  scene(model: Model, env?: Record<string, string>): Promise<Scene>
  /** Its name for a tool of the fleet. */
  tool(name: string): string
  /** It asks a person, and can be parked while it waits. */
  asks: boolean
  /** It reports how full its window is. */
  handsOver: boolean
  price(served: Served): Price
  /** It reports the usage of an answer once the tools of that answer are done, and never if it is stopped before. */
  tellsLate?: true
  /** Its model names the conversation; it reports that usage with the end of its turn at the earliest. */
  namesLate?: true
}

const listed = ({ model }: Served): Price => knownModel(KNOWN_MODELS, model)!.price!

function aHome(name: string): string {
  const home = mkdtempSync(join(tmpdir(), `flotilla-${name}-`))
  onTestFinished(() => rm(home, { recursive: true, force: true, maxRetries: 5 }))
  return home
}

const pathOf = (binary: string | undefined): Record<string, string> => ({
  PATH: `${dirname(binary!)}:${process.env.PATH}`,
})

const anthropic = (model: Model): Record<string, string> => ({
  ANTHROPIC_BASE_URL: model.url,
  ANTHROPIC_API_KEY: 'test-key',
  CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
  CLAUDE_CODE_MAX_RETRIES: '1',
})

const claude = binaryOf('claude')
const mcp = (name: string) => `mcp__fleet__${name}`

export const PAID: readonly Paid[] = [
  {
    ...{ name: 'claude', binary: claude, tool: mcp, asks: true, handsOver: true, price: listed },
    scene: (model, env) =>
      aScene({
        project: { agent: 'claude', model: 'claude-sonnet-5-5' },
        env: { ...pathOf(claude), ...anthropic(model), ...env },
      }),
  },
  {
    ...{ name: 'claude (sdk)', binary: claude && claudeSdk(), tool: mcp, asks: true, handsOver: true, price: listed },
    scene: (model, env) =>
      aScene({
        project: { agent: 'claude', model: 'claude-sonnet-5-5' },
        env: {
          ...{ ...pathOf(claude), ...anthropic(model), ...env },
          ...{ FLEET_CLAUDE_ENGINE: 'sdk', FLEET_CLAUDE_SDK: claudeSdk()! },
        },
      }),
  },
  {
    ...{ name: 'codex', binary: binaryOf('codex'), tool: mcp, asks: true, handsOver: true, price: listed },
    scene(model, env) {
      const home = aCodexHome(model.url)
      onTestFinished(() => rm(home, { recursive: true, force: true, maxRetries: 5 }))
      return aScene({
        project: { agent: 'codex' },
        env: { ...pathOf(binaryOf('codex')), CODEX_HOME: home, OPENAI_API_KEY: 'test-key', ...env },
      })
    },
  },
  {
    ...{ name: 'gemini', binary: binaryOf('gemini'), asks: false, handsOver: true, price: listed },
    tool: name => `mcp_fleet_${name}`,
    scene: (model, env) =>
      aScene({
        project: { agent: 'gemini', model: 'gemini-2.5-pro' },
        env: { ...pathOf(binaryOf('gemini')), ...geminiHome(aHome('gemini'), model.url), ...env },
      }),
  },
  {
    ...{ name: 'opencode', binary: binaryOf('opencode'), asks: false, handsOver: true, tellsLate: true },
    tool: name => `fleet_${name}`,
    // As set in its own configuration here.
    price: () => ({ input: 10, cached_input: 0, cache_write: 0, output: 100 }),
    scene(model, env) {
      const home = aHome('opencode')
      return aScene({
        project: { agent: 'opencode' },
        env: { ...pathOf(binaryOf('opencode')), HOME: home, ...opencodeHome(home, model.url), ...env },
      })
    },
  },
  {
    ...{ name: 'claude over ACP', binary: binaryOf('claude-agent-acp'), tool: mcp, asks: true, handsOver: true },
    ...{ price: listed, namesLate: true },
    async scene(model, env) {
      const it = await aScene({
        start: false,
        env: { ...pathOf(binaryOf('claude-agent-acp')), ...anthropic(model), ...env },
      })
      writeFileSync(join(it.fleet.fleet.home.path, 'agents.json'), JSON.stringify({ agents: [CLAUDE_ACP] }))
      await it.fleet.start()
      await it.fleet.call('update_project', { project_id: it.project.id, agent: CLAUDE_ACP.name })
      return it
    },
  },
]

export interface Bill extends Tokens {
  usd: number
}

const usage = (tokens: Tokens, turns?: number) => ({
  input_tokens: tokens.input,
  output_tokens: tokens.output,
  cache_read_tokens: tokens.cacheRead,
  cache_write_tokens: tokens.cacheWrite,
  ...(turns && { turns }),
})

/** The cost of everything in the model's own log. */
export const billOf = (served: readonly Served[], { price }: Paid): Bill =>
  served.reduce((sum, each) => added(sum, { ...each, usd: costOf(price(each), usage(each, 1)) }), {
    ...NO_TOKENS,
    usd: 0,
  })

export const added = (a: Bill, b: Bill): Bill => ({
  input: a.input + b.input,
  output: a.output + b.output,
  reasoning: a.reasoning + b.reasoning,
  cacheRead: a.cacheRead + b.cacheRead,
  cacheWrite: a.cacheWrite + b.cacheWrite,
  usd: a.usd + b.usd,
})
