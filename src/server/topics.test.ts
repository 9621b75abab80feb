import { expect, onTestFinished, test } from 'vitest'
import { newId } from '../domain/ids.ts'
import type { NewEvent } from '../domain/records/event.ts'
import type { Fleet } from '../fleet/fleet.ts'
import { current, put } from '../fleet/records.ts'
import { OPERATIONS, operationNamed } from '../operations/index.ts'
import { aBrowser } from './browser.testkit.ts'
import { aServer, type Running } from './server.testkit.ts'
import type { SocketLimits } from './socket-limits.ts'
import { aReader, type Reader } from './topics.testkit.ts'

type World = Running & { url: string; owner: string; reader(): Reader }

async function aWorld(socketLimits: Partial<SocketLimits> = {}): Promise<World> {
  const running = await aServer(OPERATIONS, { socketLimits })
  const owner = await running.fleet.keys.ownerToken()
  const { url } = running.server
  return { ...running, url, owner, reader: () => aReader(url, { token: owner }) }
}

const happens = (fleet: Fleet, ...events: Partial<NewEvent>[]) =>
  fleet.store.commit({
    changes: [],
    events: events.map(each => ({ kind: 'commented', time: fleet.now(), actor: 'person', ...each })),
  })

async function aMission({ ask }: World): Promise<{ id: string; project_id: string }> {
  const project = await ask('POST', '/api/projects', { body: { name: `p-${newId()}` } })
  expect(project.status, project.text).toBe(200)
  const mission = await ask('POST', '/api/missions', {
    body: { project_id: project.json.id, title: 'a mission', prompt: 'true', agent: 'shell' },
  })
  expect(mission.status, mission.text).toBe(200)
  return mission.json
}

test('topics bring their events with cursors, and a cursor continues behind it', async () => {
  const world = await aWorld()
  const { fleet } = world
  const mission = await aMission(world)
  const names = [`mission:${mission.id.slice(0, 8)}`, `project:${mission.project_id}`, 'fleet']
  const reader = world.reader()
  reader.say({ type: 'subscribe', id: 7, topics: names })
  const whole = [`mission:${mission.id}`, `project:${mission.project_id}`, 'fleet']
  const { id, topics } = await reader.hears({ type: 'subscribed' })
  expect([id, topics]).toEqual([7, whole.map(topic => ({ topic, cursor: expect.any(String) }))])

  const about = { project_id: mission.project_id, mission_id: mission.id }
  await happens(fleet, { ...about, cause: 'all three' }, { cause: 'the fleet only' })
  for (const topic of whole) {
    const event = await reader.hears({ type: 'event', topic, kind: 'commented' })
    expect(event).toMatchObject({ data: { ...about, cause: 'all three', cursor: event.cursor } })
  }
  const last = await reader.hears({ topic: 'fleet', data: { cause: 'the fleet only' } })
  expect(reader.heard).toHaveLength(5)

  // A second reader continues behind the first event, and the end is the same.
  const second = world.reader()
  second.say({ type: 'subscribe', topics: ['fleet'], after: topics[2].cursor })
  await second.hears({ data: { cause: 'all three' } })
  expect(await second.hears({ type: 'event' })).toEqual(last)

  reader.say({ type: 'unsubscribe', id: 'x', topics: [names[0], 'fleet', 'project:unknown'] })
  expect(await reader.hears({ type: 'unsubscribed' })).toMatchObject({ id: 'x', topics: [whole[0], 'fleet'] })
  await happens(fleet, { ...about, cause: 'later' })
  await reader.hears({ topic: whole[1], data: { cause: 'later' } })
  reader.say({ type: 'ping', id: 8 })
  expect(await reader.hears({ type: 'pong', id: 8 })).toEqual({
    type: 'pong',
    id: 8,
    cursors: { [whole[1]!]: await fleet.store.tail() },
  })
  expect(reader.heard.filter(({ data }) => data?.cause === 'later')).toHaveLength(1)
})

