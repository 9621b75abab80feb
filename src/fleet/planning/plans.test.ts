import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { expect, test } from 'vitest'
import type { Mission } from '../../domain/records/mission.ts'
import { type Plan, PlannedMission } from '../../domain/records/plan.ts'
import { aProject, BY } from '../../domain/samples.testkit.ts'
import { fileOf } from '../../platform/launch-folder.ts'
import { aFleet } from '../fleet.testkit.ts'
import type { Fleet } from '../fleet.ts'
import { change, commitsOf, eventsOf, keep, meanwhile, read, withProgram } from '../records.testkit.ts'
import { all } from '../records.ts'
import { answerOf, proposed } from './answers.ts'
import { approvePlan, editPlan, missionIdOf, type PlanWish, rejectPlan, requestPlan } from './plans.ts'
import { Planning } from './reactor.ts'

const ASK = { operation: 'test', actor: 'person' }

const planned = (key: string, more: Partial<PlannedMission> = {}): PlannedMission =>
  PlannedMission.parse({ key, title: `Do ${key}`, prompt: `Please do ${key}.`, ...more })

/** A plan that was asked for; with `missions`, its planner has proposed these. */
async function aPlan({ missions, ...more }: Partial<PlanWish> & { missions?: PlannedMission[] } = {}) {
  const fleet = withProgram(aFleet(), 'claude')
  await keep(fleet, 'projects', aProject({ agent: 'claude' }))
  const { value: plan } = await requestPlan(fleet, ASK, 'p1', { goal: 'Build it', ...more })
  if (missions) {
    await change(fleet, 'missions', plan.mission_id, { status: 'done' })
    const text = await fleet.blobs.keep(JSON.stringify(missions))
    await change(fleet, 'plans', plan.id, { status: 'proposed', missions: text })
  }
  const reactor = new Planning(fleet)
  return {
    fleet,
    reactor,
    ...{ id: plan.id, planner: plan.mission_id },
    look: () => reactor.look(`plans/${plan.id}`),
    plan: () => read(fleet, 'plans', plan.id),
    missions: () => missionsOf(fleet),
  }
}

const missionsOf = async (fleet: Fleet): Promise<Mission[]> => {
  const missions = await Array.fromAsync(all(fleet, 'missions', 'project', ['p1']), ({ value }) => value)
  return missions.filter(({ plan_id }) => plan_id !== null)
}

test('a plan is worked out by a mission that may only read, and that never lands', async () => {
  const { fleet, planner, plan } = await aPlan()
  expect(await plan()).toMatchObject({ status: 'planning', missions: null })
  const held = { mission_type: 'plan', tool_preset: 'explore', approvals: 'deny', landing: 'never', max_retries: 0 }
  expect(await read(fleet, 'missions', planner)).toMatchObject({ ...held, status: 'queued', title: 'Plan: Build it' })
})

test.each([
  ['shell', 'A shell script cannot plan.'],
  ['gemini', 'is not installed.'],
])('%s is refused as a planner, and nothing is written', async (agent, words) => {
  const fleet = withProgram(aFleet(), 'claude')
  await keep(fleet, 'projects', aProject())
  await expect(requestPlan(fleet, ASK, 'p1', { goal: 'Build it', agent })).rejects.toThrow(words)
  expect((await fleet.store.find('plans', { index: 'id', limit: 1 })).items).toEqual([])
})

test('approved, all its missions are queued by one commit; those that wait for others are not ready', async () => {
  const { fleet, id, missions, plan } = await aPlan({ missions: [planned('a'), planned('b', { depends_on: ['a'] })] })
  expect(await commitsOf(fleet, () => approvePlan(fleet, ASK, id))).toBe(1)
  expect((await plan()).status).toBe('approved')
  const made = new Map((await missions()).map(mission => [mission.id, mission]))
  const [a, b] = ['a', 'b'].map(key => made.get(missionIdOf(id, key)))
  expect(a).toMatchObject({ status: 'queued', ready: true, plan_id: id })
  expect(b).toMatchObject({ status: 'queued', ready: false, depends_on: [a!.id] })
})

