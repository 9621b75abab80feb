import { join } from 'node:path'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js'
import { beforeAll, expect, onTestFinished, test } from 'vitest'
import { sessionToken } from '../../../src/platform/tokens.ts'
import { type Connected, mcpClient } from '../../../src/server/mcp/client.testkit.ts'
import { aCrew, type Crew } from '../../kit/claude-fleet.ts'
import { eventually, NODE, ROOT } from '../../kit/fleet.ts'
import { type Anything, ledger } from '../../kit/known.ts'

// Names and inputs are those that claude-fleet's server declares.

let crew: Crew
const clients: Connected[] = []
const { names, call, forgotten } = ledger('claude-fleet', 'tool')

beforeAll(async () => {
  let clean: () => Promise<void>
  crew = await aCrew(over => {
    clean = over
  })
  return async () => {
    await Promise.all(clients.map(each => each.close()))
    await clean()
  }
})

async function toolsFor(token: string, path = '/mcp?tools=teams') {
  const mcp = await mcpClient(crew.url + path, token)
  clients.push(mcp)
  const works = async (tool: string, input: object = {}): Promise<Anything> => {
    call(tool)
    const { text, isError } = await mcp.call(tool, input)
    expect(isError, `${tool}: ${text}`).toBe(false)
    return JSON.parse(text)
  }
  const refused = async (tool: string, input: object = {}): Promise<string> => {
    const { text, isError } = await mcp.call(tool, input)
    expect(isError, `${tool}: ${text}`).toBe(true)
    return text
  }
  return { mcp, works, refused }
}

test('every tool of the list is offered to a member of the team, outside and inside, and there are more than thirty', async () => {
  expect(names.length).toBeGreaterThan(30)
  const wanted = names.map(({ name }) => name).toSorted()
  const { token } = await crew.aClient('lister')
  const outside = await toolsFor(token, '/mcp')
  const listed = (await outside.mcp.client.listTools()).tools.map(({ name }) => name)
  expect(wanted.filter(name => !listed.includes(name))).toEqual([])
  const { scene, team } = crew
  await scene.fleet.call('add_member', { team_id: team.id, handle: 'inner', charter: 'Wait.' })
  const gate = scene.gate('inner')
  await scene.fleet.call('send_mail', { team_id: team.id, to: 'inner', body: `do: ${gate.wait}`, wake: true })
  await eventually('inner to be at work', () => gate.reached())
  const { session_id } = await scene.fleet.call<Anything>('get_member', { team_id: team.id, member: 'inner' })
  const session = await scene.fleet.call<Anything>('get_session', { session_id })
  const own = await sessionToken(scene.fleet.fleet.keys, { id: session_id, generation: session.generation })
  const inside = await toolsFor(own, '/agent/mcp?tools=teams')
  const offered = (await inside.mcp.client.listTools()).tools.map(({ name }) => name)
  expect(wanted.filter(name => !offered.includes(name))).toEqual([])
  expect((await inside.works('team_status')).name).toBe('crew')
  await inside.works('worktree_commit', { message: 'Half of it' })
  await inside.works('team_send', { handle: 'lister', message: 'I am here.' })
  expect(await inside.refused('worktree_push')).toMatch(/handed in no work|may not use/)
  gate.open()
})

