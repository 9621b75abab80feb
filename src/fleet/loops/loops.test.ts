import { expect, onTestFinished, test } from 'vitest'
import { StoreTrouble, Unavailable } from '../../domain/errors.ts'
import { type Loop, LoopSettings } from '../../domain/records/loop.ts'
import { Evidence, type Mission } from '../../domain/records/mission.ts'
import { PlannedMission } from '../../domain/records/plan.ts'
import type { Project } from '../../domain/records/project.ts'
import { NO_USAGE } from '../../domain/records/session.ts'
import { aProject, aReport, aSession } from '../../domain/samples.testkit.ts'
import { aRepository } from '../../git/testkit.ts'
import { Turns } from '../../git/turns.ts'
import { aFleet } from '../fleet.testkit.ts'
import { missionIdOf, rejectPlan } from '../planning/plans.ts'
import { aDesk } from '../reactor.testkit.ts'
import { change, commitsOf, eventsOf, keep, meanwhile, read, withProgram } from '../records.testkit.ts'
import { derivedId } from '../records.ts'
import { Loops } from './engine.ts'
import { loopOf, pauseLoop, resumeLoop, startLoop, stopLoop } from './loops.ts'

const ASK = { operation: 'test', actor: 'person' }
const CHECKS = [{ name: 'tests', command: 'make test', timeout_seconds: 60 }]

async function aPlace(more: Partial<Project> = {}) {
  const fleet = withProgram(aFleet(), 'claude')
  await keep(fleet, 'projects', aProject({ agent: 'claude', checks: CHECKS, ...more }))
  const start = (settings: Partial<LoopSettings> = {}) =>
    startLoop(fleet, ASK, 'p1', 'All is green', LoopSettings.parse(settings))
  return { fleet, start }
}

/** A loop, and a reactor that runs until it waits for something. */
async function aLoop(settings: Partial<LoopSettings> = {}, project: Partial<Project> = {}) {
  const { fleet, start } = await aPlace(project)
  const { id } = (await start(settings)).value
  const work: Promise<unknown>[] = []
  const reactor = new Loops(fleet, { ...aDesk(), goOn: (_, going) => work.push(going) }, new Turns())
  const look = async () => {
    await reactor.look(`loops/${id}`)
    while (work.length) await work.shift()
  }
  const loop = (): Promise<Loop> => read(fleet, 'loops', id)
  const plan = async () => read(fleet, 'plans', (await loop()).rounds.at(-1)!.plan_id)
  /** The planner of the round proposes these missions, or says that all is done. */
  const propose = async (...keys: string[]) => {
    const { id, mission_id } = await plan()
    const planned = keys.map(key => PlannedMission.parse({ key, title: key, prompt: `Please do ${key}.` }))
    const missions = await fleet.blobs.keep(JSON.stringify(planned))
    await change(fleet, 'missions', mission_id, { status: 'done' })
    await change(fleet, 'plans', id, keys.length ? { status: 'proposed', missions } : COMPLETE)
    await look()
  }
  const mission = async (key: string) => read(fleet, 'missions', missionIdOf((await plan()).id, key))
  const end = async (key: string, more: Partial<Mission>) => change(fleet, 'missions', (await mission(key)).id, more)
  await look()
  return { fleet, id, look, loop, plan, propose, mission, end }
}

const COMPLETE = { status: 'complete' as const, reason: 'I looked.' }
const LANDED = { status: 'done' as const, result: 'landed' as const }

test('a round begins with a plan and its planner, in one commit, and only once', async () => {
  const { fleet, loop, plan, look } = await aLoop()
  expect(await loop()).toMatchObject({ status: 'running', rounds: [{ number: 1, outcome: null }] })
  expect(await plan()).toMatchObject({ status: 'planning' })
  expect((await read(fleet, 'missions', (await plan()).mission_id)).status).toBe('queued')
  expect(await commitsOf(fleet, look)).toBe(0)
})

test('two servers that look in the same moment begin one round', async () => {
  const { fleet, start } = await aPlace()
  const { id } = (await start()).value
  const work: Promise<unknown>[] = []
  const desk = { ...aDesk(), goOn: (_: string, going: Promise<unknown>) => void work.push(going) }
  for (const reactor of [new Loops(fleet, desk, new Turns()), new Loops(fleet, desk, new Turns())])
    await reactor.look(`loops/${id}`)
  await Promise.all(work)
  expect((await read(fleet, 'loops', id)).rounds).toHaveLength(1)
  expect((await eventsOf(fleet)).filter(({ kind }) => kind === 'plan_requested')).toHaveLength(1)
})

