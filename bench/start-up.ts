import { join } from 'node:path'
import { aFleet, NODE, ROOT } from '../test/kit/fleet.ts'
import { type Bench, median, ms, type Row, times } from './figure.ts'
import { elapsed, output } from './processes.ts'
import { repositories } from './repositories.ts'

const LAUNCHER = join(ROOT, 'bin/fleet.js')
const MISSIONS = 60

/** How long the fastest commands take, compared with a Node that does nothing. */
export const startUp: Bench = async scale => {
  const [repository] = await repositories(1)
  const fleet = await aFleet()
  try {
    const project = await fleet.project(repository!.path)
    for (let i = 0; i < MISSIONS; i++)
      await fleet.call('create_mission', { project_id: project.id, title: `mission ${i}`, detailed_prompt: 'true' })
    const env = { PATH: process.env.PATH, HOME: fleet.root, FLEET_HOME: fleet.fleet.home.path }
    const run = (...args: string[]): Promise<number> => elapsed(() => output(NODE, args, env))

    const alone = await interleaved(scale.of(40, 10), {
      nothing: () => run('-e', '0'),
      version: () => run(LAUNCHER, '--version'),
      list: () => run(LAUNCHER, 'mission', 'list'),
    })
    await fleet.start()
    const served = await interleaved(scale.of(40, 10), {
      nothing: () => run('-e', '0'),
      list: () => run(LAUNCHER, 'mission', 'list'),
    })
    return [
      compared('`fleet --version`', alone.version, alone.nothing, 2),
      compared(`\`fleet mission list\`, ${MISSIONS} missions, no server`, alone.list, alone.nothing, 4),
      compared(`\`fleet mission list\`, ${MISSIONS} missions, through a server`, served.list, served.nothing, 4),
    ]
  } finally {
    await fleet.remove()
    await repository!.remove()
  }
}

async function interleaved<K extends string>(
  rounds: number,
  runs: Record<K, () => Promise<number>>,
): Promise<Record<K, number>> {
  const names = Object.keys(runs) as K[]
  const seen = Object.fromEntries(names.map(name => [name, [] as number[]])) as Record<K, number[]>
  // The first run of each fills caches and is not counted.
  for (const name of names) await runs[name]()
  for (let round = 0; round < rounds; round++) for (const name of names) seen[name].push(await runs[name]())
  return Object.fromEntries(names.map(name => [name, median(seen[name])])) as Record<K, number>
}

function compared(figure: string, measured: number, nothing: number, most: number): Row {
  return {
    figure,
    measured: `${ms(measured)}, ${times(measured / nothing)}`,
    floor: `${ms(nothing)} (\`node -e 0\`)`,
    demanded: `≤ ${most} ×`,
    met: measured <= most * nothing,
  }
}
