import { expect, test } from 'vitest'
import { MissionSettings, type Status } from '../../domain/records/mission.ts'
import { Workflow } from '../../domain/records/workflow.ts'
import { aMission, aProject, aSession, NOW } from '../../domain/samples.testkit.ts'
import { current } from '../records.ts'
import { aBench, interrupted } from '../workshop.testkit.ts'
import {
  createMission,
  deleteMission,
  dispatchMission,
  requestCancel,
  retryMission,
  updateMission,
} from './missions.ts'

const ask = (key?: string) => ({ operation: 'test', actor: 'a person', key })
const fields = (more: object = {}) => ({
  ...MissionSettings.parse({ title: 'a script', agent: 'shell', ...more }),
  detailed_prompt: 'echo hello',
})

async function aProjectWith(...missions: Parameters<typeof aMission>[0][]) {
  const bench = aBench()
  await bench.save('projects', aProject())
  for (const each of missions) await bench.save('missions', aMission({ agent: 'shell', script: true, ...each }))
  const count = async () => (await bench.fleet.store.find('missions', { index: 'created', limit: 50 })).items.length
  return { ...bench, count }
}

test('the same key makes one mission, however often and however many at once ask', async () => {
  const { fleet, count, told } = await aProjectWith()
  const make = () => createMission(fleet, ask('k1'), 'p1', fields(), true)
  const made = await Promise.all([make(), make(), make()])
  const again = await make()
  expect(new Set([...made, again].map(({ value }) => value.id)).size).toBe(1)
  expect(await count()).toBe(1)
  expect((await told()).map(each => each.split(' ')[0])).toEqual(['mission_created', 'auto_dispatched'])
})

test.each([
  { more: { agent: 'nobody' }, says: /nobody/ },
  { more: { depends_on: ['missing'] }, says: 'There is no mission "missing".' },
  { more: { subdirectory: '../elsewhere' }, says: 'must be a path inside the repository' },
  { more: { effort: 'high' }, says: 'cannot be told to think with effort high' },
  { more: { approvals: 'ask' }, says: 'cannot ask a person for permission' },
  { more: { agent: null }, says: 'Project a project has no coding agent, and none is installed and signed in.' },
])('what could never start is refused when it is written, and nothing is kept: $says', async ({ more, says }) => {
  const { fleet, count } = await aProjectWith()
  await expect(createMission(fleet, ask(), 'p1', fields(more), true)).rejects.toThrow(says)
  expect(await count()).toBe(0)
})

test('no mission is made in a project that somebody deletes at the same time', async () => {
  const { fleet, change, count } = await aProjectWith()
  const meanwhile = interrupted(fleet, 'commit.wish', () => change('projects', 'p1', { deleting: true }))
  await expect(createMission(meanwhile, ask(), 'p1', fields(), true)).rejects.toThrow(
    'Project a project is being deleted.',
  )
  expect(await count()).toBe(0)
})

test('a dependency that ends in the moment a mission is queued is not missed', async () => {
  const { fleet, change, mission } = await aProjectWith(
    { id: 'm1', status: 'running' },
    { id: 'm2', depends_on: ['m1'] },
  )
  const ends = () => change('missions', 'm1', { status: 'done', result: 'no_changes' })
  await dispatchMission(interrupted(fleet, 'commit.wish', ends), ask(), 'm2')
  expect(await mission('m2')).toMatchObject({ status: 'queued', ready: true })
})

test('a mission that is queued already is not queued twice', async () => {
  const { fleet, told } = await aProjectWith({ id: 'm1' })
  for (let times = 0; times < 3; times++) await dispatchMission(fleet, ask(), 'm1')
  expect(await told()).toEqual(['dispatched m1'])
})

