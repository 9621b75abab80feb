import { join } from 'node:path'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js'
import { ElicitRequestSchema } from '@modelcontextprotocol/sdk/types.js'
import { expect, onTestFinished, test } from 'vitest'
import { mcpClient } from '../../../src/server/mcp/client.testkit.ts'
import { NODE, ROOT } from '../../kit/fleet.ts'
import { aScene } from '../../kit/scene.ts'

const FLEET = `'${NODE}' '${join(ROOT, 'bin/fleet.js')}'`
/** Asks twice through ask_human, and writes the answers to a file. */
const ASKS = ['Which colour?', 'Which size?']
  .map(question => `${FLEET} call ask_human '${JSON.stringify({ question })}' >> told.json`)
  .join('; ')

type Form = { message: string; requestedSchema: { properties: object } }

async function clientBy(by: 'streamable' | 'sse' | 'stdio', url: string, token: string, home: string) {
  if (by !== 'stdio')
    return (await mcpClient(by === 'sse' ? `${url}/mcp/sse` : `${url}/mcp`, token, by, { elicitation: {} })).client
  const client = new Client({ name: 'test', version: '1' }, { capabilities: { elicitation: {} } })
  const { PATH, HOME } = process.env as { PATH: string; HOME: string }
  const env = { PATH, HOME, FLEET_HOME: home }
  const args = [join(ROOT, 'bin/fleet.js'), 'mcp']
  await client.connect(new StdioClientTransport({ command: NODE, args, env, stderr: 'ignore' }))
  return client
}

test.each(['streamable', 'sse', 'stdio'] as const)(
  'the person at a client that waits is shown what the agent asks, and their answers reach it: %s',
  async by => {
    const { fleet, repo, project } = await aScene({ start: false })
    const { url } = await fleet.start()
    const token = await fleet.fleet.keys.ownerToken()
    const client = await clientBy(by, url, token, fleet.fleet.home.path)
    onTestFinished(() => client.close())
    const shown: string[] = []
    client.setRequestHandler(ElicitRequestSchema, ({ params }) => {
      shown.push((params as Form).message)
      return { action: 'accept' as const, content: { text: `answer ${shown.length}` } }
    })
    const { id } = await fleet.mission(project, ASKS)
    const { content } = await client.callTool({ name: 'wait_for_mission', arguments: { mission_id: id } })
    expect(JSON.parse((content as [{ text: string }])[0].text)).toMatchObject({ answer: 'over', status: 'done' })
    expect(shown).toEqual(['"a mission" asks: Which colour?', '"a mission" asks: Which size?'])
    const told = await repo.readOn('main', 'told.json')
    expect([...told.matchAll(/"answer": "(.*?)"/g)].map(([, answer]) => answer)).toEqual(['answer 1', 'answer 2'])
  },
)

test('who declines, or has a client without forms, is told that a person is needed; a form that is late is taken back', async () => {
  const { fleet, project } = await aScene({ start: false })
  const { url } = await fleet.start()
  const { id } = await fleet.mission(project, ASKS)
  await fleet.until(id, 'needs_input')
  const wait = async (client: Client, timeout_seconds = 30) => {
    const { content } = await client.callTool({
      name: 'wait_for_mission',
      arguments: { mission_id: id, timeout_seconds },
    })
    return JSON.parse((content as [{ text: string }])[0].text).answer
  }
  const plain = await mcpClient(`${url}/mcp`, await fleet.fleet.keys.ownerToken())
  onTestFinished(() => plain.close())
  expect(await wait(plain.client)).toBe('needs_person')

  const { client, close } = await mcpClient(`${url}/mcp`, await fleet.fleet.keys.ownerToken(), 'streamable', {
    elicitation: {},
  })
  onTestFinished(close)
  client.setRequestHandler(ElicitRequestSchema, () => ({ action: 'decline' as const }))
  expect(await wait(client)).toBe('needs_person')

  const cancelled = Promise.withResolvers<void>()
  client.setRequestHandler(ElicitRequestSchema, (_, { signal }) => {
    signal.addEventListener('abort', () => cancelled.resolve())
    return new Promise(() => {})
  })
  expect(await wait(client, 1)).toBe('needs_person')
  await cancelled.promise
  const { questions } = await fleet.call<{ questions: { status: string }[] }>('get_mission_notes', { mission_id: id })
  expect(questions.map(({ status }) => status)).toEqual(['open'])
  await fleet.call('cancel_mission', { mission_id: id })
})

test('a form whose question is answered elsewhere is taken back, and the waiting goes on', async () => {
  const { fleet, project } = await aScene({ start: false })
  const { url } = await fleet.start()
  const { client, close } = await mcpClient(`${url}/mcp`, await fleet.fleet.keys.ownerToken(), 'streamable', {
    elicitation: {},
  })
  onTestFinished(close)
  let shown = 0
  let takenBack = 0
  client.setRequestHandler(ElicitRequestSchema, (_, { signal }) => {
    shown++
    signal.addEventListener('abort', () => takenBack++)
    fleet.fleetCommand(['answer', id, `elsewhere ${shown}`])
    return new Promise(() => {})
  })
  const { id } = await fleet.mission(project, ASKS)
  const { content } = await client.callTool({
    name: 'wait_for_mission',
    arguments: { mission_id: id, timeout_seconds: 50 },
  })
  expect(JSON.parse((content as [{ text: string }])[0].text)).toMatchObject({ answer: 'over', status: 'done' })
  expect([shown, takenBack]).toEqual([2, 2])
})
