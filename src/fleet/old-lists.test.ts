import { expect, test } from 'vitest'
import { MissionSettings } from '../domain/records/mission.ts'
import { SideProcess } from '../domain/records/side-process.ts'
import { decideStages, Workflow } from '../domain/records/workflow.ts'
import { started } from '../domain/rules/life.ts'
import { aMission, aProject, aSession, NOW } from '../domain/samples.testkit.ts'
import { LaggingStore } from '../store/index.ts'
import { awaitChildren, delegate, goOnAfterChildren } from './delegation/delegation.ts'
import { ownBudget } from './dispatch/budgets.ts'
import { spent, spentSince } from './dispatch/holds.ts'
import { aFleet } from './fleet.testkit.ts'
import type { Fleet } from './fleet.ts'
import { createMission, deleteMission, updateMission } from './missions/missions.ts'
import { sideProcessesOf, sideProcessId } from './previews/processes.ts'
import { sayToMission } from './questions/messages.ts'
import { answerQuestion, raiseQuestion } from './questions/questions.ts'
import { current, put } from './records.ts'
import { talkLeft } from './sessions/ending.ts'
import { stageId } from './workflows/stages.ts'
import { cancelStages } from './workflows/workflows.ts'

/** Lists may lag behind for any time, so every decision rests on what `get` says. */
async function anAgentAtWork(): Promise<{ fleet: Fleet; store: LaggingStore }> {
  const store = new LaggingStore()
  const fleet = aFleet({ store, now: () => NOW })
  await store.commit({
    changes: [
      put('projects', aProject({ agent: 'claude' }), 'absent'),
      put('missions', aMission({ status: 'running', session_id: 's1' }), 'absent'),
      put('sessions', aSession({ agent: 'claude' }), 'absent'),
    ],
  })
  store.freezeLists()
  return { fleet, store }
}
const ask = { operation: 'test', actor: 'person' }
const asAgent = { operation: 'test', actor: 'session:s1' }
const mission = async (fleet: Fleet, id = 'm1') => (await current(fleet, 'missions', id)).value
const session = async (fleet: Fleet) => (await current(fleet, 'sessions', 's1')).value
const question = (id: string) => ({ type: 'question' as const, id, text: `${id}?` })

test('what was said in the last moment of a session is told to the next one', async () => {
  const { fleet } = await anAgentAtWork()
  const first = await sayToMission(fleet, ask, 'm1', 'Mind the harbour.')
  await sayToMission(fleet, ask, 'm1', 'And the quay.')
  const left = await talkLeft(fleet, await mission(fleet), await session(fleet), false)
  expect(left.unheard).toEqual({ inline: 'Mind the harbour.\n\nAnd the quay.' })
  await fleet.store.commit({ changes: left.changes })
  expect((await current(fleet, 'messages', first.message.id)).value.status).toBe('missed')
  expect((await talkLeft(fleet, await mission(fleet), await session(fleet), false)).unheard).toBeNull()
})

test('what was asked in the last moment of a session is withdrawn with it, or waits if it is put aside', async () => {
  const { fleet } = await anAgentAtWork()
  await raiseQuestion(fleet, await session(fleet), question('one'), 'tool')
  const read = async (parked: boolean) => talkLeft(fleet, await mission(fleet), await session(fleet), parked)
  expect((await read(true)).question).toBe('one?')
  expect((await read(false)).events).toMatchObject([['question_withdrawn', {}]])
})

test('a mission whose agent asked twice goes on only once both are answered', async () => {
  const { fleet } = await anAgentAtWork()
  for (const id of ['one', 'two']) await raiseQuestion(fleet, await session(fleet), question(id), 'client')
  const [one, two] = (await mission(fleet)).questions
  await answerQuestion(fleet, ask, async () => one!, { text: 'yes' })
  expect(await mission(fleet)).toMatchObject({ status: 'needs_input', asking: true })
  await answerQuestion(fleet, ask, async () => two!, { text: 'yes' })
  expect(await mission(fleet)).toMatchObject({ status: 'running', asking: false })
})

test('a mission waits for the parts it has just made, and until they are over', async () => {
  const { fleet, store } = await anAgentAtWork()
  const part = (title: string) =>
    delegate(fleet, asAgent, 's1', { title, detailed_prompt: 'do it', agent: 'claude', from: 'base' } as never)
  const { id: one } = await part('one')
  const { id: two } = await part('two')
  expect((await awaitChildren(fleet, asAgent, 's1')).toSorted()).toEqual([one, two].toSorted())

  const parent = await current(fleet, 'missions', 'm1')
  await store.commit({ changes: [put('missions', { ...parent.value, status: 'waiting' }, parent.version)] })
  await goOnAfterChildren(fleet, 'm1')
  expect((await mission(fleet)).status).toBe('waiting')
  for (const id of [one, two]) {
    const { value, version } = await current(fleet, 'missions', id)
    await store.commit({ changes: [put('missions', { ...value, status: 'done' }, version)] })
    await goOnAfterChildren(fleet, 'm1')
    expect((await mission(fleet)).status).toBe(id === one ? 'waiting' : 'queued')
  }
})

