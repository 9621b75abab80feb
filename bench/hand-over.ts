import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { aFleet, type TestFleet } from '../test/kit/fleet.ts'
import { type Bench, ms, percentile, type Row, times } from './figure.ts'
import { floor } from './processes.ts'
import { filesOnMain, repositories } from './repositories.ts'

export const LINKS = 10
/** The first thing that each process does is print the time. */
export const script = (name: string, words = 'done'): string => `date +%s%N\necho ${words} >${name}`

/**
 * From "landed" to the start of the mission that waited for it. Compared with git's own worktree and a process in it,
 * and with a worktree that is linked to the project's own repository.
 */
export const handOver: Bench = async scale => {
  const rounds = scale.of(8, 3)
  const [ours, linked, theirs] = await repositories(3)
  const fleet = await aFleet()
  try {
    await fleet.start()
    const project = await fleet.project(ours!.path)
    const linkedProject = await fleet.project(linked!.path, { isolation: 'linked' })
    const gaps: number[] = []
    const linkedGaps: number[] = []
    const floors: number[] = []
    for (let round = 0; round < rounds; round++) {
      gaps.push(...(await chain(fleet, project, round)))
      linkedGaps.push(...(await chain(fleet, linkedProject, round)))
      const lines = (await floor('starts', LINKS, fleet.root, theirs!.path)).trim().split('\n')
      floors.push(
        ...lines
          .map(line => line.split(' ').map(Number) as [number, number])
          .map(([before, began]) => (began - before) / 1e6),
      )
    }
    const landed = await filesOnMain(ours!)
    if (landed !== rounds * (LINKS + 1)) throw new Error(`${landed} of ${rounds * (LINKS + 1)} missions landed`)
    return [
      over('p50', 0.5, 30, gaps, floors),
      over('p95', 0.95, 100, gaps, floors),
      beside('p50', 0.5, gaps, linkedGaps),
      beside('p95', 0.95, gaps, linkedGaps),
    ]
  } finally {
    await fleet.remove()
    await Promise.all([ours!, linked!, theirs!].map(each => each.remove()))
  }
}

/** Missions that depend on each other. Returns for each but the first how long after the landing it started. */
export async function chain(fleet: TestFleet, project: { id: string }, round: number): Promise<number[]> {
  const ids: string[] = []
  for (let link = 0; link <= LINKS; link++) {
    // The first stays a draft, so that nothing runs until the chain is complete.
    const { id } = await fleet.mission(project, script(`made-${round}-${link}`), {
      depends_on: ids.slice(-1),
      auto_dispatch: link > 0,
    })
    ids.push(id)
  }
  await fleet.call('dispatch_mission', { mission_id: ids[0]! })
  await fleet.until(ids.at(-1)!, 'done', 'failed')
  const landedAt = new Map(
    (await fleet.events())
      .filter(event => event.kind === 'landed')
      .map(event => [event.mission_id, Date.parse(event.time)]),
  )
  return Promise.all(ids.slice(1).map(async (id, before) => (await began(fleet, id)) - landedAt.get(ids[before]!)!))
}

export async function began(fleet: TestFleet, missionId: string): Promise<number> {
  const { sessions } = await fleet.show(missionId)
  const printed = readFileSync(join(fleet.fleet.home.session(sessions[0]!.id), 'agent-1', 'stdout'), 'utf8')
  return Number(printed.split('\n', 1)[0]) / 1e6
}

function over(name: string, share: number, most: number, gaps: number[], floors: number[]): Row {
  const [measured, least] = [percentile(gaps, share), percentile(floors, share)]
  return {
    figure: `dependency landed → next process started, ${name} of ${gaps.length}`,
    measured: `${ms(measured)}, ${ms(measured - least)} over`,
    floor: `${ms(least)} (worktree and spawn)`,
    demanded: `≤ ${most} ms over`,
    met: measured - least <= most,
  }
}

function beside(name: string, share: number, gaps: number[], linked: number[]): Row {
  const [measured, least] = [percentile(gaps, share), percentile(linked, share)]
  return {
    figure: `the same in a private repository, ${name} of ${gaps.length}`,
    measured: `${ms(measured)}, ${times(measured / least)}`,
    floor: `${ms(least)} (in a linked worktree, in turn with it)`,
    demanded: '≤ 1 ×',
    met: measured <= least,
  }
}
