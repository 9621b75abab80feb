import { expect, test } from 'vitest'
import type { Mission } from '../../domain/records/mission.ts'
import type { StageInput } from '../../domain/records/workflow.ts'
import { aMission, aProject, aReport, NOW } from '../../domain/samples.testkit.ts'
import { aFleet } from '../fleet.testkit.ts'
import type { Fleet } from '../fleet.ts'
import { change, commitsOf, eventsOf, keep, meanwhile, read, TAKEN_OVER, withProgram } from '../records.testkit.ts'
import { all } from '../records.ts'
import { Workflows } from './reactor.ts'
import { planOf, stageMission } from './stages.ts'
import { cancelWorkflow, changeStage, createWorkflow, retryWorkflow } from './workflows.ts'

const ASK = { operation: 'test', actor: 'person' }

const stage = (name: string, more: Partial<StageInput> = {}): StageInput => ({
  name,
  prompt: `make ${name}`,
  agent: 'shell',
  ...more,
})

async function aWorkflow(...stages: StageInput[]) {
  const fleet = withProgram(aFleet(), 'claude')
  await keep(fleet, 'projects', aProject())
  const asked = { name: 'flow', project_id: 'p1', task: 'the task', stages, tags: [], base_ref: null }
  const { id } = (await createWorkflow(fleet, ASK, asked)).value
  const reactor = new Workflows(fleet)
  const look = () => reactor.look(`workflows/${id}`)
  const at = async (index: number): Promise<Mission> => stageMission({ fleet, plan: await planOf(fleet, id) }, index)
  const statuses = () => Promise.all(stages.map(async (_, index) => (await at(index)).status))
  /** Ends one stage, and lets the reactor look at it. */
  const end = async (index: number, more: Partial<Mission>) => {
    const mission = await at(index)
    await change(fleet, 'missions', mission.id, more)
    await reactor.look(`missions/${mission.id}`)
  }
  const workflow = () => read(fleet, 'workflows', id)
  await look()
  return { fleet, id, reactor, look, at, statuses, end, workflow }
}

const report = (fleet: Fleet, { id }: Mission, summary: string) =>
  keep(fleet, 'reports', aReport({ id: `r-${id}`, mission_id: id, summary }))

test('only stages that wait for nothing start, and each of the others when the last it waits for is over', async () => {
  const flow = await aWorkflow(stage('a'), stage('b'), stage('c', { depends_on: ['a', 'b'] }))
  expect(await flow.statuses()).toEqual(['queued', 'queued', 'draft'])
  await flow.end(0, { status: 'done' })
  expect(await flow.statuses()).toEqual(['done', 'queued', 'draft'])
  await flow.end(1, { status: 'done' })
  expect(await flow.statuses()).toEqual(['done', 'done', 'queued'])
  await flow.end(2, { status: 'done' })
  expect(await flow.workflow()).toMatchObject({ status: 'done', open: 0, over: 3 })
})

test('looked at again, and told again of an end, it does nothing', async () => {
  const flow = await aWorkflow(stage('a'), stage('b', { depends_on: ['a'] }))
  await flow.end(0, { status: 'done' })
  const { id } = await flow.at(0)
  const commits = await commitsOf(flow.fleet, async () => {
    await flow.look()
    await flow.reactor.look(`missions/${id}`)
  })
  expect(commits).toBe(0)
  expect(await flow.workflow()).toMatchObject({ open: 1, over: 1 })
})

test('two stages that end in the same moment are both counted, and what waits for both starts once', async () => {
  const flow = await aWorkflow(stage('a'), stage('b'), stage('c', { depends_on: ['a', 'b'] }))
  await Promise.all([flow.end(0, { status: 'done' }), flow.end(1, { status: 'done' })])
  expect(await flow.workflow()).toMatchObject({ open: 1, over: 2 })
  const started = (await eventsOf(flow.fleet)).filter(({ kind }) => kind === 'auto_dispatched')
  expect(started).toHaveLength(3)
})

test('a stage is told what those before it said', async () => {
  const prompt = '{task_prompt}: {stage_a_summary}, {stage_0_status}'
  const flow = await aWorkflow(stage('a'), stage('b', { depends_on: ['a'], agent: 'claude', prompt }))
  await report(flow.fleet, await flow.at(0), 'it is built')
  await flow.end(0, { status: 'done' })
  expect(await flow.fleet.blobs.read((await flow.at(1)).prompt)).toBe('the task: it is built, completed')
})

test('a script gets what others said as variables, and its text stays as it was written', async () => {
  const script = stage('b', { depends_on: ['a'], prompt: 'echo "$FLEET_STAGE_0_SUMMARY"' })
  const flow = await aWorkflow(stage('a'), script)
  await report(flow.fleet, await flow.at(0), '$(rm -rf /)')
  await flow.end(0, { status: 'done' })
  const { prompt, variables } = await flow.at(1)
  expect(await flow.fleet.blobs.read(prompt)).toBe('echo "$FLEET_STAGE_0_SUMMARY"')
  expect(JSON.parse(await flow.fleet.blobs.read(variables!))).toEqual({ FLEET_STAGE_0_SUMMARY: '$(rm -rf /)' })
})