test('what a session used that has just ended is counted once', async () => {
  const store = new LaggingStore()
  const fleet = aFleet({ store, now: () => NOW })
  const used = (id: string, cost_usd: number) =>
    aSession({ id, agent: 'claude', usage: { ...aSession().usage, cost_usd } })
  const end = async (id: string) => {
    const { value, version } = await current(fleet, 'sessions', id)
    const ended = { ...value, status: 'ended' as const, ended_at: NOW }
    await store.commit({ changes: [put('sessions', ended, version), ...(await spent(fleet, ended))] })
  }
  for (const id of ['s1', 's2'])
    await store.commit({ changes: [put('sessions', used(id, id === 's1' ? 2 : 3), 'absent')] })
  const total = async () =>
    (await spentSince(fleet, NOW.slice(0, 10))).rows.reduce((sum, { cost_usd }) => sum + cost_usd, 0)
  store.freezeLists('sessions')
  await end('s1')
  expect(await total()).toBe(5)
  store.freezeLists('spending')
  await end('s2')
  expect(await total()).toBe(5)
})

/** A finished mission of which nothing is left, beside the one at work. */
async function aFinishedMission(): Promise<Fleet> {
  const { fleet, store } = await anAgentAtWork()
  await store.commit({ changes: [put('missions', aMission({ id: 'm2', status: 'done' }), 'absent')] })
  store.freezeLists()
  return fleet
}
const newMission = (fleet: Fleet, settings: Partial<MissionSettings>) => {
  const fields = { ...MissionSettings.parse({ title: 'new', agent: 'claude', ...settings }), detailed_prompt: 'do it' }
  return createMission(fleet, ask, 'p1', fields, false)
}

test('a mission that another has just come to depend on is not deleted', async () => {
  const fleet = await aFinishedMission()
  const { value } = await newMission(fleet, { depends_on: ['m2'] })
  await expect(deleteMission(fleet, ask, 'm2', false)).rejects.toThrow(`depend on mission m2: ${value.id}`)
  await updateMission(fleet, ask, value.id, { depends_on: [] })
  await deleteMission(fleet, ask, 'm2', false)
  expect(await fleet.store.get('missions', 'm2')).toBeUndefined()
})

test('a mission that was just edited to depend on another, or made to wait for its parent, keeps that one', async () => {
  const fleet = await aFinishedMission()
  const { value } = await newMission(fleet, {})
  await updateMission(fleet, ask, value.id, { depends_on: ['m2'] })
  await expect(deleteMission(fleet, ask, 'm2', false)).rejects.toThrow(value.id)
  const part = { title: 'later', detailed_prompt: 'do it', agent: 'claude', from: 'base', wait_for_me: true } as const
  const { id } = await delegate(fleet, asAgent, 's1', part)
  const { value: parent, version } = await current(fleet, 'missions', 'm1')
  await fleet.store.commit({ changes: [put('missions', { ...parent, status: 'done' }, version)] })
  await expect(deleteMission(fleet, ask, 'm1', false)).rejects.toThrow(id)
})

test('nothing comes to depend on a mission that is being deleted', async () => {
  const fleet = await aFinishedMission()
  const { value, version } = await current(fleet, 'missions', 'm2')
  await fleet.store.commit({ changes: [put('missions', { ...value, deleting: true }, version)] })
  await expect(newMission(fleet, { depends_on: ['m2'] })).rejects.toThrow('m2 is being deleted')
})

test("sessions that ran and ended a moment ago count against their mission's budget", async () => {
  const { fleet, store } = await anAgentAtWork()
  const run = async (id: string, number: number, cost_usd: number) => {
    const { value, version } = await current(fleet, 'missions', 'm1')
    const session = aSession({ id, number, agent: 'claude' })
    const { mission } = started({ ...value, status: 'queued' }, session, { actor: 'fleet', now: NOW })
    const ended = { ...session, status: 'ended' as const, usage: { ...session.usage, cost_usd } }
    await store.commit({ changes: [put('missions', mission, version), put('sessions', ended, 'absent')] })
  }
  await run('s2', 2, 1)
  await run('s3', 3, 2)
  const project = (await current(fleet, 'projects', 'p1')).value
  expect(await ownBudget(fleet, { ...(await mission(fleet)), max_budget_usd: 5 }, project)).toMatchObject({
    usedUsd: 3,
  })
})

test('a preview that was just started is known to its mission', async () => {
  const { fleet, store } = await anAgentAtWork()
  const preview = SideProcess.parse({
    ...{ id: sideProcessId('m1', 'preview'), mission_id: 'm1', project_id: 'p1', session_id: 's1', kind: 'preview' },
    ...{ run: 1, worktree: '/w', command: 'true', status: 'starting', created_at: NOW },
    ...{ stopping: null, port: null, url: null, process: null, exit_code: null, reason: null },
    ...{ until: null, up_at: null, ended_at: null },
  })
  await store.commit({ changes: [put('processes', preview, 'absent')] })
  expect(await sideProcessesOf(fleet, 'm1')).toEqual([preview])
})

test('a workflow that is cancelled cancels stages that were just made', async () => {
  const { fleet, store } = await anAgentAtWork()
  const stages = decideStages(['one', 'two'].map(name => ({ name, prompt: 'do it' })))
  const workflow = Workflow.parse({
    ...{ id: 'w1', name: 'w', project_id: 'p1', task: { inline: '' }, stages: 2, status: 'cancelled' },
    ...{ definition: await fleet.blobs.keep(JSON.stringify(stages)), created_at: NOW, updated_at: NOW },
  })
  const ids = stages.map((stage, index) => stageId('w1', index, stage))
  const missions = ids.map((id, stage) =>
    aMission({ id, status: 'queued', workflow: { id: 'w1', stage, settled: null } }),
  )
  await store.commit({
    changes: [put('workflows', workflow, 'absent'), ...missions.map(each => put('missions', each, 'absent'))],
  })
  await cancelStages(fleet, 'w1')
  for (const id of ids) expect((await mission(fleet, id)).status).toBe('cancelled')
})
