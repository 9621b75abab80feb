import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { aToldClient, type ToldClient } from '../kit/told-client.ts'
import { type Model, startModel, steps } from '../model/index.ts'
import { geminiHome } from './gemini-home.ts'
import { opencodeHome } from './opencode-home.ts'

let model: Model
let client: ToldClient
beforeAll(async () => {
  model = await startModel()
})
afterAll(() => model.close())
afterEach(() => client.remove())

const prompt = steps({ run: 'fleet project list --json' }, { say: 'Seen.' })
/** What `fleet project list --json` prints in a home without projects; quotes may be escaped. */
const RAN = /\\*"projects\\*":/

test('the real Claude Code runs fleet without asking once it is set up, and nothing behind it', async () => {
  client = aToldClient('claude', {
    ANTHROPIC_BASE_URL: model.url,
    ANTHROPIC_API_KEY: 'test-key',
    CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
    DISABLE_AUTOUPDATER: '1',
  })
  const run = async (command = 'fleet project list --json') =>
    (
      await client.run(
        ...['-p', steps({ run: command }, { say: 'Seen.' }), '--output-format', 'stream-json', '--verbose'],
      )
    ).stdout
  expect(await run()).not.toMatch(RAN)
  await client.fleet('setup', 'claude', '--yes')
  expect(await run()).toMatch(RAN)
  expect(await run('fleet project list --json && touch beside')).toContain('"permission_denials":[{')
})

test('the real Gemini CLI takes the rule', async () => {
  client = aToldClient('gemini', {
    GEMINI_CLI_NO_RELAUNCH: 'true',
    GEMINI_CLI_TRUST_WORKSPACE: 'true',
    GEMINI_API_KEY: 'test-key',
    GOOGLE_GEMINI_BASE_URL: model.url,
  })
  geminiHome(client.root, model.url)
  const run = async () => (await client.run('-p', prompt, '--output-format', 'stream-json')).stdout
  expect(await run()).not.toMatch(RAN)
  await client.fleet('setup', 'gemini', '--yes')
  expect(await run()).toMatch(RAN)
})

test('the real OpenCode takes the rule beside its own', async () => {
  client = aToldClient('opencode', {
    OPENCODE_DISABLE_AUTOUPDATE: '1',
    OPENCODE_DISABLE_MODELS_FETCH: '1',
    OPENCODE_DISABLE_DEFAULT_PLUGINS: '1',
    OPENCODE_DISABLE_LSP_DOWNLOAD: '1',
  })
  opencodeHome(client.root, model.url)
  const file = join(client.root, '.config/opencode/opencode.json')
  const settings = { ...JSON.parse(readFileSync(file, 'utf8')), permission: { bash: { '*': 'ask' } } }
  writeFileSync(file, JSON.stringify(settings))
  const run = async () => (await client.runWith(`\n${prompt}\n`, 'run', '--format', 'json', 'Go.')).stdout
  expect(await run()).not.toMatch(RAN)
  await client.fleet('setup', 'opencode', '--yes')
  expect(await run()).toMatch(RAN)
})

test('the real Codex decides by the rule', async () => {
  client = aToldClient('codex')
  await client.fleet('setup', 'codex', '--yes')
  const rules = join(client.root, '.codex/rules/flotilla.rules')
  const decided = async (...command: string[]) =>
    JSON.parse((await client.run('execpolicy', 'check', '--rules', rules, '--', ...command)).stdout).decision
  expect(await decided('fleet', 'land', '4f2a')).toBe('allow')
  expect(await decided('fleets', 'land')).toBeUndefined()
})