test.each([
  { on_failure: 'stop' as const, next: 'draft', workflow: 'failed' },
  { on_failure: 'continue' as const, next: 'queued', workflow: 'running' },
])('after a stage that failed and says $on_failure, the next is $next', async ({ on_failure, next, workflow }) => {
  const flow = await aWorkflow(stage('a', { on_failure }), stage('b', { depends_on: ['a'] }))
  await flow.end(0, { status: 'failed' })
  expect(await flow.statuses()).toEqual(['failed', next])
  expect((await flow.workflow()).status).toBe(workflow)
})

test.each([
  { ended: 'done' as const, replacement: 'cancelled' },
  { ended: 'failed' as const, replacement: 'queued' },
])('where a stage is $ended, the one that takes its place is $replacement', async ({ ended, replacement }) => {
  const flow = await aWorkflow(stage('a', { on_failure: { run: 'b' } }), stage('b'), stage('c', { depends_on: ['a'] }))
  await flow.end(0, { status: ended })
  const after = ended === 'done' ? 'queued' : 'draft'
  expect(await flow.statuses()).toEqual([ended, replacement, after])
})

test('a stage whose condition is not met is skipped, and so are those that only it could have led to', async () => {
  const when = { stage: 'a', says: 'broken' }
  const flow = await aWorkflow(
    stage('a'),
    stage('b', { depends_on: ['a'], when }),
    stage('c', { depends_on: ['b'], when: { stage: 'b', status: ['completed'] } }),
  )
  await report(flow.fleet, await flow.at(0), 'all is well')
  await flow.end(0, { status: 'done' })
  expect(await flow.statuses()).toEqual(['done', 'cancelled', 'cancelled'])
  expect((await flow.at(1)).status_reason).toMatchObject({ code: 'skipped' })
  expect(await flow.workflow()).toMatchObject({ status: 'done', over: 3 })
})

test('the winner that a stage names is sent to land, and the workflow waits for it', async () => {
  const judge = stage('judge', { depends_on: ['a', 'b'], chooses: ['a', 'b'] })
  const flow = await aWorkflow(stage('a'), stage('b'), judge)
  const candidate = { commit: 'c1', session_id: 's1', at: NOW }
  const kept = { status: 'done' as const, result: 'kept' as const, session_id: 's1', branch: 'work', candidate }
  await flow.end(0, kept)
  await flow.end(1, kept)
  await report(flow.fleet, await flow.at(2), 'winner: b')
  await flow.end(2, { status: 'done' })
  expect(await flow.statuses()).toEqual(['done', 'landing', 'done'])
  expect(await flow.workflow()).toMatchObject({ status: 'running', open: 1, over: 2 })
  await flow.end(1, { status: 'done', result: 'landed' })
  expect((await flow.workflow()).status).toBe('done')
})

test('a stage that is to choose and names nobody has failed', async () => {
  const judge = stage('judge', { depends_on: ['a', 'b'], chooses: ['a', 'b'] })
  const flow = await aWorkflow(stage('a'), stage('b'), judge)
  await flow.end(0, { status: 'done', result: 'kept' })
  await flow.end(1, { status: 'done', result: 'kept' })
  await flow.end(2, { status: 'done' })
  expect(await flow.workflow()).toMatchObject({ status: 'failed', failed: ['judge'] })
})

test('a person who cancels in the moment a stage would start wins: it never starts', async () => {
  const flow = await aWorkflow(stage('a'), stage('b', { depends_on: ['a'] }))
  // The end of a is noted by one commit. The start of b would be the next one.
  meanwhile(flow.fleet, async () => meanwhile(flow.fleet, () => cancelWorkflow(flow.fleet, ASK, flow.id)))
  await flow.end(0, { status: 'done' })
  await flow.look()
  expect(await flow.statuses()).toEqual(['done', 'draft'])
  expect((await flow.workflow()).status).toBe('cancelled')
})

test('a cancelled workflow has its stages at work stopped, each once', async () => {
  const flow = await aWorkflow(stage('a'), stage('b'), stage('c', { depends_on: ['a'] }))
  await change(flow.fleet, 'missions', (await flow.at(0)).id, { status: 'running' })
  await cancelWorkflow(flow.fleet, ASK, flow.id)
  await flow.look()
  expect((await flow.at(0)).cancel_requested).toBe(true)
  expect(await flow.statuses()).toEqual(['running', 'cancelled', 'draft'])
  expect(await commitsOf(flow.fleet, flow.look)).toBe(0)
  await expect(cancelWorkflow(flow.fleet, ASK, flow.id)).rejects.toThrow(`Workflow ${flow.id} is cancelled.`)
})

test('a workflow that was cancelled while no server ran is found by the next one, until its stages are stopped', async () => {
  const flow = await aWorkflow(stage('a'), stage('b'))
  await cancelWorkflow(flow.fleet, ASK, flow.id)
  const next = new Workflows(flow.fleet)
  expect(new Set(await Array.fromAsync(next.unfinished()))).toEqual(new Set([`workflows/${flow.id}`]))
  await flow.look()
  expect(await Array.fromAsync(next.unfinished())).toEqual([])
})

