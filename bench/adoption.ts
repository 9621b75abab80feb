import { aFleet, eventually, type TestFleet } from '../test/kit/fleet.ts'
import { type Bench, median, ms, percentile, preciseNow } from './figure.ts'
import { repositories } from './repositories.ts'

const AGENTS = 20
const AT_MOST_MS = 1000

/** A server is killed while agents are running. Measures how long the next server takes to adopt all of them. */
export const adoption: Bench = async scale => {
  const [repository] = await repositories(1)
  const busy = await aFleet({ env: { FLEET_MAX_CONCURRENT: String(AGENTS) } })
  const idle = await aFleet()
  try {
    await Promise.all([busy.start(), idle.start()])
    const project = await busy.project(repository!.path)
    for (let i = 0; i < AGENTS; i++) await busy.mission(project, 'exec sleep 3600')
    await eventually(
      'every agent at work',
      async () => (await kinds(busy, undefined, 'session_running')).length === AGENTS,
    )
    const taken: number[] = []
    const empty: number[] = []
    for (let round = 0; round < scale.of(7, 3); round++) {
      empty.push(await restart(idle))
      taken.push(await adopted(busy))
    }
    return [
      {
        figure: `restart with ${AGENTS} live agents: all adopted`,
        measured: `${ms(median(taken))}, slowest ${ms(percentile(taken, 1))}`,
        floor: `${ms(median(empty))} (restart with none, until it answers)`,
        demanded: `≤ ${AT_MOST_MS} ms`,
        met: percentile(taken, 1) <= AT_MOST_MS,
      },
    ]
  } finally {
    await Promise.all([busy.remove(), idle.remove()])
    await repository!.remove()
  }
}

async function restart(fleet: TestFleet): Promise<number> {
  const killed = preciseNow()
  await fleet.kill()
  await fleet.start()
  return preciseNow() - killed
}

async function adopted(fleet: TestFleet): Promise<number> {
  const after = await fleet.fleet.store.tail()
  const killed = preciseNow()
  await restart(fleet)
  const times = await eventually('every agent adopted', async () => {
    const found = await kinds(fleet, after, 'adopted')
    return new Set(found.map(event => event.session_id)).size === AGENTS
      ? found.map(event => Date.parse(event.time))
      : undefined
  })
  return Math.max(...times) - killed
}

async function kinds(fleet: TestFleet, after: string | undefined, kind: string) {
  return (await fleet.fleet.store.events({ after, limit: 500 })).events.filter(event => event.kind === kind)
}
