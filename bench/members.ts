import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { TestRepository } from '../src/git/testkit.ts'
import { aFleet, eventually, type TestFleet } from '../test/kit/fleet.ts'
import { type Bench, ms, percentile, preciseNow, type Row, type Scale } from './figure.ts'
import { PATH, percent, type Usage, usage } from './idle.ts'
import { repositories } from './repositories.ts'

const MOST_WAKE_MS = 150
const MEMBERS = 100
const PER_TEAM = 50
const MOST_MIB = 20
/** Of a core. Linux counts in steps of 10 ms. */
const MOST_PERCENT = 0.1
const LIMITS = { FLEET_WAKES_PER_HOUR: '1000000', FLEET_MAIL_PER_MINUTE: '1000000' }

/** How long mail needs to wake an idle member, and what members cost that have nothing to do. */
export const members: Bench = async scale => {
  const [repository] = await repositories(1)
  try {
    return [await waking(scale, repository!), ...(await resting(scale, repository!))]
  } finally {
    await repository!.remove()
  }
}

const aCrew = async (fleet: TestFleet, project: { id: string }, name: string): Promise<{ id: string }> =>
  fleet.call('create_team', { project_id: project.id, name, max_members: PER_TEAM })

const add = (fleet: TestFleet, team: { id: string }, handle: string, charter: string) =>
  fleet.call('add_member', { team_id: team.id, handle, agent: 'shell', charter })

/** From the request that sends mail to the first act of the member's process, in turn with a bare one. */
async function waking(scale: Scale, repository: TestRepository): Promise<Row> {
  const rounds = scale.of(60, 10)
  const fleet = await aFleet({ env: LIMITS })
  try {
    await fleet.start()
    const team = await aCrew(fleet, await fleet.project(repository.path), 'crew')
    const [woken, bare] = [join(fleet.root, 'woken'), join(fleet.root, 'bare')]
    const script = (file: string) => `date +%s%N >> '${file}'`
    await add(fleet, team, 'ada', script(woken))
    const [wakes, spawns]: [number[], number[]] = [[], []]
    // The first wake makes the worktree.
    for (let n = 0; n <= rounds; n++) {
      const wake = await took(woken, n, () => send(fleet, team, 'ada', n))
      const least = await took(bare, n, async () => void (await once(spawn('sh', ['-c', script(bare)]), 'spawn')))
      await isIdle(fleet, team)
      if (n > 0) [wakes.push(wake), spawns.push(least)]
    }
    const [measured, floor] = [percentile(wakes, 0.95), percentile(spawns, 0.95)]
    return {
      figure: `mail sent → idle member at work, p95 of ${rounds}`,
      measured: `${ms(measured)}, ${ms(measured - floor)} over; p50 ${ms(percentile(wakes, 0.5))}`,
      floor: `${ms(floor)} (a bare spawn)`,
      demanded: `≤ ${MOST_WAKE_MS} ms over`,
      met: measured - floor <= MOST_WAKE_MS,
    }
  } finally {
    await fleet.remove()
  }
}

async function took(file: string, lines: number, act: () => Promise<void>): Promise<number> {
  const began = preciseNow()
  await act()
  const line = await eventually('the next line', () => linesOf(file)[lines])
  return Number(line) / 1e6 - began
}

const linesOf = (file: string): string[] =>
  existsSync(file) ? readFileSync(file, 'utf8').split('\n').slice(0, -1) : []

async function send(fleet: TestFleet, team: { id: string }, to: string, n: number): Promise<void> {
  const body = JSON.stringify({ team_id: team.id, to, body: `message ${n}`, wake: true })
  const { status } = await fleet.http('/api/mail', { method: 'POST', body })
  if (status !== 200) throw new Error(`the message was answered with ${status}`)
}

/** Every agent has worked, and rests. */
async function isIdle(fleet: TestFleet, team: { id: string }): Promise<void> {
  const rests = ({ state, session_id }: Shown): boolean => state === 'idle' && session_id !== null
  await eventually(
    'everybody is idle',
    async () => {
      const { members } = await fleet.call<{ members: Shown[] }>('get_team', { team_id: team.id })
      return members.every(member => member.mission_id === null || rests(member))
    },
    undefined,
    600_000,
  )
}

interface Shown {
  state: string
  mission_id: string | null
  session_id: string | null
}

/** A server whose members have all worked once and rest, compared with one that has none. Both were started again. */
async function resting(scale: Scale, repository: TestRepository): Promise<Row[]> {
  const env = { ...LIMITS, PATH: PATH.join(':') }
  const [none, many] = [await aFleet({ env }), await aFleet({ env })]
  const count = scale.of(MEMBERS, 20)
  try {
    await many.start()
    const project = await many.project(repository.path)
    for (let first = 0; first < count; first += PER_TEAM) {
      const team = await aCrew(many, project, `crew-${first}`)
      const handles = Array.from({ length: Math.min(PER_TEAM, count - first) }, (_, n) => `m${first + n}`)
      for (const handle of handles) await add(many, team, handle, 'echo here')
      for (const [n, handle] of handles.entries()) await send(many, team, handle, n)
      await isIdle(many, team)
    }
    await many.stop()
    const [lone, host] = [await none.start({ byItself: true }), await many.start({ byItself: true })]
    const [floor, measured] = await Promise.all([usage(lone.child, scale), usage(host.child, scale)])
    return restingRows(count, measured, floor)
  } finally {
    await Promise.all([none.remove(), many.remove()])
  }
}

function restingRows(count: number, measured: Usage, floor: Usage): Row[] {
  const who = `${count} idle members`
  return [
    {
      figure: `${who}, memory of the server and all its processes`,
      measured: `${mib(measured.rss)}, ${mib(measured.rss - floor.rss)} over; ${measured.processes} processes`,
      floor: `${mib(floor.rss)}, ${floor.processes} processes (a server without members)`,
      demanded: `< ${MOST_MIB} MiB over`,
      met: measured.rss - floor.rss < MOST_MIB,
    },
    {
      figure: `${who}, processor`,
      measured: percent(measured.processor),
      floor: `${percent(floor.processor)} (a server without members)`,
      demanded: `≤ ${MOST_PERCENT} % of a core over`,
      met: measured.processor - floor.processor <= MOST_PERCENT,
    },
  ]
}

const mib = (value: number): string => `${value.toFixed(1)} MiB`
