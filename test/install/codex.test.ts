import { appendFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, expect, test } from 'vitest'
import { aToldClient, type ToldClient } from '../kit/told-client.ts'

let codex: ToldClient
afterEach(() => codex.remove())

test('the real Codex knows the fleet beside what it knew, and what it adds stays', async () => {
  codex = aToldClient('codex')
  const config = join(codex.root, '.codex/config.toml')
  mkdirSync(join(codex.root, '.codex'))
  const mine = '# mine\n[mcp_servers.other]\ncommand = "true"\n'
  writeFileSync(config, mine)
  await codex.fleet('mcp', 'install', 'codex', '--allow')
  expect(JSON.parse((await codex.run('mcp', 'list', '--json')).stdout)).toMatchObject([
    { name: 'flotilla', enabled: true, transport: { type: 'stdio', command: 'fleet', args: ['mcp'] } },
    { name: 'other' },
  ])
  expect((await codex.run('mcp', 'get', 'flotilla')).stdout).toContain('default_tools_approval_mode: approve')
  expect(readFileSync(config, 'utf8').startsWith(mine)).toBe(true)

  await codex.run('mcp', 'add', 'third', '--', 'true')
  appendFileSync(config, '# the end\n')
  await codex.fleet('mcp', 'install', 'codex', '--remove')
  const names = JSON.parse((await codex.run('mcp', 'list', '--json')).stdout).map((each: { name: string }) => each.name)
  expect(names).toEqual(['other', 'third'])
})

test('over HTTP the real Codex takes the token from its environment', async () => {
  codex = aToldClient('codex')
  await codex.fleet('mcp', 'install', 'codex', '--http', '--url', 'http://127.0.0.1:3847', '--tools', 'missions')
  expect(JSON.parse((await codex.run('mcp', 'list', '--json')).stdout)).toMatchObject([
    { transport: { url: 'http://127.0.0.1:3847/mcp?tools=missions', bearer_token_env_var: 'FLEET_TOKEN' } },
  ])
})
