import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import type { Mission } from '../../domain/records/mission.ts'
import type { Project } from '../../domain/records/project.ts'
import { NO_USAGE, type Session } from '../../domain/records/session.ts'
import { aMission, aProject, aSession, NOW } from '../../domain/samples.testkit.ts'
import { aRepository } from '../../git/testkit.ts'
import { aFleet } from '../fleet.testkit.ts'
import { change, commitsOf, eventsOf, keep, meanwhile, read } from '../records.testkit.ts'
import { childrenOf } from '../records.ts'
import { awaitChildren, delegate, type SubMission } from './delegation.ts'
import { Delegation } from './reactor.ts'

const ASK = { operation: 'test', actor: 'session:s1' }

const part = (more: Partial<SubMission> = {}): SubMission => ({
  title: 'a part',
  detailed_prompt: 'Please do this part.',
  wait_for_me: false,
  from: 'base',
  ...more,
})

/** A mission whose agent is at work, and what it may do. */
async function aParent(
  mission: Partial<Mission> = {},
  { session, project }: { session?: Partial<Session>; project?: Partial<Project> } = {},
) {
  const fleet = aFleet()
  await keep(fleet, 'projects', aProject({ agent: 'claude', ...project }))
  await keep(fleet, 'missions', aMission({ status: 'running', session_id: 's1', ...mission }))
  await keep(fleet, 'sessions', aSession({ agent: 'claude', ...session }))
  const reactor = new Delegation(fleet)
  return {
    fleet,
    reactor,
    handOn: (more?: Partial<SubMission>, key?: string) => delegate(fleet, { ...ASK, key }, 's1', part(more)),
    children: () => childrenOf(fleet, 'm1'),
    parent: () => read(fleet, 'missions', 'm1'),
    look: () => reactor.look('missions/m1'),
  }
}

test('a sub-mission is queued under its parent, and may do no more than that', async () => {
  const limits = { tool_preset: 'fix', approvals: 'deny', max_turns: 7, timeout_seconds: 60 } as const
  const { fleet, handOn, parent } = await aParent({ ...limits, landing: 'review' }, { session: { model: 'small' } })
  const child = await handOn()
  expect(child).toMatchObject({ ...limits, status: 'queued', ready: true, parent_mission_id: 'm1', landing: 'review' })
  expect(child).toMatchObject({ agent: 'claude', model: 'small' })
  expect(await parent()).toMatchObject({ spawned: 1, parts: [child.id] })
  const told = (await eventsOf(fleet)).find(({ kind }) => kind === 'delegated')
  expect(told).toMatchObject({ mission_id: 'm1', session_id: 's1', data: { to: child.id } })
})

test('the model of its parent goes with the agent of its parent only', async () => {
  const { handOn } = await aParent({}, { session: { model: 'small' } })
  expect(await handOn({ agent: 'codex' })).toMatchObject({ agent: 'codex', model: null })
})

test('asked for twice under one key it is made once', async () => {
  const { handOn, children, parent } = await aParent()
  const [one, other] = [await handOn({}, 'k'), await handOn({}, 'k')]
  expect(other.id).toBe(one.id)
  expect(await children()).toHaveLength(1)
  expect((await parent()).spawned).toBe(1)
})