test('what is proposed is approved, and when its missions are over the next round is told what they came to', async () => {
  const { fleet, loop, propose, mission, end, look, plan } = await aLoop()
  await propose('a', 'b')
  expect([(await mission('a')).status, (await mission('b')).status]).toEqual(['queued', 'queued'])
  await keep(fleet, 'reports', aReport({ mission_id: (await mission('a')).id, summary: 'The door is open.' }))
  await end('a', LANDED)
  await look()
  expect((await loop()).rounds).toHaveLength(1)
  await end('b', { status: 'failed' })
  await look()
  const text = '1 of 2 missions brought something, 1 failed.'
  expect((await loop()).rounds).toMatchObject([{ outcome: 'progress', text }, { outcome: null }])
  const { prompt } = await read(fleet, 'missions', (await plan()).mission_id)
  const told = await fleet.blobs.read(prompt)
  for (const each of [text, 'The door is open.', 'All is green']) expect(told).toContain(each)
})

test('missions that wait for a failed one are cancelled, so that the round ends', async () => {
  const { fleet, loop, propose, mission, end, look } = await aLoop()
  await propose('a', 'b')
  await end('b', { depends_on: [(await mission('a')).id], ready: false })
  const { id } = await mission('b')
  await end('a', { status: 'failed' })
  await look()
  expect((await read(fleet, 'missions', id)).status).toBe('cancelled')
  const text = '0 of 2 missions brought something, 1 failed.'
  expect((await loop()).rounds[0]).toMatchObject({ outcome: 'nothing_done', text })
})

/** A loop on a real repository, on whose tip the check of the project has run. */
async function checked(passed: boolean, base_branch = 'main') {
  const repository = await aRepository()
  onTestFinished(repository.remove)
  const made = await aLoop({}, { path: repository.path, base_branch })
  const { fleet, plan } = made
  const { mission_id, created_at } = await plan()
  const commit = await repository.tip()
  const evidence = Evidence.parse({
    ...{ id: derivedId('evidence', mission_id, commit, created_at, 'tests'), mission_id, project_id: 'p1', commit },
    ...{ purpose: 'goal', name: 'tests', command: 'make test', exit_code: passed ? 0 : 1, passed, seconds: 1 },
    ...{ output: { inline: 'one test is red' }, created_at },
  })
  await keep(fleet, 'evidence', evidence)
  await made.propose()
  return { ...made, commit }
}

test('a planner that says all is done is believed when the checks pass on the base branch', async () => {
  const { loop, commit } = await checked(true)
  const text = `Its checks pass on ${commit}. I looked.`
  expect(await loop()).toMatchObject({ status: 'complete', ending: { code: 'complete', text } })
})

test('otherwise the next round is told which check failed, and what it printed', async () => {
  const { fleet, loop, plan } = await checked(false)
  expect(await loop()).toMatchObject({ status: 'running', rounds: [{ outcome: 'checks_failed' }, { outcome: null }] })
  const { prompt } = await read(fleet, 'missions', (await plan()).mission_id)
  expect(await fleet.blobs.read(prompt)).toContain('one test is red')
})

test('a loop whose base branch is gone fails', async () => {
  const { loop } = await checked(true, 'elsewhere')
  const text = 'The base branch elsewhere is gone.'
  expect(await loop()).toMatchObject({ status: 'failed', ending: { code: 'base_gone', text } })
})

test.each<[string, Partial<LoopSettings>, string]>([
  ['failures', { max_failures: 2 }, '2 rounds in a row failed. The last one: No.'],
  ['rounds', { max_rounds: 2 }, 'It reached its limit of 2 rounds.'],
])('its limit of %s ends it', async (code, settings, text) => {
  const { fleet, loop, plan, look } = await aLoop(settings)
  for (const _ of [1, 2]) {
    await rejectPlan(fleet, ASK, (await plan()).id, 'No.')
    await look()
  }
  expect(await loop()).toMatchObject({ status: 'limit', ending: { code, text } })
  expect((await loop()).rounds).toHaveLength(2)
})

test('its budget ends it while agents work: they are stopped first, and then it is over', async () => {
  const { fleet, loop, plan, propose, mission, end, look } = await aLoop({ max_budget_usd: 5 })
  expect((await read(fleet, 'missions', (await plan()).mission_id)).max_budget_usd).toBe(5)
  await propose('a')
  expect((await mission('a')).max_budget_usd).toBe(5)
  await end('a', { status: 'running' })
  const usage = { ...NO_USAGE, cost_usd: 6 }
  await keep(fleet, 'sessions', aSession({ mission_id: (await mission('a')).id, usage }))
  await look()
  expect(await loop()).toMatchObject({ status: 'stopping', ending: { code: 'money' } })
  expect((await mission('a')).cancel_requested).toBe(true)
  await end('a', { status: 'cancelled' })
  await look()
  expect((await loop()).status).toBe('limit')
})

test('a person who stops it has its planner stopped and its plan rejected', async () => {
  const { fleet, loop, plan, look } = await aLoop()
  const { mission_id } = await plan()
  await change(fleet, 'missions', mission_id, { status: 'running' })
  await stopLoop(fleet, ASK, 'p1')
  await look()
  expect(await plan()).toMatchObject({ status: 'rejected', reason: 'Its loop has ended.' })
  expect(await read(fleet, 'missions', mission_id)).toMatchObject({ cancel_requested: true })
  expect((await loop()).status).toBe('stopping')
  await change(fleet, 'missions', mission_id, { status: 'cancelled' })
  await look()
  expect(await loop()).toMatchObject({ status: 'stopped', ending: { code: 'person' } })
})

