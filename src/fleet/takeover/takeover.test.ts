import { expect, test } from 'vitest'
import { Unavailable } from '../../domain/errors.ts'
import type { Mission, TakenOver } from '../../domain/records/mission.ts'
import { aMission, aProject, aSession, NOW } from '../../domain/samples.testkit.ts'
import { identityOf } from '../../runner/processes.ts'
import type { Collection } from '../../store/index.ts'
import type { Fleet } from '../fleet.ts'
import { aDesk } from '../reactor.testkit.ts'
import { aBench, aWorkshop } from '../workshop.testkit.ts'
import { TakeOvers } from './reactor.ts'
import { handBackMission, openConversation, takeOverMission } from './takeover.ts'

const ask = { operation: 'test', actor: 'a person' }
const CONVERSATION = '11111111-1111-4111-8111-111111111111'
const GONE = { pid: 999_999_999, started: '1', boot: 'b', host: null }
const ALIVE = { ...identityOf(process.pid)!, host: null }

async function finished(more: Partial<Mission> = {}, session: Parameters<typeof aSession>[0] = {}) {
  const bench = aBench()
  await bench.save('projects', aProject())
  await bench.save('missions', aMission({ status: 'review', session_id: 's1', branch: 'b', ...more }))
  await bench.save('sessions', aSession({ agent: 'claude', status: 'ended', conversation: 'c1', ...session }))
  return bench
}

const taken = (more: Partial<TakenOver> = {}): Partial<Mission> => ({
  status: 'needs_input',
  taken_over: {
    ...{ by: 'a person', since: NOW, terminal: GONE, was: { status: 'review', result: null, ended_at: null } },
    ...{ session_id: 's1', gone: false, page: false, next: null, message: null },
    ...more,
  },
})

/** Looks as often as the reactor asks for it, and waits for the work that this begins. */
async function looked(fleet: Fleet, ref: `missions/${string}` = 'missions/m1'): Promise<void> {
  const begun: Promise<unknown>[] = []
  const reactor = new TakeOvers(fleet, { ...aDesk(), goOn: (_, work) => void begun.push(work) }, new Map())
  await reactor.look(ref)
  for (let work = begun.shift(); work; work = begun.shift()) await work
}