test('approved by two at once it is approved once', async () => {
  const { fleet, id, missions } = await aPlan({ missions: [planned('a'), planned('b')] })
  await Promise.all([approvePlan(fleet, ASK, id), approvePlan(fleet, { ...ASK, actor: 'other' }, id)])
  expect(await missions()).toHaveLength(2)
  expect((await eventsOf(fleet)).filter(({ kind }) => kind === 'plan_approved')).toHaveLength(1)
})

test('rejected in the moment it is approved, it makes no mission', async () => {
  const { fleet, id, missions, plan } = await aPlan({ missions: [planned('a')] })
  meanwhile(fleet, () => rejectPlan(fleet, ASK, id, 'Not now.'))
  await expect(approvePlan(fleet, ASK, id)).rejects.toThrow(`Plan ${id} is rejected; this needs proposed.`)
  expect(await missions()).toEqual([])
  expect(await plan()).toMatchObject({ status: 'rejected', reason: 'Not now.' })
})

test('a project that is being deleted gets no missions of a plan', async () => {
  const { fleet, id, missions } = await aPlan({ missions: [planned('a')] })
  meanwhile(fleet, () => change(fleet, 'projects', 'p1', { deleting: true }))
  await expect(approvePlan(fleet, ASK, id)).rejects.toThrow('Project a project is being deleted.')
  expect(await missions()).toEqual([])
})

test.each<[string, PlannedMission[], string]>([
  ['names no missions', [], 'It names no missions.'],
  ['has a circle', [planned('a', { depends_on: ['b'] }), planned('b', { depends_on: ['a'] })], 'in a circle'],
  ['needs what is not there', [planned('a', { depends_on: ['z'] })], 'a depends on z, which is not a mission of this'],
  ['names an agent that is not there', [planned('a', { agent: 'nobody' })], 'There is no agent "nobody".'],
])('an edit that %s is refused, and the plan stays', async (_, missions, words) => {
  const { fleet, id, plan } = await aPlan({ missions: [planned('a')] })
  const before = await plan()
  await expect(editPlan(fleet, ASK, id, missions)).rejects.toThrow(words)
  expect(await plan()).toEqual(before)
})

test('a plan that is approved in the moment it is edited stays as it was approved', async () => {
  const { fleet, id, missions } = await aPlan({ missions: [planned('a')] })
  meanwhile(fleet, () => approvePlan(fleet, ASK, id))
  await expect(editPlan(fleet, ASK, id, [planned('b')])).rejects.toThrow(`Plan ${id} is approved; this needs proposed.`)
  expect((await missions()).map(({ title }) => title)).toEqual(['Do a'])
})

test('a script of a planner runs only where a person allowed scripts, or wrote it', async () => {
  const script = planned('a', { agent: 'shell', prompt: 'make' })
  const { fleet, id, missions } = await aPlan({ missions: [script] })
  await expect(approvePlan(fleet, ASK, id)).rejects.toThrow(
    'which runs text as a script, and this plan may not contain scripts',
  )
  await editPlan(fleet, ASK, id, [script])
  await approvePlan(fleet, ASK, id)
  expect(await missions()).toMatchObject([{ agent: 'shell', script: true }])
})

test('a rejected plan has its planner stopped', async () => {
  const { fleet, id, planner, plan } = await aPlan()
  await change(fleet, 'missions', planner, { status: 'running' })
  await rejectPlan(fleet, ASK, id, '')
  expect(await read(fleet, 'missions', planner)).toMatchObject({ cancel_requested: true })
  expect(await plan()).toMatchObject({ status: 'rejected', reason: null })
})

test.each<[string, (fleet: Fleet, planner: string) => Promise<void>, string]>([
  ['failed', (fleet, id) => change(fleet, 'missions', id, { status: 'failed' }), 'Its mission is failed.'],
  [
    'failed and says why',
    (fleet, id) =>
      change(fleet, 'missions', id, { status: 'failed', status_reason: { code: 'x', text: 'No answer.' } }),
    'No answer.',
  ],
  ['is gone', removed, 'Its mission was deleted.'],
])('a plan whose planner %s has failed, once', async (_, happen, reason) => {
  const { fleet, planner, plan, look } = await aPlan()
  await look()
  expect((await plan()).status).toBe('planning')
  await happen(fleet, planner)
  await look()
  expect(await plan()).toMatchObject({ status: 'failed', reason })
  expect(await commitsOf(fleet, look)).toBe(0)
})

