import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { aFleet, type TestFleet } from '../test/kit/fleet.ts'
import { type Bench, ms, percentile, type Row, times } from './figure.ts'
import { floor } from './processes.ts'
import { filesOnMain, repositories } from './repositories.ts'

export const LINKS = 10
/** The first and the last thing that each process does is print the time. */
export const script = (name: string, words = 'done'): string => `date +%s%N\necho ${words} >${name}\ndate +%s%N`

/**
 * From the end of an agent to the start of the mission that waited for its work, with the landing in between. Compared
 * with what git and a shell need for the same. Then from "landed" to that start, compared with git's own worktree and a
 * process in it, and with a worktree that is linked to the project's own repository.
 */
export const handOver: Bench = async scale => {
  const rounds = scale.of(8, 3)
  const [ours, linked, theirs] = await repositories(3)
  const fleet = await aFleet()
  try {
    await fleet.start()
    const project = await fleet.project(ours!.path)
    const linkedProject = await fleet.project(linked!.path, { isolation: 'linked' })
    const ends: number[] = []
    const gaps: number[] = []
    const linkedGaps: number[] = []
    const [endFloors, floors]: [number[], number[]] = [[], []]
    for (let round = 0; round < rounds; round++) {
      const { sinceEnd, sinceLanding } = await chain(fleet, project, round)
      ends.push(...sinceEnd)
      gaps.push(...sinceLanding)
      linkedGaps.push(...(await chain(fleet, linkedProject, round)).sinceLanding)
      endFloors.push(...(await floorOf('hand-overs', fleet, theirs!.path)))
      floors.push(...(await floorOf('starts', fleet, theirs!.path)))
    }
    const landed = await filesOnMain(ours!)
    if (landed !== rounds * (LINKS + 1)) throw new Error(`${landed} of ${rounds * (LINKS + 1)} missions landed`)
    return [
      over('agent ended → landed → next process started', 'landing, worktree and spawn', 0.5, 15, ends, endFloors),
      over('dependency landed → next process started', 'worktree and spawn', 0.5, 30, gaps, floors),
      over('dependency landed → next process started', 'worktree and spawn', 0.95, 100, gaps, floors),
      beside('p50', 0.5, gaps, linkedGaps),
      beside('p95', 0.95, gaps, linkedGaps),
    ]
  } finally {
    await fleet.remove()
    await Promise.all([ours!, linked!, theirs!].map(each => each.remove()))
  }
}

async function floorOf(what: 'starts' | 'hand-overs', fleet: TestFleet, repository: string): Promise<number[]> {
  const lines = (await floor(what, LINKS, fleet.root, repository)).trim().split('\n')
  return lines
    .map(line => line.split(' ').map(Number) as [number, number])
    .map(([before, began]) => (began - before) / 1e6)
}

interface Gaps {
  sinceEnd: number[]
  sinceLanding: number[]
}

/** Missions that depend on each other. For each but the first: how long after the one before it started. */
export async function chain(fleet: TestFleet, project: { id: string }, round: number): Promise<Gaps> {
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
  const ran = await Promise.all(ids.map(id => lifetime(fleet, id)))
  const after = (times: readonly number[]) => ran.slice(1).map(({ from }, before) => from - times[before]!)
  return { sinceEnd: after(ran.map(({ to }) => to)), sinceLanding: after(ids.map(id => landedAt.get(id)!)) }
}

export const began = async (fleet: TestFleet, missionId: string): Promise<number> =>
  (await lifetime(fleet, missionId)).from

/** When the process of a mission began and ended, as it said itself. */
async function lifetime(fleet: TestFleet, missionId: string): Promise<{ from: number; to: number }> {
  const { sessions } = await fleet.show(missionId)
  const printed = readFileSync(join(fleet.fleet.home.session(sessions[0]!.id), 'agent-1', 'stdout'), 'utf8')
  const [from = Number.NaN, to = Number.NaN] = printed.split('\n').map(time => Number(time) / 1e6)
  return { from, to }
}

function over(what: string, least: string, share: number, most: number, gaps: number[], floors: number[]): Row {
  const [measured, bare] = [percentile(gaps, share), percentile(floors, share)]
  return {
    figure: `${what}, p${share * 100} of ${gaps.length}`,
    measured: `${ms(measured)}, ${ms(measured - bare)} over`,
    floor: `${ms(bare)} (${least})`,
    demanded: `≤ ${most} ms over`,
    met: measured - bare <= most,
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