test('a stage that a person has taken over keeps no other from being stopped', async () => {
  const flow = await aWorkflow(stage('a'), stage('b'), stage('c'))
  const { id } = (await all(flow.fleet, 'missions', 'workflow', [flow.id]).next()).value!.value
  await change(flow.fleet, 'missions', id, { status: 'needs_input', taken_over: TAKEN_OVER })
  await cancelWorkflow(flow.fleet, ASK, flow.id)
  await expect(flow.look()).rejects.toThrow(`Mission ${id} was taken over at`)
  expect((await flow.statuses()).toSorted()).toEqual(['cancelled', 'cancelled', 'needs_input'])
})

test('what failed is done again by the same mission, and what was done stays', async () => {
  const flow = await aWorkflow(stage('a'), stage('b', { depends_on: ['a'] }), stage('c', { depends_on: ['b'] }))
  await flow.end(0, { status: 'done' })
  const { id } = await flow.at(1)
  await flow.end(1, { status: 'failed' })
  await retryWorkflow(flow.fleet, ASK, flow.id)
  await flow.look()
  expect(await flow.statuses()).toEqual(['done', 'queued', 'draft'])
  expect((await flow.at(1)).id).toBe(id)
  expect(await flow.workflow()).toMatchObject({ status: 'running', failed: [], open: 1, over: 1, again: [] })
})

test('a changed stage is done by another mission, and so is everything after it', async () => {
  const flow = await aWorkflow(stage('a'), stage('b', { depends_on: ['a'] }), stage('c'))
  for (const index of [0, 2, 1]) await flow.end(index, { status: 'done' })
  const before = await Promise.all([0, 1, 2].map(flow.at))
  await changeStage(flow.fleet, ASK, flow.id, 'a', { prompt: 'make it better', agent: 'shell' })
  await flow.look()
  const after = await Promise.all([0, 1, 2].map(flow.at))
  expect(after.map(({ id }, index) => id === before[index]!.id)).toEqual([false, false, true])
  expect(await flow.statuses()).toEqual(['queued', 'draft', 'done'])
  expect((await read(flow.fleet, 'missions', before[0]!.id)).status).toBe('done')
})

test('a workflow whose mission is gone fails, and says so', async () => {
  const flow = await aWorkflow(stage('a'), stage('b', { depends_on: ['a'] }))
  const { id } = await flow.at(1)
  const { version } = (await flow.fleet.store.get('missions', id))!
  await flow.fleet.store.commit({ changes: [{ remove: 'missions', id, expects: version }] })
  await flow.end(0, { status: 'done' })
  const { status, status_reason } = await flow.workflow()
  expect({ status, status_reason }).toMatchObject({ status: 'failed', status_reason: { code: 'cannot_go_on' } })
  expect(status_reason!.text).toContain(`There is no mission "${id}".`)
})

test('a look at a workflow or a mission that is gone does nothing', async () => {
  const fleet = aFleet()
  const reactor = new Workflows(fleet)
  expect(await commitsOf(fleet, () => reactor.look('workflows/none'))).toBe(0)
  expect(await commitsOf(fleet, () => reactor.look('missions/none'))).toBe(0)
})

test('what cannot be done now is refused with what can', async () => {
  const flow = await aWorkflow(stage('a'))
  const { fleet, id } = flow
  await expect(retryWorkflow(fleet, ASK, id)).rejects.toThrow('is running, so there is nothing to retry.')
  await expect(changeStage(fleet, ASK, id, 'a', {})).rejects.toThrow(`Workflow ${id} is running.`)
  await expect(changeStage(fleet, ASK, id, 'z', {})).rejects.toThrow(`Workflow ${id} has no stage "z".`)
  await cancelWorkflow(fleet, ASK, id)
  await expect(retryWorkflow(fleet, ASK, id)).rejects.toThrow('is still being stopped.')
})

test('an agent that is not installed is told when the workflow is made, with the name of the stage', async () => {
  const fleet = withProgram(aFleet(), 'claude')
  await keep(fleet, 'projects', aProject())
  const stages = [stage('a'), stage('b', { agent: 'gemini' })]
  const asked = { name: 'flow', project_id: 'p1', task: '', stages, tags: [], base_ref: null }
  await expect(createWorkflow(fleet, ASK, asked)).rejects.toThrow(/^Stage b: .* is not installed\./)
  expect((await fleet.store.find('workflows', { index: 'id', limit: 1 })).items).toEqual([])
})

test('a workflow that cannot be read hides no other from a server that starts', async () => {
  const fleet = aFleet()
  for (const id of ['w1', 'w2']) {
    const workflow = { id, stage: 0, settled: null }
    await keep(fleet, 'missions', aMission({ id: `of-${id}`, status: 'queued', workflow }))
  }
  fleet.store.get = () => Promise.reject(new Error('damaged'))
  const refs = await Array.fromAsync(new Workflows(fleet).unfinished())
  expect(refs.sort()).toEqual(['workflows/w1', 'workflows/w2'])
})