test('paused it plans nothing, until it is resumed', async () => {
  const { fleet, loop, plan, look } = await aLoop()
  await pauseLoop(fleet, ASK, 'p1')
  const { id } = await plan()
  await rejectPlan(fleet, ASK, id, 'No.')
  expect(await commitsOf(fleet, look)).toBe(0)
  await resumeLoop(fleet, ASK, 'p1')
  await look()
  expect((await loop()).rounds).toHaveLength(2)
})

test('a plan that a person rejects in the moment it would be approved stays rejected, for their reason', async () => {
  const { fleet, loop, plan, propose } = await aLoop({ max_failures: 1 })
  const { id } = await plan()
  meanwhile(fleet, () => rejectPlan(fleet, ASK, id, 'Too much.'))
  await propose('a')
  expect((await loop()).rounds).toMatchObject([{ outcome: 'planning_failed', text: 'Too much.' }])
  expect(await fleet.store.get('missions', missionIdOf(id, 'a'))).toBeUndefined()
})

test('a round whose plan was deleted has failed, and another begins', async () => {
  const { fleet, loop, plan, look } = await aLoop()
  const { id } = await plan()
  const { version } = (await fleet.store.get('plans', id))!
  await fleet.store.commit({ changes: [{ remove: 'plans', id, expects: version }] })
  await look()
  expect((await loop()).rounds).toMatchObject([{ outcome: 'planning_failed', text: 'Its plan was deleted.' }, {}])
})

test('a fault is tried again, and the fifth in a row ends the loop with it as the reason', async () => {
  const { fleet, loop, plan, look } = await aLoop()
  await rejectPlan(fleet, ASK, (await plan()).id, 'No.')
  const { keep } = fleet.blobs
  fleet.blobs.keep = async () => {
    throw new Error('The disk is full.')
  }
  for (const _ of [1, 2, 3, 4]) await expect(look()).rejects.toThrow('The disk is full.')
  expect((await loop()).status).toBe('running')
  await look()
  fleet.blobs.keep = keep
  expect(await loop()).toMatchObject({ status: 'stopping', ending: { status: 'failed', code: 'fault' } })
  expect((await loop()).ending!.text).toBe('It could not continue. The disk is full.')
})

test.each([new Unavailable('The store gave no answer.'), new StoreTrouble('The disk that holds the store is full.')])(
  'trouble of the store ends no loop, however often: %s',
  async trouble => {
    const { fleet, loop, plan, look } = await aLoop()
    await rejectPlan(fleet, ASK, (await plan()).id, 'No.')
    const { keep } = fleet.blobs
    fleet.blobs.keep = () => Promise.reject(trouble)
    for (let times = 0; times < 8; times++) await expect(look()).rejects.toThrow(trouble)
    fleet.blobs.keep = keep
    await look()
    expect(await loop()).toMatchObject({ status: 'running', rounds: [{ outcome: 'planning_failed' }, {}] })
  },
)

test.each<[string, Partial<Project>, string]>([
  ['is being deleted', { deleting: true }, 'Project a project is being deleted.'],
  ['has no checks', { checks: [] }, 'has no checks, so nothing can tell when the goal is reached.'],
  ['is no repository', { worktree: 'none' }, 'is not a repository, so a loop has nothing to build on there.'],
])('a project that %s gets no loop', async (_, project, words) => {
  const { fleet, start } = await aPlace(project)
  await expect(start()).rejects.toThrow(words)
  await expect(loopOf(fleet, 'p1')).rejects.toThrow('There is no loop of project "a project".')
})

test('of two loops that are started at once, one is there', async () => {
  const { fleet, start } = await aPlace()
  const ended = await Promise.allSettled([start(), start()])
  expect(ended.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected'])
  expect((await eventsOf(fleet)).filter(({ kind }) => kind === 'loop_started')).toHaveLength(1)
  await expect(start()).rejects.toThrow('Project a project has a loop already, which is running.')
})

test('stopped twice it is stopped once; what is over is neither paused nor resumed', async () => {
  const { fleet, start } = await aPlace()
  const { id } = (await start()).value
  await stopLoop(fleet, ASK, 'p1')
  expect(await commitsOf(fleet, () => stopLoop(fleet, ASK, 'p1'))).toBe(0)
  await expect(pauseLoop(fleet, ASK, 'p1')).rejects.toThrow(`Loop ${id} is stopping; this needs running.`)
  await expect(resumeLoop(fleet, ASK, 'p1')).rejects.toThrow(`Loop ${id} is stopping; this needs paused.`)
})

test('a look at a loop that is gone does nothing', async () => {
  const fleet = aFleet()
  expect(await commitsOf(fleet, () => new Loops(fleet, aDesk(), new Turns()).look('loops/none'))).toBe(0)
})
