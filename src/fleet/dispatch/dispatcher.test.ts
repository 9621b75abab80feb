import { expect, onTestFinished, test } from 'vitest'
import type { Settings } from '../../config/settings.ts'
import { FLEET, FleetState, Provider } from '../../domain/records/fleet.ts'
import type { Mission } from '../../domain/records/mission.ts'
import type { Project } from '../../domain/records/project.ts'
import { NO_USAGE, type Session } from '../../domain/records/session.ts'
import { aMission, aProject, aSession, NOW } from '../../domain/samples.testkit.ts'
import { aRepository } from '../../git/testkit.ts'
import { aFleet } from '../fleet.testkit.ts'
import type { Fleet } from '../fleet.ts'
import { requestCancel } from '../missions/missions.ts'
import { aDesk } from '../reactor.testkit.ts'
import type { Desk } from '../reactor.ts'
import { change, commitsOf, eventsOf, keep, meanwhile, read, withProgram } from '../records.testkit.ts'
import { fullSlot } from './capacity.ts'
import { Dispatcher } from './dispatcher.ts'
import { planSession } from './next-session.ts'

const ASK = { operation: 'test', actor: 'person' }
const NOON = '2026-11-15T12:00:00.000Z'

/** A queue and what runs: sessions begin here, but no program is started. */
function aQueue(settings: Partial<Settings> = {}, desk: Partial<Desk> = {}) {
  const plain = withProgram(aFleet({ now: () => NOON }), 'claude')
  const fleet: Fleet = Object.create(plain, { settings: { value: { ...plain.settings, ...settings } } })
  const live = new Map<string, { slot: Session }>()
  const begun: string[] = []
  const passes: number[] = []
  const begin = (session: Session) => {
    begun.push(session.mission_id)
    live.set(session.id, { slot: session })
  }
  const aDispatcher = () =>
    new Dispatcher(fleet, { ...aDesk(), passIn: ms => passes.push(ms), ...desk }, { live, begin })
  /** A queued script in a project of its own, so that no project limit makes it wait. */
  const queue = async (id: string, more: Partial<Mission> = {}, project: Partial<Project> = {}) => {
    await keep(fleet, 'projects', aProject({ id: `p-${id}`, worktree: 'none', path: fleet.home.path, ...project }))
    const script = { agent: 'shell', script: true, project_id: `p-${id}` }
    await keep(fleet, 'missions', aMission({ id, status: 'queued', ready: true, queued_at: NOW, ...script, ...more }))
  }
  const status = async (id: string) => (await read(fleet, 'missions', id)).status
  return { fleet, live, begun, passes, aDispatcher, queue, status, dispatcher: aDispatcher() }
}

test('the most urgent starts first, and of equals the one that waits longest', async () => {
  const { queue, dispatcher, begun, status } = aQueue()
  await queue('m1', { queued_at: '2026-11-15T10:02:00.000Z' })
  await queue('m2', { queued_at: '2026-11-15T10:01:00.000Z' })
  await queue('m3', { queued_at: '2026-11-15T10:03:00.000Z', priority: 5 })
  await dispatcher.pass()
  expect(begun).toEqual(['m3', 'm2', 'm1'])
  expect(await status('m1')).toBe('running')
})

test('so many run at once, and the next starts when one has ended', async () => {
  const { queue, dispatcher, begun, live } = aQueue({ maxConcurrent: 1 })
  await queue('m1', { priority: 1 })
  await queue('m2')
  await dispatcher.pass()
  await dispatcher.pass()
  expect(begun).toEqual(['m1'])
  live.clear()
  await dispatcher.pass()
  expect(begun).toEqual(['m1', 'm2'])
})

test('two that pass over the queue at once begin one session of a mission', async () => {
  const { fleet, queue, aDispatcher, begun } = aQueue()
  await queue('m1')
  await Promise.all([aDispatcher().pass(), aDispatcher().pass()])
  expect(begun).toEqual(['m1'])
  expect((await fleet.store.find('sessions', { index: 'id', limit: 10 })).items).toHaveLength(1)
})

test('a person who cancels in the moment it would start wins, and there is another pass', async () => {
  const { fleet, queue, dispatcher, begun, passes, status } = aQueue()
  await queue('m1')
  meanwhile(fleet, () => requestCancel(fleet, ASK, 'm1'))
  await dispatcher.pass()
  expect(begun).toEqual([])
  expect(await status('m1')).toBe('cancelled')
  expect(passes).toEqual([5])
})

test.each<[string, Partial<Mission>, Partial<Project>, number[]]>([
  ['its project is paused', {}, { paused: true }, []],
  ['its project is being deleted', {}, { deleting: true }, []],
  ['it is not its time', { not_before: '2026-11-15T12:00:30.000Z' }, {}, [30_000]],
  ['its project was changed just now', {}, { updated_at: NOON }, [20]],
])('where %s it waits, and what is behind it starts', async (_, mission, project, waits) => {
  const { queue, dispatcher, begun, passes } = aQueue()
  await queue('m1', { priority: 9, ...mission }, project)
  await queue('m2')
  await dispatcher.pass()
  expect(begun).toEqual(['m2'])
  expect(passes).toEqual(waits)
})

