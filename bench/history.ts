import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { aFleet, eventually, type TestFleet } from '../test/kit/fleet.ts'
import { type Bench, median, ms, preciseNow, type Row, times } from './figure.ts'
import { type Filled, fill } from './past.ts'

const FEW = 1000
const AT_MOST = 1.2

interface Side {
  fleet: TestFleet
  past: Filled
  folder: string
  project: { id: string }
}

/** How long calls take on a store with a long history, compared with a short one. */
export const history: Bench = async scale => {
  const many = scale.of(100_000, 10_000)
  const sides = [await aSide(FEW), await aSide(many)] as const
  try {
    const calls = Object.entries(callsOf(sides[0].past))
    const taken = new Map<string, [number[], number[]]>()
    const note = (name: string, side: 0 | 1, took: number): void => {
      const seen = taken.get(name) ?? [[], []]
      seen[side].push(took)
      taken.set(name, seen)
    }
    for (let round = -5; round < scale.of(200, 40); round++) {
      const order = round % 2 ? ([0, 1] as const) : ([1, 0] as const)
      for (const [name] of calls) {
        for (const side of order) {
          const took = await timed(sides[side], callsOf(sides[side].past)[name]!)
          // The first rounds warm the servers up.
          if (round >= 0) note(name, side, took)
        }
      }
      for (const side of order) {
        const { call, start } = await dispatch(sides[side])
        if (round >= 0) note('dispatch', side, call)
        if (round >= 0) note('dispatch to session start', side, start)
      }
    }
    return Array.from(taken, ([name, [few, lots]]) => compared(name, median(few), median(lots), many))
  } finally {
    for (const { fleet, folder } of sides) {
      await fleet.remove()
      rmSync(folder, { recursive: true, force: true })
    }
  }
}

async function aSide(missions: number): Promise<Side> {
  const fleet = await aFleet()
  const past = await fill(fleet.fleet, missions)
  await fleet.start()
  // A plain folder, so that git is not measured.
  const folder = mkdtempSync(join(tmpdir(), 'flotilla-folder-'))
  return { fleet, past, folder, project: await fleet.project(folder, { worktree: 'none' }) }
}

/** Every call that lists or sums, with each filter. */
function callsOf({ project, parent, mission }: Filled): Record<string, string> {
  return {
    'list missions': '/api/missions',
    'list missions of a project': `/api/missions?project_id=${project}`,
    'list missions by status': '/api/missions?status=done',
    'list missions by project and status': `/api/missions?project_id=${project}&status=done`,
    'list missions by rare status': '/api/missions?status=running',
    'list missions by tag': '/api/missions?tag=common',
    'list missions by tag and status': '/api/missions?tag=common&status=cancelled',
    'list missions by tag and project': `/api/missions?tag=common&project_id=${project}`,
    'list missions by parent': `/api/missions?parent_mission_id=${parent}`,
    'show a mission': `/api/missions/${mission}`,
    'events of a mission': `/api/missions/${mission}/events`,
    'list sessions': '/api/sessions',
    'list live sessions': '/api/sessions?live=true',
    'list sessions of a project': `/api/sessions?project_id=${project}`,
    'list reports': '/api/reports',
    'list reports of a project': `/api/reports?project_id=${project}`,
    'list projects': '/api/projects',
    'system status': '/api/system/status',
  }
}

async function timed({ fleet }: Side, path: string): Promise<number> {
  const started = performance.now()
  const response = await fleet.http(path)
  await response.text()
  if (!response.ok) throw new Error(`${path} answers ${response.status}`)
  return performance.now() - started
}

/** The time of the call itself, and the time from sending it until the session was decided to start. */
async function dispatch({ fleet, project }: Side): Promise<{ call: number; start: number }> {
  const { id } = await fleet.mission(project, 'true', { auto_dispatch: false })
  const sent = preciseNow()
  const response = await fleet.http(`/api/missions/${id}/dispatch`, { method: 'POST', body: '{}' })
  await response.text()
  const call = preciseNow() - sent
  if (!response.ok) throw new Error(`dispatch answers ${response.status}`)
  const mission = await eventually('the mission done', async () => {
    const found = await fleet.fleet.store.get('missions', id)
    if (found?.value.status === 'failed') throw new Error(found.value.status_reason?.text)
    return found?.value.status === 'done' ? found.value : undefined
  })
  return { call, start: Date.parse(mission.started_at!) - sent }
}

function compared(name: string, few: number, lots: number, many: number): Row {
  return {
    figure: `${name}, ${many} finished missions`,
    measured: `${ms(lots)}, ${times(lots / few)}`,
    floor: `${ms(few)} (with ${FEW})`,
    demanded: `≤ ${AT_MOST} ×`,
    met: lots <= AT_MOST * few,
  }
}
