import { type ChildProcess, spawn } from 'node:child_process'
import { setTimeout as pause } from 'node:timers/promises'
import { aFleet, eventually, NODE, type TestFleet } from '../test/kit/fleet.ts'
import type { Bench, Row, Scale } from './figure.ts'
import { cpuSeconds, memory, serverProcesses, sharedOut, sum } from './processes.ts'
import { repositories } from './repositories.ts'

const AGENTS = 4
const MOST_MIB = 90
const BARE = `require('node:http').createServer((_, answer) => answer.end()).listen(0, '127.0.0.1')`
/** npm puts the pinned Node first. A person's shell finds the machine's own, which may be older. */
export const PATH = (process.env.PATH ?? '').split(':').filter(folder => !folder.includes('node_modules'))

/** What a server uses that has nothing to do, and one whose agents sleep, compared with a Node that only listens. */
export const idle: Bench = async scale => {
  const [repository] = await repositories(1)
  const env = { PATH: PATH.join(':'), FLEET_MAX_CONCURRENT: String(AGENTS) }
  const [quiet, waiting] = [await aFleet({ env }), await aFleet({ env })]
  const bare = spawn(NODE, ['-e', BARE], { stdio: 'ignore' })
  try {
    const idler = await quiet.start({ byItself: true })
    const host = await waiting.start({ byItself: true })
    await startAgents(waiting, await waiting.project(repository!.path))
    const [nothing, agents, floor] = await Promise.all([
      usage(idler.child, scale),
      usage(host.child, scale),
      usage(bare, scale),
    ])
    return [
      processor('a server with nothing to do', nothing, floor, 0.3),
      {
        figure: 'a server with nothing to do, memory of all its processes',
        measured: `${mib(nothing)}, ${nothing.processes} of them`,
        floor: `${mib(floor)} (a Node that listens)`,
        demanded: `≤ ${MOST_MIB} MiB`,
        met: nothing.rss <= MOST_MIB,
      },
      processor(`a server with ${AGENTS} agents that sleep (${mib(agents)})`, agents, floor, 1),
    ]
  } finally {
    bare.kill()
    await Promise.all([quiet.remove(), waiting.remove()])
    await repository!.remove()
  }
}

async function startAgents(fleet: TestFleet, project: { id: string }): Promise<void> {
  for (let i = 0; i < AGENTS; i++) await fleet.mission(project, 'exec sleep 1000')
  await eventually('every agent at work', async () => {
    const { items } = await fleet.fleet.store.find('sessions', { index: 'live', limit: AGENTS })
    return items.filter(({ value }) => value.status === 'running').length === AGENTS
  })
}

export interface Usage {
  /** Percent of a core. */
  processor: number
  rss: number
  pss: number
  processes: number
}

/** Looks only after it has come to rest. */
export async function usage({ pid }: ChildProcess, scale: Scale): Promise<Usage> {
  await pause(scale.of(60, 20) * 1000)
  const started = performance.now()
  const before = sum(serverProcesses(pid!).map(cpuSeconds))
  await pause(scale.of(60, 15) * 1000)
  const all = serverProcesses(pid!)
  return {
    processor: ((sum(all.map(cpuSeconds)) - before) * 100_000) / (performance.now() - started),
    rss: sum(all.map(each => memory(each, 'VmRSS'))),
    pss: sum(all.map(sharedOut)),
    processes: all.length,
  }
}

const mib = ({ rss, pss }: Usage): string => `${rss.toFixed(0)} MiB (${pss.toFixed(0)} without what others share)`
export const percent = (value: number): string => `${value.toFixed(2)} %`

function processor(who: string, measured: Usage, floor: Usage, most: number): Row {
  return {
    figure: `${who}, processor`,
    measured: percent(measured.processor),
    floor: `${percent(floor.processor)} (a Node that listens)`,
    demanded: `≤ ${most} % of a core`,
    met: measured.processor <= most,
  }
}
