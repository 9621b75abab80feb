import { existsSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, describe, expect, test } from 'vitest'
import { type RunningReactors, startReactors } from '../../src/daemon/reactors.ts'
import { MissionSettings } from '../../src/domain/records/mission.ts'
import { ProjectSettings } from '../../src/domain/records/project.ts'
import { asDaemon, type Fleet, makeFleet } from '../../src/fleet/fleet.ts'
import { createMission } from '../../src/fleet/missions/missions.ts'
import { createProject } from '../../src/fleet/projects/projects.ts'
import { aRepository, type TestRepository } from '../../src/git/testkit.ts'
import { openHome } from '../../src/platform/home.ts'
import { memoryKeys } from '../../src/platform/keys.ts'
import { type Lease, LeaseLost, openStore, type StoreSettings, takeLease } from '../../src/store/index.ts'
import { aSchema, SHARED } from '../../src/store/postgres/schema.testkit.ts'
import { eventually } from '../kit/fleet.ts'
import { aScene } from '../kit/scene.ts'

const ENGINES: Record<string, (file: string) => StoreSettings> = {
  sqlite: file => ({ engine: 'sqlite', file }),
  memory: () => ({ engine: 'memory' }),
  'hostile memory': () => ({ engine: 'memory', hostile: { seed: 11 } }),
  ...(SHARED && { postgresql: () => aSchema() }),
}
const ask = { operation: 'test', actor: 'person' }

let fleet: Fleet
let repo: TestRepository
let root: string
const daemons: Daemon[] = []
interface Daemon {
  lease: Lease
  reactors: RunningReactors
  faults: unknown[]
}

afterEach(async () => {
  if (!daemons.length) return
  for (const { reactors } of daemons.splice(0)) {
    await reactors.stop()
    await reactors.settled()
  }
  await fleet.close()
  await repo.remove()
  rmSync(root, { recursive: true, force: true, maxRetries: 5 })
})

describe.each(Object.entries(ENGINES))('on the %s engine', (_name, settingsFor) => {
  async function aHome(): Promise<string> {
    root = realpathSync(mkdtempSync(join(tmpdir(), 'flotilla-fence-')))
    const home = openHome(join(root, 'home'))
    repo = await aRepository()
    const store = await openStore(settingsFor(home.storeFile), { migrate: true })
    fleet = makeFleet({ home, keys: memoryKeys(), store, environment: { ...process.env } })
    const settings = ProjectSettings.parse({ name: 'p', landing: 'auto' })
    return (await createProject(fleet, ask, { ...settings, path: repo.path, checks: [] })).value.id
  }
  async function decide(lease: Lease): Promise<Daemon> {
    const faults: unknown[] = []
    const onFault = (_what: string, error: unknown) => faults.push(error)
    const reactors = await startReactors(asDaemon(fleet, lease), { url: 'http://127.0.0.1:1', onFault, lease })
    daemons.push({ lease, reactors, faults })
    return daemons.at(-1)!
  }
  const mission = async (projectId: string, script: string) => {
    const settings = MissionSettings.parse({ title: script, agent: 'shell' })
    return (await createMission(fleet, ask, projectId, { ...settings, detailed_prompt: script }, true)).value.id
  }
  const read = async (id: string) => (await fleet.store.get('missions', id))!.value
  const until = (id: string, status: string) =>
    eventually(`${id} ${status}`, async () => (await read(id)).status === status)

  test('a daemon that was replaced writes nothing more, whatever it is at, and stops', async () => {
    const project = await aHome()
    const first = await decide(await takeLease(fleet.store, fleet.now()))
    const [go, running] = [join(root, 'go'), join(root, 'running')]
    const work = await mission(
      project,
      `touch ${running}; while [ ! -e ${go} ]; do sleep 0.02; done; echo two > two.txt`,
    )
    await eventually('the agent runs', () => existsSync(running))
    await until(work, 'running')

    // Without its knowledge, as if it had been suspended for longer than its lease.
    const lease = await takeLease(fleet.store, fleet.now())
    expect(lease.epoch).toBe(first.lease.epoch + 1)
    const tail = await fleet.store.tail()
    writeFileSync(go, '')
    const asked = await mission(project, 'echo asked > asked.txt')
    await eventually('it has noticed', () => first.lease.lost.aborted)
    await first.reactors.settled()
    expect(first.faults).toEqual([expect.any(LeaseLost)])

    // Since then only requests were written. The work is unchanged, and the requests wait for the next daemon.
    const { events } = await fleet.store.events({ after: tail, limit: 100 })
    expect(new Set(events.map(event => event.actor))).toEqual(new Set(['person']))
    expect(new Set(events.map(event => event.mission_id))).toEqual(new Set([asked]))
    expect((await read(work)).status).toBe('running')
    expect((await read(asked)).status).toBe('queued')

    await decide(lease)
    await until(work, 'done')
    await until(asked, 'done')
    expect(await read(work)).toMatchObject({ result: 'landed', sessions: 1, interruptions: 0 })
    expect(await repo.filesOn('main')).toEqual(['README.md', 'asked.txt', 'two.txt'])
    expect(lease.lost.aborted).toBe(false)
  })
})

