import { spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { aRepository, type TestRepository } from '../src/git/testkit.ts'
import { aFleet, type TestFleet } from '../test/kit/fleet.ts'
import { type Bench, median, ms, percentile, preciseNow, type Row, times } from './figure.ts'
import { elapsed, floor } from './processes.ts'

const IN_A_ROW = 10
const AT_A_TIME = 4
const MOST_OF_ADD = 0.15
const MOST_OF_LANDING = 1.5

/**
 * Missions on a repository of a hundred thousand files: from dispatch to the agent's process, beside git's own worktree
 * on the same disk. Only by name (`npm run bench -- large`), because it writes ten gigabytes.
 */
export const large: Bench = async scale => {
  const files = scale.of(100_000, 5000)
  const { added, first, row, many, landed, bare } = await measureLarge(files, 13_000)
  const of = `${files} files`
  return [
    {
      figure: `${of}, first mission after its project was added: dispatch → process`,
      measured: `${ms(first)}, ${times(first / median(added))}`,
      floor: `${ms(median(added))} (\`git worktree add\`)`,
      demanded: '≤ 1 ×',
      met: first <= median(added),
    },
    started(`${of}, missions 2 to ${IN_A_ROW} in a row`, row, added),
    started(`${of}, ${AT_A_TIME} at a time, from the second round on`, many, added),
    {
      figure: `${of}, missions 2 to 5 against 6 to ${IN_A_ROW}`,
      measured: `${ms(median(row.slice(4)))}, ${times(median(row.slice(4)) / median(row.slice(0, 4)))}`,
      floor: ms(median(row.slice(0, 4))),
      demanded: '≤ 1.25 ×',
      met: median(row.slice(4)) <= 1.25 * median(row.slice(0, 4)),
    },
    {
      figure: `${of}, landing of a one-line change, p50 of ${landed.length}`,
      measured: `${ms(median(landed))}, ${times(median(landed) / median(bare))}`,
      floor: `${ms(median(bare))} (merge-tree, commit-tree, update-ref, and the checkout follows)`,
      demanded: `≤ ${MOST_OF_LANDING} ×`,
      met: median(landed) <= MOST_OF_LANDING * median(bare),
    },
  ]
}

function started(figure: string, measured: number[], added: number[]): Row {
  const share = median(measured) / median(added)
  return {
    figure: `${figure}: dispatch → process, p50`,
    measured: `${ms(median(measured))}, ${(share * 100).toFixed(1)} %; slowest ${ms(percentile(measured, 1))}`,
    floor: `${ms(median(added))} (\`git worktree add\`)`,
    demanded: `≤ ${MOST_OF_ADD * 100} %`,
    met: share <= MOST_OF_ADD,
  }
}

export interface Large {
  /** How long git takes for a new worktree. */
  added: number[]
  /** From dispatch to the agent's process: the first mission, those after it, and those of four at a time. */
  first: number
  row: number[]
  many: number[]
  /** From the session's end to the landing, and git's own commands for the same. */
  landed: number[]
  bare: number[]
}

export async function measureLarge(files: number, bytes: number): Promise<Large> {
  const repository = await aLargeRepository(files, bytes)
  const fleet = await aFleet({ env: { FLEET_MAX_CONCURRENT: String(AT_A_TIME) } })
  try {
    const added = await worktreesAdded(repository, 3)
    await fleet.start()
    const project = await fleet.project(repository.path)
    const first = await startOne(fleet, project, 'first')
    const row: number[] = []
    for (let i = 1; i < IN_A_ROW; i++) row.push(await startOne(fleet, project, `row-${i}`))
    const many = await startMany(fleet, project)
    const landed = await landings(fleet)
    return { added, first, row, many, landed, bare: await bareLandings(repository, 10) }
  } finally {
    await fleet.remove()
    await repository.remove()
  }
}

export async function aLargeRepository(files: number, bytes: number): Promise<TestRepository> {
  const repository = await aRepository({ commits: false })
  await new Promise<void>((resolve, reject) => {
    const stdio = ['pipe', 'inherit', 'inherit'] as const
    const git = spawn('git', ['fast-import', '--quiet', '--depth=0'], { cwd: repository.path, stdio: [...stdio] })
    git.once('error', reject)
    git.once('close', code => (code === 0 ? resolve() : reject(new Error(`git fast-import ended with ${code}`))))
    writeFiles(git.stdin!, files, bytes).catch(reject)
  })
  await repository.git('reset', '--hard', '--quiet', 'main')
  return repository
}

/** Files of ordinary text, forty to a folder. */
async function writeFiles(into: NodeJS.WritableStream, files: number, bytes: number): Promise<void> {
  const say = async (text: string) => {
    if (!into.write(text)) await new Promise(resolve => into.once('drain', resolve))
  }
  const named: string[] = []
  for (let i = 0; i < files; i++) {
    const line = `This is a line of ordinary length in file ${i}, and it is much like the others.\n`
    const size = bytes * (0.3 + (1.4 * ((i * 7919) % 100)) / 100)
    const content = line.repeat(Math.ceil(size / line.length))
    await say(`blob\nmark :${i + 1}\ndata ${content.length}\n${content}\n`)
    named.push(`M 100644 :${i + 1} part-${Math.floor(i / 2000)}/of-${Math.floor(i / 40) % 50}/file-${i}.txt\n`)
  }
  await say('commit refs/heads/main\ncommitter A <a@example.com> 1700000000 +0000\ndata 5\nlarge\n')
  for (const line of named) await say(line)
  into.end('\n')
}

/** The floor. They are removed at the end only: a disk that has just lost many files is slow to make new ones. */
async function worktreesAdded(repository: TestRepository, count: number): Promise<number[]> {
  const took: number[] = []
  for (let i = 0; i < count; i++) took.push(await worktreeAdded(repository, i))
  return took
}

export function worktreeAdded(repository: TestRepository, number: number): Promise<number> {
  const path = join(repository.root, `floor-${number}`)
  return elapsed(() => repository.git('worktree', 'add', '--quiet', '--detach', path, 'main'))
}

const script = (name: string): string => `date +%s%N\necho "${name}" >made-${name}`

/** Git's own commands for landings of one line, the first of them with this number. */
export async function bareLandings({ root, path }: TestRepository, count: number, first = 0): Promise<number[]> {
  const lines = (await floor('landings', count, root, path, first)).trim().split('\n')
  return lines.map(ns => Number(ns) / 1e6)
}

/** One mission to its landing: the time from its dispatch to the first act of its process. */
export async function startOne(fleet: TestFleet, project: { id: string }, name: string): Promise<number> {
  const { id } = await fleet.mission(project, script(name), { auto_dispatch: false })
  const asked = preciseNow()
  await fleet.call('dispatch_mission', { mission_id: id })
  await landed(fleet, id)
  return (await beganAt(fleet, id)) - asked
}

async function landed(fleet: TestFleet, id: string): Promise<void> {
  for (;;) {
    const { status, status_reason } = await fleet.show(id)
    if (status === 'done') return
    if (OVER.includes(status)) throw new Error(`a mission did not land: ${status_reason?.text}`)
    await pause(LOOK_EVERY_MS)
  }
}
const OVER = ['failed', 'needs_input', 'review']
const LOOK_EVERY_MS = 20

/** Three rounds of four. Each start counts from when its slot was free; the first round makes its worktrees. */
async function startMany(fleet: TestFleet, project: { id: string }): Promise<number[]> {
  await fleet.call('pause')
  const ids: string[] = []
  for (let i = 0; i < 3 * AT_A_TIME; i++) ids.push((await fleet.mission(project, script(`many-${i}`))).id)
  await fleet.call('unpause')
  for (const id of ids) await landed(fleet, id)
  const took: { at: number; ms: number }[] = []
  for (const id of ids) {
    const { sessions } = await fleet.show(id)
    const at = Date.parse(sessions[0]!.created_at)
    took.push({ at, ms: (await beganAt(fleet, id)) - at })
  }
  took.sort((a, b) => a.at - b.at)
  return took.slice(AT_A_TIME).map(({ ms }) => ms)
}

async function beganAt(fleet: TestFleet, missionId: string): Promise<number> {
  const { sessions } = await fleet.show(missionId)
  const printed = readFileSync(join(fleet.fleet.home.session(sessions[0]!.id), 'agent-1', 'stdout'), 'utf8')
  return Number(printed.split('\n', 1)[0]) / 1e6
}

/** From the end of each session to its landing. */
export async function landings(fleet: TestFleet, projectId?: string): Promise<number[]> {
  const ended = new Map<string, number>()
  const took: number[] = []
  for (const { kind, mission_id, project_id, time } of await fleet.events()) {
    if (!mission_id || (projectId && project_id !== projectId)) continue
    if (kind === 'session_ended') ended.set(mission_id, Date.parse(time))
    if (kind === 'landed') took.push(Date.parse(time) - ended.get(mission_id)!)
  }
  return took
}