test('of two that would both be the last allowed one, one is made', async () => {
  const { handOn, children } = await aParent({ spawned: 19 })
  const ended = await Promise.allSettled([handOn(), handOn()])
  expect(ended.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected'])
  expect(await children()).toHaveLength(1)
  await expect(handOn()).rejects.toThrow('A mission may have at most 20 sub-missions, and this one has that many')
})

test('sub-missions are nested so deep, and no deeper', async () => {
  const { fleet, handOn, children } = await aParent({ parent_mission_id: 'm2' })
  await keep(fleet, 'missions', aMission({ id: 'm2', parent_mission_id: 'm3' }))
  // The missions above it are gone, so they do not count.
  expect((await handOn()).parent_mission_id).toBe('m1')
  await keep(fleet, 'missions', aMission({ id: 'm3' }))
  await expect(handOn()).rejects.toThrow('Sub-missions may be nested at most 2 deep, and this one would be deeper.')
  expect(await children()).toHaveLength(1)
})

test('a mission that is being cancelled hands nothing on, also when that comes in the same moment', async () => {
  const { fleet, handOn, children } = await aParent()
  meanwhile(fleet, () => change(fleet, 'missions', 'm1', { cancel_requested: true }))
  await expect(handOn()).rejects.toThrow('Mission m1 is being cancelled.')
  expect(await children()).toEqual([])
})

test('it spends of the budget of its parent: half of what is left, or what is asked for, and never more', async () => {
  const { fleet, handOn } = await aParent({ max_budget_usd: 10 })
  await change(fleet, 'sessions', 's1', { usage: { ...NO_USAGE, cost_usd: 2 } })
  expect((await handOn()).max_budget_usd).toBe(4)
  expect((await handOn({ max_budget_usd: 3 })).max_budget_usd).toBe(3)
  await expect(handOn({ max_budget_usd: 1.5 })).rejects.toThrow('Only $1.00 of its budget is left.')
})

test('one that waits for its parent starts after it, and begins with what its parent finishes', async () => {
  const { handOn } = await aParent()
  expect(await handOn({ wait_for_me: true })).toMatchObject({ depends_on: ['m1'], ready: false })
  await expect(handOn({ wait_for_me: true, from: 'me' })).rejects.toThrow('from: is for a sub-mission that starts now')
})

test('its text is a script only if the agent that asks names one that runs scripts', async () => {
  const { handOn } = await aParent({}, { session: { agent: 'shell' } })
  expect(await handOn()).toMatchObject({ agent: 'claude', script: false })
  expect(await handOn({ agent: 'shell' })).toMatchObject({ agent: 'shell', script: true })
})

test('one that starts from its parent has what is not committed there, and does not land', async () => {
  const repository = await aRepository()
  onTestFinished(repository.remove)
  const worktree = join(repository.root, 'worktree')
  await repository.git('worktree', 'add', '--quiet', worktree)
  writeFileSync(join(worktree, 'new.txt'), 'under way')
  const place = { session: { worktree }, project: { path: repository.path } }
  const { fleet, handOn } = await aParent({}, place)
  const { id, base_ref, landing } = await handOn({ from: 'me' })
  expect(landing).toBe('never')
  expect(await repository.git('show', `${base_ref}:new.txt`)).toBe('under way')
  const kept = () => repository.git('for-each-ref', '--format=%(refname)', 'refs/fleet')
  expect(await kept()).toContain(id)
  // A refused one leaves nothing behind.
  const before = await kept()
  await change(fleet, 'missions', 'm1', { spawned: 20 })
  await expect(handOn({ from: 'me' })).rejects.toThrow('A mission may have at most 20 sub-missions')
  expect(await kept()).toBe(before)
})

// Waiting for sub-missions

async function waiting(...children: Mission['status'][]) {
  const made = await aParent()
  for (const [index, status] of children.entries())
    await keep(made.fleet, 'missions', aMission({ id: `c${index}`, status, parent_mission_id: 'm1' }))
  const awaited = await awaitChildren(made.fleet, ASK, 's1')
  await change(made.fleet, 'sessions', 's1', { status: 'ended', ended_at: NOW })
  await change(made.fleet, 'missions', 'm1', { status: 'waiting' })
  return { ...made, awaited }
}

test('it waits for those that are under way, and goes on when the last is over, once', async () => {
  const { fleet, awaited, look, parent } = await waiting('running', 'queued', 'done', 'draft')
  expect(awaited).toEqual(['c0', 'c1'])
  await change(fleet, 'missions', 'c0', { status: 'done' })
  await look()
  expect((await parent()).status).toBe('waiting')
  await change(fleet, 'missions', 'c1', { status: 'cancelled' })
  await look()
  expect(await parent()).toMatchObject({ status: 'queued', next: { reason: 'children' } })
  expect(await commitsOf(fleet, look)).toBe(0)
})

test.each<Mission['status']>(['needs_input', 'review', 'failed'])(
  'one that is %s wakes it: somebody is needed',
  async status => {
    const { fleet, look, parent } = await waiting('running', 'running')
    await change(fleet, 'missions', 'c0', { status })
    await look()
    expect((await parent()).status).toBe('queued')
  },
)

test('what it was told once does not wake it again', async () => {
  const { fleet, look, parent } = await waiting('running', 'needs_input')
  // A sub-mission that needs a person is news, so the parent did not wait at all.
  expect((await read(fleet, 'sessions', 's1')).awaits).toEqual({ children: [], told: ['c1'] })
  await change(fleet, 'sessions', 's1', { awaits: { children: ['c0', 'c1'], told: ['c1'] } })
  await look()
  expect((await parent()).status).toBe('waiting')
})

test('a sub-mission that is gone is waited for no longer', async () => {
  const { fleet, look, parent } = await waiting('running')
  const { version } = (await fleet.store.get('missions', 'c0'))!
  await fleet.store.commit({ changes: [{ remove: 'missions', id: 'c0', expects: version }] })
  await look()
  expect((await parent()).status).toBe('queued')
})

test('a session that has ended says nothing more', async () => {
  const { fleet } = await waiting('running')
  await expect(awaitChildren(fleet, ASK, 's1')).rejects.toThrow('Session s1 has ended.')
})

test('a person who sends it back to work in the same moment is not overruled', async () => {
  const { fleet, look, parent } = await waiting('running')
  await change(fleet, 'missions', 'c0', { status: 'done' })
  meanwhile(fleet, () => change(fleet, 'missions', 'm1', { status: 'running' }))
  await look()
  expect((await parent()).status).toBe('running')
})

test('a look at a mission that is gone does nothing', async () => {
  const fleet = aFleet()
  expect(await commitsOf(fleet, () => new Delegation(fleet).look('missions/none'))).toBe(0)
})

test.each<[string, object, string[]]>([
  ['begins to wait', { mission_id: 'm1', data: { status: 'waiting' } }, ['missions/m1']],
  ['has a part that is over', { mission_id: 'c0', data: { status: 'done' } }, ['missions/m1']],
  ['has a part that needs somebody', { mission_id: 'c0', data: { status: 'needs_input' } }, ['missions/m1']],
  ['has a part that begins', { mission_id: 'c0', data: { status: 'running' } }, []],
  ['lost a part', { kind: 'mission_deleted', mission_id: 'c9', data: { parent: 'm1' } }, ['missions/m1']],
])('a mission that %s is looked at, or not', async (_, event, refs) => {
  const { reactor } = await waiting('running')
  expect(
    await reactor.affectedBy({ kind: 'session_running', ...event } as Parameters<Delegation['affectedBy']>[0]),
  ).toEqual(refs)
})
