import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js'
import { expect, onTestFinished, test } from 'vitest'
import { freePort } from '../../../src/fleet/previews/port.ts'
import { readDaemon } from '../../../src/store/index.ts'
import { eventually, NODE, ROOT } from '../../kit/fleet.ts'
import { aScene } from '../../kit/scene.ts'

test('a client that starts programs finds a fleet, also after it was killed or stopped behind its back', async () => {
  const { fleet, repo, project, gate } = await aScene({ start: false })
  const client = new Client({ name: 'test', version: '1' })
  const { PATH, HOME } = process.env as { PATH: string; HOME: string }
  const home = fleet.fleet.home.path
  // A port that no other test takes between two servers.
  writeFileSync(join(home, 'port'), String(await freePort()))
  onTestFinished(async () => {
    await client.close()
    await fleet.fleetCommand(['down', '--agents'])
  })
  await client.connect(
    new StdioClientTransport({
      command: NODE,
      args: [join(ROOT, 'bin/fleet.js'), 'mcp', '--tools', 'missions,workers'],
      env: { PATH, HOME, FLEET_HOME: home },
      stderr: 'ignore',
    }),
  )
  const call = async (name: string, input: Record<string, unknown> = {}) => {
    const { content, isError } = await client.callTool({ name, arguments: input })
    const [{ text }] = content as [{ text: string }]
    expect(isError ?? false, text).toBe(false)
    return JSON.parse(text)
  }
  const server = () => readDaemon(home)!.pid
  const kill = () => process.kill(server(), 'SIGKILL')

  expect(await call('healthcheck')).toMatchObject({ app: 'flotilla' })
  const [first] = [server(), kill()]
  const made = await call('create_worker', {
    repo_path: repo.path,
    task_name: 'after',
    executor: 'shell',
    prompt: 'echo 1 > one.txt',
  })
  expect(server()).not.toBe(first)
  expect(await call('wait_for_mission', { mission_id: made.worker_id })).toMatchObject({
    answer: 'over',
    status: 'done',
  })

  const held = gate('held')
  const { mission_id } = await call('create_mission', {
    project_id: project.id,
    title: 'long',
    agent: 'shell',
    prompt: `${held.wait}; echo I looked.`,
    auto_dispatch: true,
    mission_type: 'explore',
  })
  await eventually('it runs', () => held.reached())
  const waited = call('wait_for_mission', { mission_id })
  kill()
  expect(await call('get_mission_status', { mission_id })).toMatchObject({ status: 'running' })
  held.open()
  expect(await waited).toMatchObject({ answer: 'over', status: 'done' })

  await fleet.fleetCommand(['down'])
  expect((await call('list_projects')).projects).toHaveLength(1)
})

test('what is no message is answered as such, and the end of input ends it', async () => {
  const { fleet } = await aScene({ start: false })
  const { code, stdout } = await fleet.fleetCommand(['mcp'], { input: 'nonsense\n{"jsonrpc":"2.0"}\n' })
  expect(code).toBe(0)
  const answers = stdout
    .trim()
    .split('\n')
    .map(line => JSON.parse(line).error.code)
  expect(answers).toEqual([-32700, -32600])
})

test('an agent at work that starts it finds the tools of its own session', async () => {
  const { fleet, repo, project } = await aScene()
  const ask = `echo '{"jsonrpc":"2.0","id":1,"method":"tools/list"}' | '${NODE}' '${join(ROOT, 'bin/fleet.js')}' mcp > tools.json`
  const { id } = await fleet.mission(project, ask)
  await fleet.until(id, 'done')
  const { result } = JSON.parse(await repo.readOn('main', 'tools.json'))
  const names = result.tools.map(({ name }: { name: string }) => name)
  expect(names).toContain('get_mission_context')
  expect(names).not.toContain('create_worker')
})

test('a last request without a line break is answered too', async () => {
  const { fleet } = await aScene()
  const input = JSON.stringify({ jsonrpc: '2.0', id: 7, method: 'ping' })
  const { stdout } = await fleet.fleetCommand(['mcp'], { input })
  expect(JSON.parse(stdout)).toEqual({ jsonrpc: '2.0', id: 7, result: {} })
})
