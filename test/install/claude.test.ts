import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest'
import { aToldClient, type ToldClient } from '../kit/told-client.ts'
import { type Model, startModel, steps } from '../model/index.ts'

let model: Model
let claude: ToldClient
beforeAll(async () => {
  model = await startModel()
})
afterAll(() => model.close())
beforeEach(() => {
  claude = aToldClient('claude', {
    ANTHROPIC_BASE_URL: model.url,
    ANTHROPIC_API_KEY: 'test-key',
    CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
    DISABLE_AUTOUPDATER: '1',
    FLEET_TOKEN: 'test-token-of-this-home',
    // It starts only when its servers are connected, even on a busy machine.
    MCP_CONNECTION_NONBLOCKING: '0',
    MCP_CONNECT_TIMEOUT_MS: '30000',
  })
})
afterEach(() => claude.remove())

const shown = async () => (await claude.run('mcp', 'get', 'flotilla')).stdout

/** As if the person had trusted this folder when Claude Code asked. */
function trustFolder(): void {
  const file = join(claude.root, '.claude.json')
  const config = JSON.parse(readFileSync(file, 'utf8'))
  config.projects = { [join(claude.root, 'work')]: { hasTrustDialogAccepted: true } }
  writeFileSync(file, JSON.stringify(config))
}

test('the real Claude Code connects to the fleet, for a user and for a project', async () => {
  await claude.fleet('mcp', 'install', 'claude')
  expect(await shown()).toMatch(/Scope: User config.*Connected.*Command: fleet\n.*Args: mcp/s)

  // By now the client has rewritten the file and added much of its own.
  await claude.fleet('mcp', 'install', 'claude', '--remove')
  expect((await claude.run('mcp', 'list')).stdout).not.toContain('flotilla')

  trustFolder()
  await claude.fleet('mcp', 'install', 'claude', '--project')
  expect(await shown()).toMatch(/Scope: Project config.*Pending approval/s)
  await claude.fleet('mcp', 'install', 'claude', '--project', '--allow')
  expect(await shown()).toMatch(/Scope: Project config.*Connected/s)
})

test.each([
  { allowed: ['--allow'], denials: [] },
  { allowed: [], denials: [expect.objectContaining({ tool_name: 'mcp__flotilla__list_projects' })] },
])('it may call the tools of a set $allowed', async ({ allowed, denials }) => {
  await claude.fleet('mcp', 'install', 'claude', '--tools', 'missions', ...allowed)
  const prompt = steps({ tool: 'mcp__flotilla__list_projects', input: {} }, { say: 'Seen.' })
  const { stdout } = await claude.run('-p', prompt, '--output-format', 'stream-json', '--verbose')
  const lines = stdout
    .split('\n')
    .filter(Boolean)
    .map(line => JSON.parse(line))
  const [start, end] = [lines.find(line => line.subtype === 'init'), lines.at(-1)]
  const offered = start.tools.filter((name: string) => name.startsWith('mcp__flotilla__'))
  expect(offered).toEqual(expect.arrayContaining(['mcp__flotilla__create_mission', 'mcp__flotilla__wait_for_mission']))
  expect(offered).not.toContain('mcp__flotilla__create_worker')
  expect(end).toMatchObject({ subtype: 'success', permission_denials: denials })
  expect(stdout.includes('\\"projects\\":[]')).toBe(!denials.length)
})

test('over HTTP it takes the token from its environment, and the file does not have it', async () => {
  mkdirSync(join(claude.root, '.flotilla'))
  writeFileSync(join(claude.root, '.flotilla/token'), 'test-token-of-this-home')
  await claude.fleet('up', '--detach', '--port=0')
  await claude.fleet('mcp', 'install', 'claude', '--http')
  expect(await shown()).toMatch(/Connected.*Type: http/s)
  expect(readFileSync(join(claude.root, '.claude.json'), 'utf8')).not.toContain('test-token-of-this-home')
})
