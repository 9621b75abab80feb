import { existsSync, mkdtempSync, realpathSync, writeFileSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import { type RunningReactors, startReactors } from '../../src/daemon/reactors.ts'
import { newId } from '../../src/domain/ids.ts'
import type { Mission } from '../../src/domain/records/mission.ts'
import { type Fleet, makeFleet, served } from '../../src/fleet/fleet.ts'
import { aRepository, type TestRepository } from '../../src/git/testkit.ts'
import { askOf } from '../../src/operations/ask.ts'
import { openHome } from '../../src/platform/home.ts'
import { memoryKeys } from '../../src/platform/keys.ts'
import { startServer } from '../../src/server/index.ts'
import { openStore, type StoreSettings, takeLease, Unavailable } from '../../src/store/index.ts'
import { eventually, ROOT } from './fleet.ts'

export interface Stage {
  root: string
  fleet: Fleet
  repo: TestRepository
  project: { id: string }
  /** Faults that are not the store's silence. */
  faults: string[]
  call<T = { id: string }>(operation: string, input?: object): Promise<T>
  mission(script: string, settings?: object): Promise<string>
  read(id: string): Promise<Mission>
  until(id: string, ...statuses: string[]): Promise<Mission>
  /** Another daemon: what the last one began goes on, and `meanwhile` nobody acts. */
  restart(meanwhile?: () => Promise<unknown>): Promise<void>
  gate(name: string): { wait: string; file: string; reached(): boolean; open(): void }
}

/** A daemon in this process, on any engine: the stories of a real server are played on it. */
export async function aStage(settings: StoreSettings, env: Record<string, string> = {}): Promise<Stage> {
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'flotilla-stage-')))
  const repo = await aRepository()
  const { PATH = '', LANG = 'C.UTF-8' } = process.env
  const environment = {
    PATH: `${join(ROOT, 'node_modules/node/bin')}:${PATH}`,
    ...{ LANG, HOME: root, FLEET_STOP_GRACE: '1', ...env },
  }
  const store = await openStore(settings, { migrate: true })
  const made = makeFleet({ home: openHome(join(root, 'home')), keys: memoryKeys(), store, environment })
  const lease = await takeLease(store, made.now())
  const fleet = served(made, lease)
  const faults: string[] = []
  const onFault = (what: string, error: unknown) => {
    if (!(error instanceof Unavailable)) faults.push(`${what}: ${error instanceof Error ? error.stack : error}`)
  }
  const server = await startServer(fleet, { port: 0, say: line => faults.push(line) })
  faults.length = 0
  const begin = () => startReactors(fleet.daemon!, { url: server.url, onFault, lease })
  let reactors: RunningReactors = await begin()
  const restart = async (meanwhile?: () => Promise<unknown>) => {
    await reactors.stop()
    await reactors.settled()
    await meanwhile?.()
    reactors = await untilAnswered(begin)
  }
  onTestFinished(async () => {
    await reactors.stop()
    await reactors.settled()
    await server.close()
    await fleet.close()
    await repo.remove()
    await rm(root, { recursive: true, force: true, maxRetries: 5 })
  })
  const signal = new AbortController().signal
  const call = <T>(operation: string, input: object = {}): Promise<T> =>
    askOf(fleet, { caller: { kind: 'owner' }, signal, key: newId() })(operation, input)
  const read = async (id: string) => (await store.get('missions', id))!.value
  const project = await call<{ id: string }>('create_project', { name: 'p', path: repo.path, landing: 'auto' })
  return {
    ...{ root, fleet, repo, project, faults, call, read, restart },
    mission: async (script, settings = {}) => {
      const asked = { project_id: project.id, title: 'a mission', detailed_prompt: script, auto_dispatch: true }
      return (await call<{ id: string }>('create_mission', { agent: 'shell', ...asked, ...settings })).id
    },
    until: (id, ...statuses) =>
      eventually(
        `mission ${id} ${statuses.join(' or ')}`,
        async () => {
          const mission = await read(id)
          return statuses.includes(mission.status) ? mission : undefined
        },
        async () => {
          const { events } = await store.events({ limit: 500 })
          const told = events.map(({ kind, mission_id, cause }) => `${kind} ${mission_id} ${cause ?? ''}`)
          return [JSON.stringify((await read(id)).status_reason), ...told, ...faults].join('\n')
        },
      ),
    gate: name => {
      const [here, file] = [join(root, `${name}.here`), join(root, name)]
      return {
        file,
        wait: `: > '${here}'; until [ -e '${file}' ]; do sleep 0.02; done`,
        reached: () => existsSync(here),
        open: () => writeFileSync(file, ''),
      }
    },
  }
}

/** As a server that begins to decide does. */
async function untilAnswered<T>(act: () => Promise<T>): Promise<T> {
  for (;;)
    try {
      return await act()
    } catch (error) {
      if (!(error instanceof Unavailable)) throw error
    }
}