test('while the fleet is paused nothing starts', async () => {
  const { fleet, queue, dispatcher, begun } = aQueue()
  await queue('m1')
  await keep(fleet, 'fleet', FleetState.parse({ id: FLEET, paused: true, updated_at: NOW }))
  await dispatcher.pass()
  expect(begun).toEqual([])
})

test('on a disk that is nearly full nothing starts, and it is looked at again', async () => {
  const { queue, dispatcher, begun, passes } = aQueue({ minFreeDisk: Number.MAX_SAFE_INTEGER })
  await queue('m1')
  await dispatcher.pass()
  expect([begun, passes]).toEqual([[], [10_000]])
})

test('a provider that refuses holds its own agents only, until the time it named', async () => {
  const { fleet, queue, dispatcher, begun, passes } = aQueue()
  await queue('m1', { priority: 9, agent: 'claude', script: false })
  await queue('m2')
  const { provider } = fleet.agents.named('claude')
  const held_until = '2026-11-15T12:10:00.000Z'
  await keep(fleet, 'providers', Provider.parse({ id: provider, held_until, updated_at: NOW }))
  await dispatcher.pass()
  expect([begun, passes]).toEqual([['m2'], [600_000]])
})

test("a project that has spent its day's budget waits until tomorrow", async () => {
  const { fleet, queue, dispatcher, begun, passes } = aQueue()
  await queue('m1', {}, { daily_budget_usd: 5 })
  const spending = { day: '2026-11-15', project_id: 'p-m1', agent: 'claude', model: null, sessions: 1 }
  await keep(fleet, 'spending', { id: 'x', ...spending, ...NO_USAGE, cost_usd: 5 })
  await dispatcher.pass()
  expect([begun, passes]).toEqual([[], [12 * 3600_000]])
})

test('a mission that has spent its own budget goes to a person', async () => {
  const { fleet, queue, dispatcher, begun } = aQueue()
  await queue('m1', { max_budget_usd: 2 })
  const used = { usage: { ...NO_USAGE, cost_usd: 2 }, status: 'ended' as const, ended_at: NOW }
  await keep(fleet, 'sessions', aSession({ project_id: 'p-m1', ...used }))
  await dispatcher.pass()
  expect(begun).toEqual([])
  const { status, status_reason } = await read(fleet, 'missions', 'm1')
  expect(status).toBe('needs_input')
  expect(status_reason).toMatchObject({ code: 'limit', text: expect.stringContaining('It reached its budget of $2') })
})

test.each<[string, Partial<Mission>, Partial<Project>, string]>([
  ['an agent that is not installed', { agent: 'gemini', script: false }, {}, 'is not installed.'],
  ['a text that nobody wrote as a script', { script: false }, {}, 'shell runs text as a script, and nobody named it'],
  ['no repository', {}, { worktree: 'git' }, 'is not a git repository.'],
])('a mission with %s fails and says so; what is behind it starts', async (_, mission, project, words) => {
  const { fleet, queue, dispatcher, begun } = aQueue()
  await queue('m1', { priority: 9, ...mission }, project)
  await queue('m2')
  await dispatcher.pass()
  expect(begun).toEqual(['m2'])
  const { status, status_reason } = await read(fleet, 'missions', 'm1')
  expect({ status, code: status_reason?.code }).toEqual({ status: 'failed', code: 'dispatch_failed' })
  expect(status_reason!.text).toContain(words)
})

test('a fault in one mission is its own, and what is behind it starts', async () => {
  const faults: string[] = []
  const attempt: Desk['attempt'] = (ref, work) => work().catch(() => void faults.push(ref))
  const { fleet, queue, dispatcher, begun } = aQueue({}, { attempt })
  await queue('m1', { priority: 9 })
  await queue('m2')
  const { get } = fleet.store
  fleet.store.get = ((collection: 'missions', id: string) =>
    id === 'm1' ? Promise.reject(new Error('damaged')) : get.call(fleet.store, collection, id)) as typeof get
  await dispatcher.pass()
  expect([faults, begun]).toEqual([['missions/m1'], ['m2']])
})

test('what a mission waits for is done: it is ready, once, and the next pass starts it', async () => {
  const { fleet, queue, dispatcher, begun } = aQueue()
  await queue('m1', { status: 'running', ready: false })
  await queue('m2', { ready: false, depends_on: ['m1'] })
  expect(await commitsOf(fleet, () => dispatcher.look('missions/m2'))).toBe(0)
  await change(fleet, 'missions', 'm1', { status: 'done' })
  await dispatcher.look('missions/m2')
  expect((await read(fleet, 'missions', 'm2')).ready).toBe(true)
  const met = (await eventsOf(fleet)).filter(({ kind }) => kind === 'dependency_met')
  expect(met).toMatchObject([{ mission_id: 'm2', data: { on: 'm1' } }])
  await dispatcher.pass()
  expect(begun).toEqual(['m2'])
})

