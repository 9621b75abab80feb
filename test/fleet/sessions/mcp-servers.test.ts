import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { LINER, STAND_INS } from '../../agents/stand-ins.ts'
import { eventually, NODE, ROOT } from '../../kit/fleet.ts'
import { report } from '../../kit/inside.ts'
import { aScene, type Scene } from '../../kit/scene.ts'

/** With one agent that gets servers in a file, and one that can only start them. */
async function scene(env: Record<string, string> = {}): Promise<Scene> {
  const it = await aScene({ env: { PATH: `${STAND_INS}:${process.env.PATH}`, ...env } })
  const agents = [LINER, { ...LINER, name: 'starter', title: 'Starter', mcp_by: 'stdio' }]
  writeFileSync(join(it.fleet.fleet.home.path, 'agents.json'), JSON.stringify({ agents }))
  return it
}

const NAMED = `\${LAB_SECRET}`
const given = (fleet: Scene['fleet'], sessionId: string) =>
  JSON.parse(readFileSync(join(fleet.fleet.home.session(sessionId), 'agent-1', 'mcp.json'), 'utf8')).mcpServers

test('servers of a project are added, listed, turned off and on, and removed', async () => {
  const { fleet, repo } = await scene()
  const servers = (...args: string[]) => fleet.fleetCommand(['mcp-server', ...args], { cwd: repo.path })
  const list = async () => JSON.parse((await servers('list', '--json')).stdout).mcp_servers

  await servers('add', 'far', '--address', 'http://127.0.0.1:9/mcp', '--header', `Authorization: Bearer ${NAMED}`)
  await servers('add', 'near', '--env', `API_KEY=${NAMED}`, '--', 'serve', '--key-file', 'a.pem')
  expect(await list()).toMatchObject([
    { name: 'far', url: 'http://127.0.0.1:9/mcp', headers: { Authorization: `Bearer ${NAMED}` }, enabled: true },
    { name: 'near', command: ['serve', '--key-file', 'a.pem'], env: { API_KEY: NAMED } },
  ])
  await servers('disable', 'far')
  expect((await list())[0]).toMatchObject({ enabled: false })
  await servers('enable', 'far')
  await servers('remove', 'near')
  expect(await list()).toMatchObject([{ name: 'far', enabled: true }])

  for (const [args, words] of [
    [['add', 'far', '--address', 'http://127.0.0.1:9/'], 'has a server far already'],
    [['add', 'fleet', '--address', 'http://127.0.0.1:9/'], "is the fleet's own"],
    [['add', 'a b', '--address', 'http://127.0.0.1:9/'], 'letters, digits and -'],
    [['add', 'both', '--address', 'http://127.0.0.1:9/', '--', 'serve'], 'not both'],
    [['add', 'leak', '--address', 'http://127.0.0.1:9/', '--header', 'X-Api-Key: hunter2'], 'is a secret'],
    [['add', 'leak', '--address', 'http://me:hunter2@127.0.0.1:9/'], 'is a secret'],
    [['add', 'leak', '--address', 'http://127.0.0.1:9/?access_key=hunter2'], 'is a secret'],
    [['add', 'leak', '--env', 'LAB_KEY=hunter2', '--', 'serve'], 'is a secret'],
    [['add', 'leak', '--', 'serve', '--token=hunter2'], 'is a secret'],
    [['add', 'leak', '--', 'serve', '--api-key', 'hunter2'], 'is a secret'],
    [['add', 'leak', '--address', 'http://127.0.0.1:9/', '--header', 'X-Lab: a\nX-More: b'], 'must each be one line'],
    [['remove', 'nobody'], 'There is no MCP server'],
  ] as const) {
    const { code, stderr } = await servers(...args)
    expect(stderr).toContain(words)
    expect(stderr).not.toContain('hunter2')
    expect(code).not.toBe(0)
  }
})

test('a variable that a server needs and the fleet lacks keeps the session from starting, by name', async () => {
  const { fleet, project } = await scene()
  const input = { project_id: project.id, name: 'near', command: ['serve'], env: { TOKEN: NAMED } }
  await fleet.call('add_mcp_server', input)
  const { id } = await fleet.mission(project, 'do: true', { agent: 'liner' })
  const { status_reason } = await fleet.until(id, 'failed', 'done')
  expect(status_reason?.text).toContain('The MCP server near needs the variable LAB_SECRET')
})

test('context mode attaches its server, and says what is missing where it is not installed', async () => {
  const without = await scene()
  const refused = await without.fleet.mission(without.project, 'do: true', { agent: 'liner', context_mode: true })
  const { status_reason } = await without.fleet.until(refused.id, 'failed', 'done')
  expect(status_reason?.text).toMatch(/needs the program context-mode, which was not found[\s\S]*npm install/)

  const { fleet, project } = await scene({ FLEET_CONTEXT_MODE_CMD: 'cat --number' })
  const { id } = await fleet.mission(project, 'do: echo x >x.txt', { agent: 'liner', auto_dispatch: false })
  await fleet.call('dispatch_mission', { mission_id: id, context_mode: true })
  const { sessions } = await fleet.until(id, 'done', 'failed')
  expect(given(fleet, sessions[0]!.id)).toMatchObject({
    fleet: { type: 'http', url: expect.stringMatching(/\/agent\/mcp$/) },
    'context-mode': { command: expect.stringMatching(/\/cat$/), args: ['--number'] },
  })
})

test('a client that only starts programs has the tools by a bridge, which waits for a server that is away', async () => {
  const { fleet, project, gate } = await scene()
  const held = gate('held')
  const byHand = `'${NODE}' '${join(ROOT, 'test/fixtures/call-by-stdio.mjs')}' "$(dirname "$FLEET_PROMPT_FILE")/mcp.json" fleet`
  const input = JSON.stringify(report('by the bridge'))
  const script = `do: echo x >x.txt; ${held.wait}; ${byHand} submit_report '${input}' >'${fleet.root}/answer'`
  const { id } = await fleet.mission(project, script, { agent: 'starter' })
  await eventually('the agent at work', () => held.reached())
  await fleet.kill()
  held.open()
  await fleet.start()
  const done = await fleet.until(id, 'done', 'failed', 'needs_input')
  expect(done).toMatchObject({ status: 'done', report: { source: 'agent', summary: 'by the bridge' } })
  expect(readFileSync(join(fleet.root, 'answer'), 'utf8')).toContain('Your report is saved')
  expect(given(fleet, done.sessions[0]!.id).fleet.args.slice(-2)).toEqual(['mcp', '--agent'])
  const { stdout } = await fleet.fleetCommand(['agents'])
  expect(stdout).toMatch(/starter .*through a bridge/)
})