test('of two people who cancel a draft at once, one does and the other is told', async () => {
  const { fleet, told } = await aProjectWith({ id: 'm1' })
  const both = await Promise.allSettled([requestCancel(fleet, ask(), 'm1'), requestCancel(fleet, ask(), 'm1')])
  expect(both.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected'])
  expect(await told()).toEqual(['cancelled m1'])
})

test('a key that was used for something else is refused', async () => {
  const { fleet } = await aProjectWith({ id: 'm1', status: 'failed' })
  await retryMission(fleet, { ...ask('k1'), input: 'one' }, 'm1')
  await expect(retryMission(fleet, { ...ask('k1'), input: 'two' }, 'm1')).rejects.toThrow(
    'This idempotency key was used for something else.',
  )
})

test('while an agent works, only what does not change its work can be edited', async () => {
  const { fleet, mission } = await aProjectWith({ id: 'm1', status: 'running' })
  await updateMission(fleet, ask(), 'm1', { title: 'better', priority: 5, tags: ['x'] })
  expect(await mission()).toMatchObject({ title: 'better', priority: 5, tags: ['x'] })
  await expect(updateMission(fleet, ask(), 'm1', { max_turns: 3 })).rejects.toThrow('Mission m1 is running')
})

test.each(['depends_on', 'parent_mission_id'] as const)('links between missions form no circle: %s', async field => {
  const link = (id: string) => (field === 'depends_on' ? { depends_on: [id] } : { parent_mission_id: id })
  const { fleet } = await aProjectWith({ id: 'm1' }, { id: 'm2', ...link('m1') }, { id: 'm3', ...link('m2') })
  await expect(updateMission(fleet, ask(), 'm1', link('m3'))).rejects.toThrow(
    `${field}: would make a circle: m1 → m3 → m2 → m1`,
  )
})

test('two edits at once that would close a circle together: one wins', async () => {
  const { fleet, mission } = await aProjectWith(
    { id: 'm1' },
    { id: 'm2', depends_on: ['m3'] },
    { id: 'm3' },
    { id: 'm4', depends_on: ['m1'] },
  )
  const both = await Promise.allSettled([
    updateMission(fleet, ask(), 'm1', { depends_on: ['m2'] }),
    updateMission(fleet, ask(), 'm3', { depends_on: ['m4'] }),
  ])
  expect(both.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected'])
  expect([...(await mission('m1')).depends_on, ...(await mission('m3')).depends_on]).toHaveLength(1)
})

test('prose does not become a script by a change of the agent alone', async () => {
  const { fleet } = await aProjectWith({ id: 'm1', agent: null, script: false })
  await expect(updateMission(fleet, ask(), 'm1', { agent: 'shell' })).rejects.toThrow(
    'Its text was written for a coding agent, and shell would run it as a script.',
  )
  const { value } = await updateMission(fleet, ask(), 'm1', { agent: 'shell', detailed_prompt: 'echo hi' })
  expect(value.script).toBe(true)
})

test('a plugin cannot have the text of others run as a script', async () => {
  const { fleet } = await aProjectWith()
  const plugin = { operation: 'test', actor: 'plugin:mail' }
  await expect(createMission(fleet, plugin, 'p1', fields(), true)).rejects.toThrow('A plugin cannot name shell')
})

test('a deletion takes along everything about the mission, and may be asked for again', async () => {
  const { fleet, save, count, told } = await aProjectWith({ id: 'm1', status: 'done', session_id: 's1' })
  await save('sessions', aSession({ status: 'ended', worktree: null, worktree_kept: false }))
  for (let times = 0; times < 2; times++) await deleteMission(fleet, ask('k1'), 'm1', false)
  expect([await count(), await fleet.store.get('sessions', 's1')]).toEqual([0, undefined])
  expect(await told()).toEqual(['mission_deleted m1'])
  await expect(current(fleet, 'missions', 'm1')).rejects.toThrow('There is no mission "m1".')
})

test.each<Status>(['queued', 'running', 'waiting', 'landing'])('a mission that is %s is not deleted', async status => {
  const { fleet, count } = await aProjectWith({ id: 'm1', status })
  await expect(deleteMission(fleet, ask(), 'm1', true)).rejects.toMatchObject({ hint: 'fleet cancel m1' })
  expect(await count()).toBe(1)
})

test('what others count on is not deleted', async () => {
  const running = Workflow.parse({
    ...{ id: 'w1', project_id: 'p1', name: 'w', status: 'running', stages: 1 },
    ...{ task: { inline: '' }, definition: { inline: '[]' }, created_at: NOW, updated_at: NOW },
  })
  const stage = { id: 'w1', stage: 0, settled: null }
  const { fleet, save } = await aProjectWith(
    { id: 'm1', status: 'done' },
    { id: 'm2', depends_on: ['m1'] },
    { id: 'm3', status: 'done', workflow: stage },
  )
  await save('workflows', running)
  await expect(deleteMission(fleet, ask(), 'm1', true)).rejects.toThrow('Other missions depend on mission m1: m2.')
  await expect(deleteMission(fleet, ask(), 'm3', true)).rejects.toThrow('is a stage of workflow w1, which is running')
})