test('a lead and a worker use every tool with the inputs that they know', async () => {
  const lead = await toolsFor((await crew.aClient('head', 'team-lead')).token)
  const ada = await toolsFor((await crew.aClient('ada')).token)
  expect((await ada.works('team_status')).members.map((each: Anything) => each.handle)).toContain('ada')
  await ada.works('team_workers')
  const task = await lead.works('team_assign', { agent: 'ada', task: 'Count the stars', description: 'All.' })
  expect((await ada.works('team_tasks', { filter: 'mine' })).tasks).toMatchObject([{ id: task.id }])
  expect((await ada.works('list_tasks', { filter: 'all' })).tasks).toMatchObject([{ id: task.id }])
  await ada.works('team_complete', { task_id: task.id })
  const second = await lead.works('create_task', { agent: 'ada', task: 'Name them' })
  expect(await ada.works('update_task', { task_id: second.id, status: 'completed' })).toMatchObject({ status: 'done' })
  expect(await ada.works('team_claim', { file: 'src/stars.ts' })).toMatchObject({ file: 'src/stars.ts' })

  await lead.works('team_broadcast', { message: 'Lunch.' })
  expect(await ada.refused('team_broadcast', { message: 'No.' })).toMatch(/mail\.broadcast/)
  await lead.works('team_send', { handle: 'ada', message: 'Eat.' })
  await lead.works('send_message', { handle: 'ada', message: 'Now.' })
  const { messages } = await ada.works('read_messages', { filter: 'unread', mark_read: true })
  expect(messages.map((each: Anything) => each.body).toSorted()).toEqual(['Eat.', 'Lunch.', 'Now.'])
  await ada.works('mail_send', { to: 'head', body: 'Full.', subject: 'Lunch' })
  expect((await lead.works('mail_read', { filter: 'all', mark_read: false })).messages.length).toBeGreaterThan(0)
  expect(await ada.works('team_handoff', { to: 'head', context: { file: 'stars.ts' } })).toMatchObject({
    now: expect.stringContaining('stars.ts'),
  })

  const item = await lead.works('workitem_create', { title: 'Polish the lens', assignedTo: 'ada' })
  const batch = await lead.works('batch_create', { name: 'Telescope', workitem_ids: [item.id] })
  await lead.works('batch_dispatch', { batch_id: batch.id, worker: 'ada' })
  expect((await ada.works('workitem_list', { filter: 'mine' })).workItems).toContainEqual(
    expect.objectContaining({ id: item.id, batchId: batch.id }),
  )
  expect(await ada.works('workitem_update', { workitem_id: item.id, status: 'completed' })).toMatchObject({
    status: 'completed',
  })
  expect(await ada.refused('worktree_push')).toMatch(/handed in no work|missions\.land/)
  expect(await ada.refused('worktree_pr', { title: 'x', body: 'y' })).toMatch(/handed in no work|missions\.land/)
  call('worktree_push', 'worktree_pr')

  const swarm = await lead.works('swarm_create', { name: 'night', description: 'At night', max_agents: 2 })
  expect((await ada.works('swarm_list', { include_agents: true })).swarms).toMatchObject([{ id: swarm.id }])
  const post = await ada.works('blackboard_post', {
    ...{ swarm_id: swarm.id, message_type: 'status', payload: { seen: 3 }, target_handle: 'head', priority: 'high' },
  })
  const board = { swarm_id: swarm.id, message_type: 'status', unread_only: true, priority: 'high', limit: 5 }
  expect((await lead.works('blackboard_read', board)).posts).toMatchObject([{ id: post.id }])
  await lead.works('blackboard_mark_read', { message_ids: [post.id] })
  await lead.works('blackboard_archive', { swarm_id: swarm.id, message_ids: [post.id] })
  const stands = { goal: 'Stars', now: 'Count on', test: 'npm test', done_this_session: [{ task: 'a', files: ['b'] }] }
  await ada.works('checkpoint_create', { ...stands, blockers: ['cloud'], questions: ['why?'], next: ['more'] })
  expect(await ada.works('checkpoint_load', { latest: true })).toMatchObject({ goal: 'Stars' })
  expect((await ada.works('checkpoint_list', { status: 'pending', limit: 5 })).checkpoints.length).toBeGreaterThan(0)

  const wanted = { agent_type: 'worker', task: 'Hold the lamp', priority: 'low', depends_on: [] }
  const asked = await ada.works('spawn_request', wanted)
  expect((await ada.works('spawn_status', { request_id: asked.id })).requests).toMatchObject([{ id: asked.id }])
  await ada.works('spawn_cancel', { request_id: asked.id })
  expect(await ada.refused('team_spawn', { handle: 'sneaky' })).toMatch(/teams\.manage/)
  const { path } = crew.scene.repo
  await lead.works('team_spawn', { handle: 'owl', prompt: 'do: echo hoo', workingDir: path })
  await lead.works('team_dismiss', { handle: 'owl' })
  await lead.works('swarm_kill', { swarm_id: swarm.id, graceful: true })
  expect(await ada.refused('team_complete', {})).toMatch(/task_id/)
  // It is refused, because nobody but the lead was in it.
  expect(await lead.refused('swarm_broadcast', { swarm_id: swarm.id, directive: 'Sleep.' })).toMatch(/Nobody|night/)
  call('swarm_broadcast')
})

test('fleet mcp takes the environment that people have, and speaks as the agent it names', async () => {
  const { PATH, HOME } = process.env as { PATH: string; HOME: string }
  const client = new Client({ name: 'test', version: '1' })
  onTestFinished(() => client.close())
  const env = {
    ...{ PATH, HOME, FLEET_HOME: join(crew.scene.fleet.root, 'elsewhere'), FLEET_TOKEN: crew.owner },
    ...{ CLAUDE_FLEET_URL: crew.url, CLAUDE_CODE_TEAM_NAME: 'crew' },
    ...{ CLAUDE_CODE_AGENT_NAME: 'theirs', CLAUDE_CODE_AGENT_TYPE: 'worker' },
  }
  await client.connect(
    new StdioClientTransport({ command: NODE, args: [join(ROOT, 'bin/fleet.js'), 'mcp'], env, stderr: 'ignore' }),
  )
  const ask = async (name: string, input: Record<string, unknown> = {}) => {
    const { content, isError } = await client.callTool({ name, arguments: input })
    return { isError: isError ?? false, text: (content as [{ text: string }])[0].text }
  }
  // The first call of all.
  expect(await ask('mail_send', { to: 'nobody', body: 'Hello.' })).toMatchObject({ isError: true })
  const status = await ask('team_status')
  expect(JSON.parse(status.text).members).toContainEqual(expect.objectContaining({ handle: 'theirs', role: 'worker' }))
  const denied = await ask('team_dismiss', { handle: 'ada' })
  expect(denied).toMatchObject({ isError: true, text: expect.stringMatching(/teams\.manage/) })
})

test('no tool of claude-fleet was forgotten', () => expect(forgotten()).toEqual([]))