test('of two people who take a mission over at once, one gets it', async () => {
  const { fleet, mission, told } = await finished()
  const take = (pid: number) => takeOverMission(fleet, ask, 'm1', { ...GONE, pid })
  const both = await Promise.allSettled([take(1), take(2)])
  expect(both.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected'])
  await expect(take(3)).rejects.toThrow(/^Mission m1 was taken over at .* by a person \(process [12]\)\.$/)
  expect(await mission()).toMatchObject({
    status: 'needs_input',
    taken_over: { was: { status: 'review' }, terminal: { host: fleet.home.host } },
  })
  expect(await told()).toEqual(['taken_over m1'])
})

test('an agent at work is asked to stop first', async () => {
  const { fleet, mission, told } = await finished({ status: 'running' }, { status: 'running' })
  await takeOverMission(fleet, ask, 'm1', GONE)
  expect(await mission()).toMatchObject({ status: 'running', taken_over: { by: 'a person', session_id: null } })
  expect(await told()).toEqual(['takeover_requested m1'])
})

test('a mission that a page held is handed back when its server is gone', async () => {
  const { fleet, mission } = await finished(taken({ page: true }), { status: 'running' })
  await looked(fleet)
  expect(await mission()).toMatchObject({ taken_over: { gone: false, next: 'keep' } })
})

test.each([
  { more: {}, session: { agent: 'shell' }, says: 'has no conversation that a person could continue' },
  { more: {}, session: { conversation: null }, says: 'The last session of mission m1 left no conversation' },
  { more: {}, session: { worktree: null, worktree_kept: false }, says: 'works in a folder without worktrees' },
  { more: { session_id: null }, session: {}, says: 'never ran, so there is no conversation to take over' },
  { more: { cancel_requested: true }, session: {}, says: 'Mission m1 is being cancelled.' },
  { more: { status: 'landing' as const }, session: {}, says: 'Mission m1 is landing' },
])('what nobody can go on with is refused: $says', async ({ more, session, says }) => {
  const { fleet, mission } = await finished(more, session)
  await expect(takeOverMission(fleet, ask, 'm1', GONE)).rejects.toThrow(says)
  expect((await mission()).taken_over).toBeNull()
})

test('a mission is given back by the terminal that holds it, or by anyone once that is gone', async () => {
  const give = (fleet: Fleet, terminal?: TakenOver['terminal']) =>
    handBackMission(fleet, ask, 'm1', { next: 'keep', terminal })
  const open = await finished(taken({ terminal: ALIVE }))
  await expect(give(open.fleet)).rejects.toThrow(`Mission m1 is still open in a terminal: process ${process.pid}.`)
  await expect(give(open.fleet, GONE)).rejects.toThrow('is still open in a terminal')
  expect((await give(open.fleet, ALIVE)).value.taken_over?.next).toBe('keep')
  const inPage = await finished(taken({ terminal: ALIVE, page: true }))
  expect((await give(inPage.fleet)).value.taken_over?.next).toBe('keep')
  const gone = await finished(taken())
  expect((await give(gone.fleet)).value.taken_over?.next).toBe('keep')
  const elsewhere = await finished(taken({ terminal: { ...GONE, host: 'another' } }))
  await expect(give(elsewhere.fleet)).rejects.toThrow('Mission m1 is open in a terminal on host another.')
  await expect(give((await finished()).fleet)).rejects.toThrow('Mission m1 is not taken over.')
})

test('an agent that goes on is told that a person took part, and what they say', async () => {
  const { fleet } = await finished(taken())
  const { value } = await handBackMission(fleet, ask, 'm1', { next: 'resume', message: 'Mind the tests.' })
  expect(await fleet.blobs.read(value.taken_over!.message!)).toMatch(
    /^A person has taken part .*\n\nMind the tests\.$/s,
  )
})

test('what the agent had not heard when it was stopped is told with the words of the person', async () => {
  const images = ['a'.repeat(64)]
  const { fleet } = await finished(taken({ message: { inline: 'Mind the tide.', images } }))
  const { value } = await handBackMission(fleet, ask, 'm1', { next: 'resume', message: 'I fixed the pier.' })
  const { message } = value.taken_over!
  expect(await fleet.blobs.read(message!)).toMatch(
    /hands both back to you[\s\S]*Mind the tide\.[\s\S]*I fixed the pier\./,
  )
  expect(message!.images).toEqual(images)
})

test('a terminal that is gone is noticed once', async () => {
  const { fleet, mission, told } = await finished(taken(), { status: 'running' })
  await looked(fleet)
  expect(await mission()).toMatchObject({ taken_over: { gone: true }, status_reason: { code: 'takeover_gone' } })
  await looked(fleet)
  expect(await told()).toEqual(['takeover_gone m1'])
})

test.each([
  { what: 'one that is open', more: taken({ terminal: ALIVE }) },
  { what: 'one of another host', more: taken({ terminal: { ...GONE, host: 'another' } }) },
  { what: 'a mission that nobody took', more: {} },
])('nothing is done about $what', async ({ more }) => {
  const { fleet, mission, told } = await finished(more, { status: 'running' })
  const before = await mission()
  await looked(fleet)
  await looked(fleet, 'missions/gone')
  expect([await mission(), await told()]).toEqual([before, []])
})

test('without a conversation to go on with, the mission says so and is nobody’s', async () => {
  const { fleet, finished: work, mission, change } = await aWorkshop()
  await work('m1', { 'new.txt': 'new\n' }, { mission: { ...taken({ session_id: null }), script: true } })
  await change('sessions', 's-m1', { worktree: '/gone' })
  await looked(Object.create(fleet, { environment: { value: { PATH: process.env.PATH } } }))
  expect(await mission()).toMatchObject({
    ...{ taken_over: null, status: 'needs_input', session_id: 's-m1' },
    status_reason: {
      code: 'takeover_failed',
      text: expect.stringContaining('the session that was stopped left no conversation to continue'),
    },
  })
})

test('a store that gives no answer fails no take-over', async () => {
  const { fleet, finished: work, mission } = await aWorkshop()
  await work('m1', { 'new.txt': 'new\n' }, { mission: { ...taken({ session_id: null }), script: true } })
  const before = await mission()
  let reads = 0
  const get = async (collection: Collection, id: string) => {
    // The first read finds the session that was stopped; planning the next one reads it again.
    if (collection === 'sessions' && ++reads > 1) throw new Unavailable('The store gave no answer.')
    return fleet.store.get(collection, id)
  }
  const store = Object.create(fleet.store, { get: { value: get } })
  const environment = { PATH: process.env.PATH }
  const silent = Object.create(fleet, { store: { value: store }, environment: { value: environment } })
  await expect(looked(silent)).rejects.toThrow('The store gave no answer.')
  expect(await mission()).toEqual(before)
})

test('after a start it finds what people have taken over', async () => {
  const { fleet, save } = await finished(taken())
  await save('missions', aMission({ id: 'm2', status: 'needs_input' }))
  const reactor = new TakeOvers(fleet, aDesk(), new Map())
  expect(await Array.fromAsync(reactor.unfinished())).toEqual(['missions/m1'])
})

test('a conversation opens once its session stands, with the marks of that session', async () => {
  const { fleet, mission, change } = await finished(taken(), { resumes: CONVERSATION })
  await change('projects', 'p1', { allow_push: true })
  await expect(openConversation(fleet, await mission(), null)).rejects.toThrow(
    'The take-over of mission m1 is ended; this needs running.',
  )
  await change('sessions', 's1', { status: 'running' })
  const { argv, cwd, variables } = await openConversation(fleet, await mission(), 'http://127.0.0.1:1')
  expect([argv.join(' '), cwd]).toEqual([`claude --resume=${CONVERSATION}`, '/w'])
  expect(variables).toMatchObject({ FLEET_TASK_ID: 'm1', FLEET_URL: 'http://127.0.0.1:1' })
  expect(variables.FLEET_SESSION).toContain('s1')
})