async function removed(fleet: Fleet, id: string): Promise<void> {
  const { version } = (await fleet.store.get('missions', id))!
  await fleet.store.commit({ changes: [{ remove: 'missions', id, expects: version }] })
}

test.each<{ auto_approve: boolean; planner: Mission['status']; becomes: Plan['status'] }>([
  { auto_approve: true, planner: 'done', becomes: 'approved' },
  // Something happened in the shared repository, so a person looks first.
  { auto_approve: true, planner: 'review', becomes: 'proposed' },
  { auto_approve: false, planner: 'done', becomes: 'proposed' },
])(
  'auto_approve $auto_approve and a planner that is $planner: $becomes',
  async ({ auto_approve, planner, becomes }) => {
    const { fleet, look, plan, ...of } = await aPlan({ auto_approve, missions: [planned('a')] })
    await change(fleet, 'missions', of.planner, { status: planner })
    await look()
    expect((await plan()).status).toBe(becomes)
    expect(await commitsOf(fleet, look)).toBe(0)
  },
)

test('a plan that cannot be approved by itself stays proposed for a person', async () => {
  const missions = [planned('a', { agent: 'gemini' })]
  const { fleet, id, look, plan } = await aPlan({ auto_approve: true, missions })
  await look()
  expect((await plan()).status).toBe('proposed')
  await expect(approvePlan(fleet, ASK, id)).rejects.toThrow('is not installed.')
})

test('a look at a plan that is gone does nothing', async () => {
  const fleet = aFleet()
  expect(await commitsOf(fleet, () => new Planning(fleet).look('plans/none'))).toBe(0)
})

// What a planner answers

async function answering(fleet: Fleet, id: string, answer: unknown) {
  const launch = join(fleet.home.path, 'launch')
  const file = fileOf(launch, 'result')
  mkdirSync(dirname(file), { recursive: true })
  writeFileSync(file, JSON.stringify(answer))
  return answerOf(fleet, fleet.agents.named('claude'), id, launch)
}

test('an answer is read from the file that the planner hands in', async () => {
  const { fleet, id } = await aPlan()
  const read = await answering(fleet, id, { summary: 'Two steps.', missions: [planned('a')] })
  expect(read).toMatchObject({ plan: { status: 'proposed', summary: 'Two steps.', reason: null } })
})

test.each<[string, unknown, string]>([
  ['without missions', { missions: [] }, 'It names no missions.'],
  ['that all is done', { complete: true, reason: 'All is there.' }, '"complete" must be false.'],
  ['with a script', { missions: [planned('a', { agent: 'shell' })] }, 'this plan may not contain scripts'],
  ['with half a mission', { missions: [{ key: 'a' }] }, 'missions.0.title'],
  ['that is something else', {}, 'no JSON object that follows the schema'],
])('an answer %s is sent back with what is wrong', async (_, answer, words) => {
  const { fleet, id } = await aPlan()
  const read = await answering(fleet, id, answer)
  if (!('problem' in read)) throw new Error('It was taken.')
  expect(read.problem).toContain(words)
  expect(await fleet.blobs.read(read.instructions)).toContain(words)
})

test('what a planner answers after a person rejected its plan changes nothing', async () => {
  const { fleet, id, planner } = await aPlan()
  const proposal = { status: 'proposed' as const, summary: '', reason: null, missions: null }
  const mission = { ...(await read(fleet, 'missions', planner)), status: 'done' as const }
  expect(await proposed(fleet, mission, proposal, BY)).not.toBeNull()
  await rejectPlan(fleet, ASK, id, '')
  expect(await proposed(fleet, mission, proposal, BY)).toBeNull()
})
