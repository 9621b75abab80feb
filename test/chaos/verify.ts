import { createHash } from 'node:crypto'
import { existsSync, readdirSync, readFileSync, readlinkSync } from 'node:fs'
import { join } from 'node:path'
import { isListed } from '../../src/domain/records/mission.ts'
import { missionCounts } from '../../src/fleet/counts.ts'
import { all } from '../../src/fleet/records.ts'
import { operationNamed } from '../../src/operations/index.ts'
import { eventually } from '../kit/fleet.ts'
import type { Expected, Scenario } from './scenarios/index.ts'
import type { World } from './world.ts'

/** How long a helper process may take to notice that the server is gone. */
const LAST_BREATH_MS = 2000

export interface Problem {
  kind: 'lost' | 'doubled'
  text: string
}
const lost = (text: string): Problem => ({ kind: 'lost', text })
const doubled = (text: string): Problem => ({ kind: 'doubled', text })

/** Compares the world with what it should be after a scenario, whatever happened to the server. */
export async function verify(world: World, scenario: Scenario, expected: Expected[]): Promise<Problem[]> {
  await eventually(
    'worktrees of landed missions gone',
    async () => (await spentWorktrees(world, expected)).length === 0,
    async () => (await spentWorktrees(world, expected)).join(', '),
  )
  await world.end()
  const problems = [
    ...world.faults.map(lost),
    ...ranOnce(world),
    ...heardOnce(world),
    ...(await Promise.all(expected.map(one => missionProblems(world, scenario.base ?? 'main', one)))).flat(),
    ...(await countProblems(world)),
  ]
  const status = await world.repo.git('status', '--porcelain')
  if (status) problems.push(lost(`the person's checkout is not clean: ${status}`))
  problems.push(...strayRecords(world).map(name => lost(`git still knows of a worktree that is not there: ${name}`)))
  await eventually(
    'every process gone',
    () => survivors(world).length === 0,
    () => survivors(world).join('; '),
    LAST_BREATH_MS,
  ).catch(error => problems.push(doubled(String(error))))
  return problems
}

async function spentWorktrees({ fleet: { fleet } }: World, expected: Expected[]): Promise<string[]> {
  // Work that was undone waits for review again. Its worktree stays if the undo came before its removal.
  const spent = new Set(expected.filter(one => one.landings && one.status === 'done').map(one => one.id))
  const kept = await Array.fromAsync(all(fleet, 'sessions', 'worktree'))
  return kept.filter(({ value }) => spent.has(value.mission_id)).map(({ value }) => value.worktree!)
}

/** Git's records of worktrees that are gone, or were never complete. */
function strayRecords({ repo }: World): string[] {
  const folder = join(repo.path, '.git', 'worktrees')
  const records = existsSync(folder) ? readdirSync(folder) : []
  return records.filter(name => {
    const link = join(folder, name, 'gitdir')
    return !existsSync(link) || !existsSync(readFileSync(link, 'utf8').trim())
  })
}

/** Nothing is started twice, and no two run at once for one mission, worktree or check. */
function ranOnce({ log }: World): Problem[] {
  const problems: Problem[] = []
  const started = new Set<string>()
  const running = new Map<string, string>()
  for (const [word, what, , mission = what] of lines(log, 'start', 'end')) {
    const other = running.get(mission)
    if (word === 'end') running.delete(mission)
    else {
      if (started.has(what)) problems.push(doubled(`${what} was started a second time`))
      if (other) problems.push(doubled(`${what} was started beside ${other}`))
      started.add(what)
      running.set(mission, what)
    }
  }
  return problems
}

/** Every message reached its agent complete and once. */
function heardOnce({ log }: World): Problem[] {
  const heard = lines(log, 'heard', 'answer').map(([word, session, id]) => `${word} ${session} ${id}`)
  return new Set(heard).size === heard.length ? [] : [doubled('a message was heard twice')]
}

const lines = (log: string, ...words: string[]): [string, string, string, string?][] =>
  readFileSync(log, 'utf8')
    .split('\n')
    .map(line => line.split(' ') as [string, string, string])
    .filter(([word]) => words.includes(word))