test('what a server does itself is refused from the moment in which another takes its lease', async () => {
  const { fleet: home, project } = await aScene()
  const draft = () =>
    home.call<{ id: string }>('create_mission', { project_id: project.id, title: 't', detailed_prompt: 'true' })
  const [one, other] = [await draft(), await draft()]
  const remove = (id: string) => home.http(`/api/missions/${id}`, { method: 'DELETE' })
  expect((await remove(other.id)).status).toBe(200)

  const lease = await takeLease(home.fleet.store, home.fleet.now())
  const refused = await remove(one.id)
  expect(await refused.json()).toMatchObject({ error: { message: expect.stringContaining('Another process decides') } })
  expect(refused.ok).toBe(false)
  expect((await home.fleet.store.get('missions', one.id))?.value).toMatchObject({ deleting: false })
  // A command without the lease does not act as the daemon, and neither does a wish.
  const renamed = await home.http(`/api/missions/${one.id}`, { method: 'PUT', body: JSON.stringify({ title: 'u' }) })
  expect(renamed.status).toBe(200)
  await home.call('delete_mission', { mission_id: one.id })
  expect(await home.fleet.store.get('missions', one.id)).toBeUndefined()
  expect(lease.lost.aborted).toBe(false)
})

test('a server whose lease was taken goes on answering, decides nothing, and says so', async () => {
  const { fleet: home, project } = await aScene()
  await takeLease(home.fleet.store, home.fleet.now())
  const tail = await home.fleet.store.tail()
  const title = 'asked of the server'
  const asked = await home.http('/api/missions', {
    method: 'POST',
    body: JSON.stringify({
      project_id: project.id,
      title,
      agent: 'shell',
      detailed_prompt: 'true',
      auto_dispatch: true,
    }),
  })
  expect(asked.ok).toBe(true)
  const log = () => readFileSync(join(home.fleet.home.logs, 'server.log'), 'utf8')
  await eventually('it has noticed', () => log().includes('Another process decides for this home now'))
  const { events } = await home.fleet.store.events({ after: tail, limit: 100 })
  expect(new Set(events.map(event => event.actor))).toEqual(new Set(['person']))
  const { missions } = (await (await home.http('/api/missions')).json()) as { missions: object[] }
  expect(missions).toMatchObject([{ title, status: 'queued' }])
})

test('a server whose lease was taken removes no files and writes no settings', async () => {
  const { fleet: home, project } = await aScene({ project: { landing: 'never' } })
  const { id } = await home.mission(project, 'echo a > a.txt')
  await home.until(id, 'done')
  const { worktree } = (await home.show(id)).sessions[0]!
  await takeLease(home.fleet.store, home.fleet.now())
  const asked = [
    await home.http('/api/clean', { method: 'POST', body: '{}' }),
    await home.http('/api/settings', { method: 'PUT', body: JSON.stringify({ settings: { max_concurrent: '7' } }) }),
  ]
  for (const answer of asked) {
    const { error } = (await answer.json()) as { error?: { message: string } }
    expect(error?.message).toContain('Another process decides for this home now')
  }
  expect(existsSync(worktree!)).toBe(true)
  expect(existsSync(join(home.fleet.home.path, 'fleet.toml'))).toBe(false)
})
