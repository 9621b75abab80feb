import { existsSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import type { Session } from '../../../src/domain/records/session.ts'
import { current, put } from '../../../src/fleet/records.ts'
import { markOf } from '../../../src/fleet/sessions/environment.ts'
import { ProcessTree } from '../../../src/runner/process-tree.ts'
import { identityOf, isAlive } from '../../../src/runner/processes.ts'
import { mcpClient } from '../../../src/server/mcp/client.testkit.ts'
import { eventually, type TestFleet } from '../../kit/fleet.ts'
import { aScene, type Gate } from '../../kit/scene.ts'

const ELSEWHERE = 'another-host'

const sessionOf = async ({ fleet }: TestFleet, id: string): Promise<Session> =>
  (await current(fleet, 'sessions', id)).value

/** Changes a session as if another machine had written it. */
async function change({ fleet }: TestFleet, id: string, with_: Partial<Session>): Promise<Session> {
  const { value, version } = await current(fleet, 'sessions', id)
  await fleet.commit('commit.session-noted', { changes: [put('sessions', { ...value, ...with_ }, version)] })
  return { ...value, ...with_ }
}

/** Waits until its agent is running and the server has stored that. */
const atWork = ({ fleet }: TestFleet, gate: Gate, session: () => Promise<string | null>): Promise<string> =>
  eventually('it runs', async () => {
    const id = await session()
    const isNoted = id && (await current(fleet, 'sessions', id)).value.status === 'running'
    return isNoted && gate.reached() ? id : undefined
  })

test('a new session says on which host it runs, and that it is its first', async () => {
  const { fleet, project } = await aScene()
  const { sessions } = await fleet.until((await fleet.mission(project, 'echo x > x.txt')).id, 'done')
  expect(sessions).toMatchObject([{ host: fleet.fleet.home.host, generation: 1, elsewhere: false }])
})

test('a session of another host that has not started is not started here', async () => {
  const { fleet, project, gate } = await aScene()
  const held = gate('elsewhere')
  const { id } = await fleet.mission(project, held.wait)
  const session = await atWork(fleet, held, async () => (await fleet.show(id)).session_id)
  await fleet.kill()
  await new ProcessTree({ mark: markOf(fleet.fleet, session), worktree: null }).stop(0)
  rmSync(fleet.fleet.home.session(session), { recursive: true, maxRetries: 10 })
  await change(fleet, session, { host: ELSEWHERE, status: 'starting', pid: null, process_started: null })

  await fleet.start()
  await fleet.until((await fleet.mission(project, 'echo x > x.txt')).id, 'done')
  expect(existsSync(fleet.fleet.home.session(session))).toBe(false)
  expect(await sessionOf(fleet, session)).toMatchObject({ host: ELSEWHERE, status: 'starting', stopping: null })
})

test('a session at work on another host is neither taken up nor stopped, and is said to be there', async () => {
  const { fleet, project, gate } = await aScene()
  const held = gate('elsewhere')
  const { id } = await fleet.mission(project, `${held.wait}; echo x > x.txt`)
  const session = await atWork(fleet, held, async () => (await fleet.show(id)).session_id)
  await fleet.kill()
  const before = await change(fleet, session, { host: ELSEWHERE })
  const agent = identityOf(before.pid!)!

  await fleet.start()
  await fleet.until((await fleet.mission(project, 'echo y > y.txt')).id, 'done')
  expect(await fleet.fleetCommand(['status'])).toMatchObject({ stdout: expect.stringContaining(ELSEWHERE) })
  expect((await fleet.show(id)).sessions).toMatchObject([{ host: ELSEWHERE, elsewhere: true }])

  await fleet.call('cancel_mission', { mission_id: id })
  await fleet.until((await fleet.mission(project, 'echo z > z.txt')).id, 'done')
  expect(await sessionOf(fleet, session)).toEqual(before)
  expect(isAlive(agent)).toBe(true)
  expect(existsSync(before.worktree!)).toBe(true)
})

test('what ran on a host that is gone is claimed: it goes on here in a new generation', async () => {
  const { fleet, project, gate } = await aScene()
  const held = gate('elsewhere')
  const { id } = await fleet.mission(project, `${held.wait}; echo x > x.txt`)
  const session = await atWork(fleet, held, async () => (await fleet.show(id)).session_id)
  await fleet.kill()
  await change(fleet, session, { host: ELSEWHERE })
  await fleet.start()

  expect(await fleet.fleetCommand(['host', 'claim', ELSEWHERE])).toMatchObject({ code: 0 })
  held.open()
  const { sessions } = await fleet.until(id, 'done')
  expect(sessions).toMatchObject([{ id: session, generation: 2, host: fleet.fleet.home.host, outcome: 'completed' }])
  expect(await fleet.fleetCommand(['host', 'claim', fleet.fleet.home.host])).toMatchObject({ code: 4 })
})

/** A mission whose agent prints its token. Its session is then given to another host. */
async function withToken({ stays }: { stays: boolean }) {
  const { fleet, project, gate } = await aScene()
  const held = gate('elsewhere')
  const file = join(fleet.root, 'its-token')
  const { id } = await fleet.mission(project, `printf %s "$FLEET_TOKEN" > '${file}'; ${held.wait}; echo x > x.txt`)
  const session = await atWork(fleet, held, async () => (await fleet.show(id)).session_id)
  const token = readFileSync(file, 'utf8')
  await fleet.kill()
  if (!stays) {
    await new ProcessTree({ mark: markOf(fleet.fleet, session), worktree: null }).stop(0)
    rmSync(fleet.fleet.home.session(session), { recursive: true, maxRetries: 10 })
  }
  await change(fleet, session, { host: ELSEWHERE })
  const { url } = await fleet.start()
  const overRest = async (token: string) =>
    (await fleet.http('/api/agent/mission', { headers: { authorization: `Bearer ${token}` } })).status
  const overMcp = async (token: string) => {
    const { client, close } = await mcpClient(`${url}/agent/mcp`, token)
    const { tools } = await client.listTools()
    await close()
    return tools.length > 0
  }
  return { fleet, id, session, token, file, held, overRest, overMcp }
}

test('the token of an agent that is started again after a claim shuts out the one before, over REST and MCP', async () => {
  const { fleet, id, session, token, file, held, overRest, overMcp } = await withToken({ stays: false })
  expect(await overRest(token)).toBe(200)
  expect(await overMcp(token)).toBe(true)
  expect(await fleet.fleetCommand(['host', 'claim', ELSEWHERE])).toMatchObject({ code: 0 })
  await eventually('it was started again', async () => (await sessionOf(fleet, session)).tokens_from === 2)
  const renewed = await eventually('another token', () => {
    const now = readFileSync(file, 'utf8')
    return now && now !== token ? now : undefined
  })
  expect(await overRest(token)).toBe(401)
  await expect(overMcp(token)).rejects.toThrow('claimed')
  const text = `session.${session}`
  expect(await overRest(`${text}.${await fleet.fleet.keys.sign(text)}`)).toBe(401)
  expect(await overRest(renewed)).toBe(200)
  expect(await overMcp(renewed)).toBe(true)
  held.open()
  await fleet.until(id, 'done')
  expect(await overRest(renewed)).toBe(401)
})

test('an agent that a claim finds at work here keeps its token; so does one that an earlier version started', async () => {
  const { fleet, id, session, token, held, overRest, overMcp } = await withToken({ stays: true })
  // An earlier version did not store this.
  await change(fleet, session, { tokens_from: 0 })
  const text = `session.${session}`
  const ofEarlierVersion = `${text}.${await fleet.fleet.keys.sign(text)}`
  expect(await fleet.fleetCommand(['host', 'claim', ELSEWHERE])).toMatchObject({ code: 0 })
  await eventually('it is adopted', async () => (await fleet.events()).some(({ kind }) => kind === 'adopted'))
  for (const each of [token, ofEarlierVersion]) {
    expect(await overRest(each)).toBe(200)
    expect(await overMcp(each)).toBe(true)
  }
  held.open()
  await fleet.until(id, 'done')
  for (const each of [token, ofEarlierVersion]) expect(await overRest(each)).toBe(401)
})

test('a server whose session was claimed by another host ends its agent and writes nothing more', async () => {
  const { fleet, project, gate } = await aScene()
  const held = gate('claimed')
  const { id } = await fleet.mission(project, `${held.wait}; echo x > x.txt`)
  const session = await atWork(fleet, held, async () => (await fleet.show(id)).session_id)
  const agent = identityOf((await sessionOf(fleet, session)).pid!)!
  const claimed = await change(fleet, session, { host: ELSEWHERE, generation: 2 })
  // The agent ends by itself, and the server would store its end.
  held.open()
  await eventually('nothing of it lives', () => !isAlive(agent) && fleet.processes(session).length === 0)
  await fleet.until((await fleet.mission(project, 'echo y > y.txt')).id, 'done')
  expect(await sessionOf(fleet, session)).toEqual(claimed)
  expect((await fleet.show(id)).status).toBe('running')
})

test('a session that was claimed while its agent works is let go of at once', async () => {
  const { fleet, project, gate } = await aScene()
  const held = gate('claimed')
  const { id } = await fleet.mission(project, held.wait)
  const session = await atWork(fleet, held, async () => (await fleet.show(id)).session_id)
  const { value, version } = await current(fleet.fleet, 'sessions', session)
  const claimed = { ...value, host: ELSEWHERE, generation: 2 }
  const event = {
    ...{ kind: 'session_claimed' as const, time: fleet.fleet.now(), actor: 'person', data: {} },
    ...{ session_id: session, mission_id: id, project_id: project.id },
  }
  await fleet.fleet.commit('commit.wish', { changes: [put('sessions', claimed, version)], events: [event] })
  await eventually('nothing of it lives', () => fleet.processes(session).length === 0)
  expect(await sessionOf(fleet, session)).toEqual(claimed)
})

test('a preview of another host is left alone', async () => {
  const { fleet, project } = await aScene({ project: { preview_command: 'sleep 600', landing: 'review' } })
  const { id } = await fleet.mission(project, 'echo x > x.txt')
  await fleet.until(id, 'review')
  await fleet.kill()
  await fleet.call('start_preview', { mission_id: id })
  const [found] = (await fleet.fleet.store.find('processes', { index: 'live', limit: 1 })).items
  const there = { ...found!.value, host: ELSEWHERE }
  await fleet.fleet.commit('commit.side-process', { changes: [put('processes', there, found!.version)] })

  await fleet.start()
  await fleet.until((await fleet.mission(project, 'echo y > y.txt')).id, 'review')
  expect((await current(fleet.fleet, 'processes', there.id)).value).toEqual(there)
})