test('a team has a topic of its own', async () => {
  const world = await aWorld()
  const mission = await aMission(world)
  const team = await world.ask('POST', '/api/teams', { body: { project_id: mission.project_id, name: 'crew' } })
  const reader = world.reader()
  reader.say({ type: 'subscribe', topics: [`team:${team.json.id.slice(0, 8)}`] })
  const topic = `team:${team.json.id}`
  await reader.hears({ type: 'subscribed', topics: { 0: { topic } } })
  await happens(world.fleet, { project_id: mission.project_id, mission_id: mission.id, cause: 'not of the team' })
  await world.ask('PUT', `/api/teams/${team.json.id}`, { body: { paused: true } })
  const event = await reader.hears({ type: 'event' })
  expect(event).toMatchObject({ topic, kind: 'team_changed', data: { data: { team: team.json.id } } })
})

test('a topic that is unknown, or a cursor that is none, is refused in words, and the connection stays', async () => {
  const { reader: make } = await aWorld()
  const reader = make()
  for (const [topic, code] of [
    ['team:one', 'not_found'],
    ['member:one', 'not_found'],
    ['host:one', 'not_found'],
    ['nonsense', 'not_found'],
    ['project:', 'not_found'],
    ['mission:nobody', 'not_found'],
  ] as const) {
    reader.say({ type: 'subscribe', id: topic, topics: [topic] })
    expect(await reader.hears({ type: 'refused', id: topic })).toMatchObject({
      topic,
      code,
      message: expect.any(String),
    })
  }
  for (const topic of ['fleet', 'claude-fleet'])
    for (const after of ['what?', 'x'.repeat(20_000)]) {
      reader.say({ type: 'subscribe', topics: [topic], after })
      expect(await reader.hears({ type: 'refused', topic })).toMatchObject({ code: 'invalid_input' })
    }
  reader.say({ type: 'subscribe', topics: ['fleet'] })
  await reader.hears({ type: 'subscribed' })
})

test('events that the store dropped are said, and what it kept follows', async () => {
  const { fleet, reader: make } = await aWorld()
  await happens(fleet, { cause: 'old' })
  const before = await fleet.store.tail()
  for (let n = 0; n < 5; n++) await happens(fleet, { cause: `number ${n}` })
  await fleet.store.trimEvents(2)
  const reader = make()
  reader.say({ type: 'subscribe', topics: ['fleet'], after: before })
  await reader.hears({ type: 'event', data: { cause: 'number 4' } })
  expect(reader.heard).toMatchObject([
    { type: 'subscribed' },
    { type: 'gap', topic: 'fleet', reason: 'reset', cursor: before },
    { data: { cause: 'number 3' } },
    { data: { cause: 'number 4' } },
  ])
})

test('without a credential, from elsewhere, or with a token in the address, nobody comes in', async () => {
  const { url, owner, ask } = await aWorld()
  const ticket = async () => (await ask('POST', '/api/live', { body: {} })).json.ticket as string
  expect(await aReader(url).over).toBe(401)
  expect(await aReader(url, { token: 'x'.repeat(43) }).over).toBe(401)
  expect(await aReader(url, { headers: { authorization: 'Basic b3duZXI6eA==' } }).over).toBe(401)
  expect(await aReader(url, { headers: { cookie: `fleet=${owner}` } }).over).toBe(401)
  expect(await aReader(url, { headers: { cookie: `fleet=${owner}` }, origin: url }).over).toBe(401)
  expect(await aReader(url, { token: owner, origin: 'https://evil.example' }).over).toBe(403)
  expect(await aReader(url, { token: owner, origin: 'null' }).over).toBe(403)
  expect(await aReader(url, { token: owner, headers: { host: 'evil.example' } }).over).toBe(403)
  expect(await aReader(url, { token: owner, headers: { 'sec-fetch-site': 'cross-site' } }).over).toBe(403)
  expect(await aReader(url, { path: `/ws?token=${owner}`, origin: url }).over).toBe(404)
  expect(await aReader(url, { path: `/ws?token=${owner}`, token: owner }).over).toBe(404)
  expect(await aReader(url, { ticket: await ticket() }).over).toBe(403)
  expect(await aReader(url, { ticket: await ticket(), origin: 'https://evil.example' }).over).toBe(403)
  expect(await aReader(url, { ticket: 'x'.repeat(43), origin: url }).over).toBe(401)
})