async function missionProblems(world: World, base: string, expected: Expected): Promise<Problem[]> {
  const { fleet, repo } = world
  const mission = await fleet.show(expected.id)
  const problems: Problem[] = []
  if (mission.status !== expected.status) problems.push(lost(`${mission.title} is ${mission.status}`))
  const subjects = (
    await repo.git('log', '--format=%s%x00%(trailers:key=Fleet-Mission,valueonly,separator=%x2C)', base)
  )
    .split('\n')
    .filter(line => line.endsWith(`\0${mission.id}`))
  const undos = subjects.filter(subject => subject.startsWith('Undo: ')).length
  for (const [what, is, should] of [
    ['landed', subjects.length - undos, expected.landings],
    ['undone', undos, expected.undos ?? 0],
  ] as const) {
    if (is < should) problems.push(lost(`${mission.title} is ${what} ${is} times instead of ${should}`))
    if (is > should) problems.push(doubled(`${mission.title} is ${what} ${is} times instead of ${should}`))
  }
  const ran = mission.sessions.filter(session =>
    lines(world.log, 'start').some(([, what]) => what.endsWith(`/${session.id}`)),
  )
  if (ran.length > expected.sessions)
    problems.push(doubled(`${mission.title} took ${ran.length} sessions instead of ${expected.sessions}`))
  if (ran.length < expected.sessions)
    problems.push(lost(`${mission.title} took ${ran.length} sessions instead of ${expected.sessions}`))
  if (expected.status === 'done')
    for (const session of ran) problems.push(...(await transcriptProblems(world, session.id)))
  return problems
}

async function transcriptProblems({ fleet, log }: World, sessionId: string): Promise<Problem[]> {
  const stream = operationNamed('stream_session')
  if (stream?.kind !== 'stream') throw new Error('there is no stream_session')
  const said: string[] = []
  const context = { fleet: fleet.fleet, caller: { kind: 'owner' as const }, signal: new AbortController().signal }
  for await (const { data } of stream.run(context, { session_id: sessionId, follow: true })) {
    const { type, text } = data as { type?: string; text?: string }
    if (type === 'text' && /^line \d+$/.test(text ?? '')) said.push(text!)
  }
  const should = Array.from({ length: 20 }, (_, i) => `line ${i + 1}`)
  const problems =
    said.join() === should.join()
      ? []
      : [said.length > 20 ? doubled(`transcript: ${said}`) : lost(`transcript: ${said}`)]
  const prompt = (await fleet.fleet.store.get('sessions', sessionId))!.value.prompt
  const whole =
    prompt &&
    createHash('sha256')
      .update(await fleet.fleet.blobs.read(prompt))
      .digest('hex')
  const heard = lines(log, 'heard').find(([, what]) => what.endsWith(`/${sessionId}`))
  if (heard && heard[3] !== whole) problems.push(lost('a message did not arrive whole'))
  return problems
}

/** The counts folded from events match the records, so no event is missing or doubled. */
async function countProblems({ fleet: { fleet } }: World): Promise<Problem[]> {
  const records = new Map<string, number>()
  for await (const { value } of all(fleet, 'missions', 'id'))
    if (isListed(value)) records.set(value.status, (records.get(value.status) ?? 0) + 1)
  const { counts, projects } = await missionCounts(fleet)
  const summed = Object.values(projects).flatMap(Object.entries) as [string, number][]
  const wrong = Object.entries(counts).filter(
    ([status, count]) =>
      count !== (records.get(status) ?? 0) ||
      count !== summed.reduce((sum, [each, of]) => sum + (each === status ? of : 0), 0),
  )
  return wrong.map(([status, count]) =>
    lost(`events say ${count} missions are ${status}, the records ${records.get(status) ?? 0}`),
  )
}

/** Processes that run in the world's folders, or whose command or environment names them. */
function survivors({ fleet: { root } }: World): string[] {
  const others = readdirSync('/proc').filter(name => /^\d+$/.test(name) && Number(name) !== process.pid)
  return others.flatMap(pid => {
    try {
      const [command, environment] = ['cmdline', 'environ'].map(file => readFileSync(`/proc/${pid}/${file}`, 'latin1'))
      const places = [command!, environment!, readlinkSync(`/proc/${pid}/cwd`)]
      return places.some(text => text.includes(root)) ? [`${pid} ${command!.replaceAll('\0', ' ')}`] : []
    } catch {
      return []
    }
  })
}