test('what a mission waits for goes back to work before it starts: it waits again', async () => {
  const { fleet, queue, dispatcher, begun } = aQueue()
  await queue('m1', { status: 'running', ready: false })
  await queue('m2', { ready: true, depends_on: ['m1'] })
  await dispatcher.pass()
  expect(begun).toEqual([])
  expect((await read(fleet, 'missions', 'm2')).ready).toBe(false)
})

test('it is looked at when what it depends on moved, and not otherwise', async () => {
  const { queue, dispatcher } = aQueue()
  await queue('m1', { status: 'running', ready: false })
  await queue('m2', { ready: false, depends_on: ['m1'] })
  const refs = (status: string) =>
    dispatcher.affectedBy({ kind: 'landed', mission_id: 'm1', data: { status } } as never)
  expect(await refs('done')).toEqual(['missions/m2'])
  expect(await refs('failed')).toEqual([])
  expect(await Array.fromAsync(dispatcher.unfinished())).toEqual(['missions/m2'])
})

test('a look at a mission that is gone does nothing', async () => {
  const { fleet, dispatcher } = aQueue()
  expect(await commitsOf(fleet, () => dispatcher.look('missions/none'))).toBe(0)
})

// How much may run

const slot = (project_id: string, agent: string) => ({ project_id, agent })

test.each([
  { live: [], full: null },
  { live: [slot('p1', 'claude')], full: null },
  { live: [slot('p1', 'claude'), slot('p1', 'shell')], full: 'project' },
  { live: [slot('p2', 'codex')], full: 'agent' },
  { live: [slot('p2', 'a'), slot('p2', 'b'), slot('p3', 'c')], full: 'fleet' },
  { live: [slot('p1', 'claude')], folder: true, full: 'project' },
])('beside $live.length at work: $full', ({ live, folder, full }) => {
  const { fleet } = aQueue({ maxConcurrent: 3, maxPerAgent: { codex: 1 } })
  const project = aProject({ max_concurrent: 2, worktree: folder ? 'none' : 'git' })
  expect(fullSlot(fleet, live, 'codex', project)).toBe(full)
})

// What the next session starts from

async function aPlace() {
  const repository = await aRepository()
  onTestFinished(repository.remove)
  const { fleet } = aQueue()
  const project = aProject({ path: repository.path })
  await keep(fleet, 'projects', project)
  const tip = await repository.tip()
  const before = aSession({
    ...{ agent: 'claude', status: 'ended', ended_at: NOW, conversation: 'c-1', branch: 'fleet/before', number: 1 },
    ...{ worktree: '/before', start_commit: tip, end_commit: tip },
  })
  await keep(fleet, 'sessions', before)
  const plan = (more: Partial<Mission>) =>
    planSession(fleet, aMission({ agent: 'claude', session_id: 's1', sessions: 1, ...more }), project)
  return { fleet, plan, tip, repository }
}

test.each<{ reason: Session['reason']; worktree: boolean; conversation: boolean }>([
  { reason: 'resume', worktree: true, conversation: true },
  { reason: 'children', worktree: true, conversation: true },
  { reason: 'hand_over', worktree: true, conversation: false },
  { reason: 'retry', worktree: false, conversation: false },
])('$reason: same worktree $worktree, same conversation $conversation', async ({ reason, worktree, conversation }) => {
  const { plan, tip } = await aPlace()
  const session = await plan({ next: { reason, instructions: null } })
  expect(session).toMatchObject({ number: 2, reason, start_commit: tip, status: 'starting' })
  expect(session.worktree === '/before').toBe(worktree)
  expect(session.branch === 'fleet/before').toBe(worktree)
  expect(session.resumes !== null).toBe(conversation)
})

test('another agent goes on in the same worktree with a conversation of its own', async () => {
  const { fleet, plan } = await aPlace()
  withProgram(fleet, 'codex')
  const session = await plan({ agent: 'codex', next: { reason: 'resume', instructions: null } })
  expect(session).toMatchObject({ worktree: '/before', resumes: null })
})

test('it starts from kept work of what it depends on, several merged, and without it where it starts clean', async () => {
  const { fleet, plan, tip, repository } = await aPlace()
  for (const name of ['a', 'b']) {
    await repository.git('checkout', '--quiet', '-b', name, tip)
    const end_commit = await repository.commit(name, { [name]: name })
    await keep(fleet, 'sessions', aSession({ id: `s-${name}`, mission_id: name, end_commit }))
    await keep(fleet, 'missions', aMission({ id: name, status: 'done', result: 'kept', session_id: `s-${name}` }))
  }
  const first = { session_id: null, depends_on: ['a', 'b'] }
  const { start_commit } = await plan(first)
  expect((await repository.filesOn(start_commit!)).toSorted()).toEqual(['README.md', 'a', 'b'])
  expect((await plan({ ...first, start_from: 'clean' })).start_commit).toBe(tip)
})

test('a base branch that is gone is told with what to do', async () => {
  const { fleet, repository } = await aPlace()
  const project = aProject({ path: repository.path, base_branch: 'elsewhere' })
  await expect(planSession(fleet, aMission({ agent: 'claude' }), project)).rejects.toThrow(
    'The base branch elsewhere is gone from',
  )
})