test('a ticket opens one connection, as whoever asked for it, and ends with their sign-in', async () => {
  const { url, owner, ask } = await aWorld()
  const { browser } = await aBrowser(url, owner)
  const ticket = async () => (await browser.ask('POST', '/api/live', { body: {} })).json.ticket as string
  const first = await ticket()
  const page = aReader(url, { ticket: first, origin: url })
  page.say({ type: 'subscribe', topics: ['fleet'] })
  await page.hears({ type: 'subscribed' })
  expect(await aReader(url, { ticket: first, origin: url }).over).toBe(401)

  const other = aReader(url, { token: owner })
  other.say({ type: 'subscribe', topics: ['fleet'] })
  await other.hears({ type: 'subscribed' })
  const unused = await ticket()
  const since = performance.now()
  expect((await ask('DELETE', `/api/devices/${browser.device}`)).status).toBe(200)
  expect(await page.over).toBe(4401)
  expect(performance.now() - since).toBeLessThan(1000)
  expect(page.heard.at(-1)).toMatchObject({ type: 'refused', code: 'unauthorized' })
  expect(await aReader(url, { ticket: unused, origin: url }).over).toBe(401)
  // Others keep theirs.
  await other.hears({ type: 'event', kind: 'device_signed_out' })
})

test('the token of a session follows its own session and nothing else, until that has ended', async () => {
  const { url, fleet, session, ask } = await aWorld()
  const token = await session('running')
  expect((await ask('POST', '/api/live', { token, body: {} })).status).toBe(403)
  const agent = aReader(url, { token })
  const foreign = [
    'fleet',
    'claude-fleet',
    'project:project-of-it',
    'mission:mission-of-it',
    'session:other',
    'session:s',
  ]
  for (const topic of foreign) {
    agent.say({ type: 'subscribe', topics: [topic] })
    expect(await agent.hears({ type: 'refused', topic })).toMatchObject({ code: 'forbidden' })
  }
  agent.say({ type: 'subscribe', topics: ['session:session-running'] })
  await agent.hears({ type: 'subscribed', topics: { 0: { topic: 'session:session-running', cursor: null } } })
  const { value, version } = await current(fleet, 'sessions', 'session-running')
  await fleet.store.commit({ changes: [put('sessions', { ...value, status: 'ended' }, version)] })
  expect(await agent.over).toBe(4401)
  expect(await aReader(url, { token }).over).toBe(401)
})

test('a topic that one may no longer follow closes the connection within a second', async () => {
  const { url, fleet, session } = await aWorld()
  const operation = operationNamed('stream_session')!
  const { agentMay } = operation
  onTestFinished(() => {
    operation.agentMay = agentMay
  })
  const agent = aReader(url, { token: await session('running') })
  agent.say({ type: 'subscribe', topics: ['session:session-running'] })
  await agent.hears({ type: 'subscribed' })
  operation.agentMay = () => false
  const since = performance.now()
  await happens(fleet, {})
  expect(await agent.over).toBe(4403)
  expect(performance.now() - since).toBeLessThan(1000)
  expect(agent.heard.at(-1)).toMatchObject({ type: 'refused', topic: 'session:session-running', code: 'forbidden' })
})

test('a server that stops says so', async () => {
  const world = await aWorld()
  const reader = world.reader()
  reader.say({ type: 'subscribe', topics: ['fleet'] })
  await reader.hears({ type: 'subscribed' })
  await world.server.close()
  expect(await reader.over).toBe(1001)
})

test('a sign-in that ends by itself ends its connections', async () => {
  const { url, owner, fleet } = await aWorld({ pingMs: 100 })
  const { browser } = await aBrowser(url, owner)
  const { json } = await browser.ask('POST', '/api/live', { body: {} })
  const page = aReader(url, { ticket: json.ticket, origin: url })
  page.say({ type: 'subscribe', topics: ['fleet'] })
  await page.hears({ type: 'subscribed' })
  const { now } = fleet
  fleet.now = () => new Date(Date.now() + 31 * 24 * 3600_000).toISOString()
  onTestFinished(() => {
    fleet.now = now
  })
  expect(await page.over).toBe(4401)
})
