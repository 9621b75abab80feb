import { existsSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, describe, expect, test } from 'vitest'
import { type RunningReactors, startReactors } from '../../src/daemon/reactors.ts'
import { LoopSettings } from '../../src/domain/records/loop.ts'
import { MissionSettings } from '../../src/domain/records/mission.ts'
import { ProjectSettings } from '../../src/domain/records/project.ts'
import { type Fleet, makeFleet } from '../../src/fleet/fleet.ts'
import { startLoop } from '../../src/fleet/loops/loops.ts'
import { createMission, requestUndo } from '../../src/fleet/missions/missions.ts'
import { createProject } from '../../src/fleet/projects/projects.ts'
import { aRepository, type TestRepository } from '../../src/git/testkit.ts'
import { openHome } from '../../src/platform/home.ts'
import { memoryKeys } from '../../src/platform/keys.ts'
import { openStore, type StoreSettings } from '../../src/store/index.ts'
import { aSchema, SHARED } from '../../src/store/postgres/schema.testkit.ts'
import { eventually } from '../kit/fleet.ts'
import { aPlanner, COMPLETE, planOf } from '../kit/planner.ts'

/** The same work on every engine. Code that relies on the behaviour of SQLite fails here. */
const ENGINES: Record<string, (file: string) => StoreSettings> = {
  sqlite: file => ({ engine: 'sqlite', file }),
  memory: () => ({ engine: 'memory' }),
  'hostile memory': () => ({ engine: 'memory', hostile: { seed: 7 } }),
  ...(SHARED && { postgresql: () => aSchema() }),
}

const ask = { operation: 'test', actor: 'person' }
let fleet: Fleet
let reactors: RunningReactors
let repo: TestRepository
let root: string
const faults: unknown[] = []

afterEach(async () => {
  await reactors.stop()
  await reactors.settled()
  await fleet.close()
  await repo.remove()
  rmSync(root, { recursive: true, force: true, maxRetries: 5 })
})

describe.each(Object.entries(ENGINES))('on the %s engine', (_name, settingsFor) => {
  async function aFleetOn(): Promise<void> {
    root = realpathSync(mkdtempSync(join(tmpdir(), 'flotilla-engine-')))
    const home = openHome(join(root, 'home'))
    repo = await aRepository()
    fleet = makeFleet({
      home,
      keys: memoryKeys(),
      store: await openStore(settingsFor(home.storeFile), { migrate: true }),
      environment: { ...process.env, FLEET_MAX_CONCURRENT: '3' },
    })
    await hold()
  }
  async function hold(): Promise<void> {
    reactors = await startReactors(fleet, {
      url: 'http://127.0.0.1:1',
      onFault: (what, error) => faults.push([what, error]),
    })
  }
  const project = () =>
    createProject(fleet, ask, {
      ...ProjectSettings.parse({ name: 'p', landing: 'auto' }),
      path: repo.path,
      checks: [{ name: 'files', command: 'test -f README.md', timeout_seconds: 60 }],
    })
  const mission = async (projectId: string, script: string, depends_on: string[] = []) =>
    (
      await createMission(
        fleet,
        ask,
        projectId,
        { ...MissionSettings.parse({ title: script, agent: 'shell', depends_on }), detailed_prompt: script },
        true,
      )
    ).value.id
  const until = (id: string, status: string) =>
    eventually(
      `${id} ${status}`,
      async () => {
        const { value } = (await fleet.store.get('missions', id))!
        return value.status === status ? value : undefined
      },
      async () => {
        const { events } = await fleet.store.events({ limit: 500 })
        return [...events.map(e => `${e.kind} ${e.mission_id ?? ''} ${e.cause ?? ''}`), ...faults.map(String)].join(
          '\n',
        )
      },
    )

  test('missions are dispatched in order, checked, landed and undone', async () => {
    await aFleetOn()
    const { value: p } = await project()
    const a = await mission(p.id, 'echo a > a.txt')
    const b = await mission(p.id, 'cat a.txt > b.txt', [a])
    const c = await mission(p.id, 'cat a.txt > c.txt', [a])
    const d = await mission(p.id, 'cat b.txt c.txt > d.txt', [b, c])
    await until(d, 'done')

    expect(await repo.readOn('main', 'd.txt')).toBe('a\na')
    await requestUndo(fleet, ask, d)
    await until(d, 'review')
    expect(await repo.filesOn('main')).toEqual(['README.md', 'a.txt', 'b.txt', 'c.txt'])
    expect(faults).toEqual([])
  })

  test('a goal is pursued in rounds until it is reached', async () => {
    await aFleetOn()
    const { value: p } = await project()
    const planner = aPlanner({ root, fleet })
    const script = 'echo x > x.txt'
    planner.says(
      'Nothing yet.',
      planOf({ key: 'x', script }, { key: 'y', script: 'cat x.txt > y.txt', after: ['x'] }),
      COMPLETE,
    )
    const { value } = await startLoop(
      fleet,
      ask,
      p.id,
      'Two files',
      LoopSettings.parse({ agent: 'planner', scripts: true }),
    )
    const loop = await eventually(
      'the end of the loop',
      async () => {
        const found = (await fleet.store.get('loops', value.id))!.value
        return found.ended_at ? found : undefined
      },
      async () => JSON.stringify([await fleet.store.get('loops', value.id), faults.map(String)]),
    )
    expect(loop).toMatchObject({ status: 'complete', rounds: [{ outcome: 'progress' }, { outcome: 'complete' }] })
    expect(await repo.filesOn('main')).toEqual(['README.md', 'x.txt', 'y.txt'])
    expect(planner.told()).toHaveLength(3)
    expect(faults).toEqual([])
  })

  test('a session goes on without its daemon and the next one adopts it', async () => {
    await aFleetOn()
    const { value: p } = await project()
    const [go, running] = [join(root, 'go'), join(root, 'running')]
    const id = await mission(p.id, `touch ${running}; while [ ! -e ${go} ]; do sleep 0.02; done; echo two > two.txt`)
    await eventually('the agent runs', () => existsSync(running))
    await reactors.stop()
    await hold()
    writeFileSync(go, '')

    const done = await until(id, 'done')
    expect(done).toMatchObject({ result: 'landed', sessions: 1, interruptions: 0 })
    expect(await repo.readOn('main', 'two.txt')).toBe('two')
    const kinds = (await fleet.store.events({ mission_id: id, limit: 100 })).events.map(event => event.kind)
    expect(kinds).toContain('adopted')
  })
})
