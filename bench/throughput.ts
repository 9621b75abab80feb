import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { aFleet, type TestFleet } from '../test/kit/fleet.ts'
import { type Bench, median, type Row, type Scale } from './figure.ts'
import { elapsed, floor } from './processes.ts'
import { filesOnMain, repositories } from './repositories.ts'

const REPOSITORIES = 10
const AT_A_TIME = 4
const LOOK_EVERY_MS = 100

/** Missions that write one line and exit: the time from when they may start until all have landed and are tidied up. */
export const throughput: Bench = async scale => {
  const missions = scale.of(200, 60)
  const fleet = await aFleet({ env: { FLEET_MAX_CONCURRENT: String(AT_A_TIME) } })
  try {
    await fleet.start()
    return [
      await row(fleet, scale, { missions, on: REPOSITORIES, floorOn: REPOSITORIES, least: 0.7 }),
      // Git races with itself in one repository, so each worker of the floor has its own.
      await row(fleet, scale, { missions, on: 1, floorOn: AT_A_TIME, least: 0.6 }),
    ]
  } finally {
    await fleet.remove()
  }
}

interface Wanted {
  missions: number
  /** How many repositories. */
  on: number
  floorOn: number
  /** The least share of the floor. */
  least: number
}

async function row(fleet: TestFleet, scale: Scale, { missions, on, floorOn, least }: Wanted): Promise<Row> {
  const ours: number[] = []
  const floors: number[] = []
  for (let round = 0; round < scale.of(3, 2); round++) {
    floors.push(await floorRound(missions, floorOn))
    ours.push(await fleetRound(fleet, missions, on))
  }
  const rate = (took: number): string => `${((missions / took) * 1000).toFixed(1)}/s`
  const share = median(floors) / median(ours)
  const where = on === 1 ? 'on one repository' : `over ${on} repositories`
  return {
    figure: `${missions} instant missions ${where}, ${AT_A_TIME} at a time`,
    measured: `${rate(median(ours))}, ${(share * 100).toFixed(0)} %`,
    floor: `${rate(median(floors))} (\`floor.sh\`, ${AT_A_TIME} workers${on === floorOn ? '' : ' with a repository each'})`,
    demanded: `≥ ${least * 100} %`,
    met: share >= least,
  }
}

async function floorRound(missions: number, on: number): Promise<number> {
  const worktrees = mkdtempSync(join(tmpdir(), 'flotilla-floor-'))
  return inRepositories(missions, on, paths =>
    elapsed(() => floor('missions', missions, AT_A_TIME, worktrees, ...paths)),
  ).finally(() => rmSync(worktrees, { recursive: true, force: true }))
}

async function fleetRound(fleet: TestFleet, missions: number, on: number): Promise<number> {
  return inRepositories(missions, on, async paths => {
    const projects = await Promise.all(paths.map(path => fleet.project(path)))
    await fleet.call('pause')
    for (let i = 0; i < missions; i++) await fleet.mission(projects[i % paths.length]!, `echo made-${i} >made-${i}`)
    const after = await fleet.fleet.store.tail()
    await fleet.call('unpause')
    return tidied(fleet, after, missions)
  })
}

/** New repositories for every round. A mission counts as done only if it is on the base branch. */
async function inRepositories(
  missions: number,
  on: number,
  run: (paths: string[]) => Promise<number>,
): Promise<number> {
  const made = await repositories(on)
  try {
    const took = await run(made.map(repository => repository.path))
    const landed = (await Promise.all(made.map(filesOnMain))).reduce((sum, files) => sum + files, 0)
    if (landed !== missions) throw new Error(`${landed} of ${missions} missions landed`)
    return took
  } finally {
    await Promise.all(made.map(repository => repository.remove()))
  }
}

/** The time from the wish until the last worktree is gone, taken from the events, so that measuring costs nothing. */
async function tidied(fleet: TestFleet, after: string, missions: number): Promise<number> {
  const { store } = fleet.fleet
  let cursor = after
  let began = Number.NaN
  for (let removed = 0; ; await pause(LOOK_EVERY_MS)) {
    const page = await store.events({ after: cursor, limit: 500 })
    cursor = page.cursor
    for (const { kind, time, cause } of page.events) {
      if (kind === 'unpaused') began = Date.parse(time)
      if (kind === 'failed' || kind === 'needs_input' || kind === 'review_wanted')
        throw new Error(`a mission did not land: ${cause}`)
      if (kind === 'worktree_removed' && ++removed === missions) return Date.parse(time) - began
    }
  }
}
