import { expect, test } from 'vitest'
import { HEALTHY, type Quiet } from '../../domain/records/health.ts'
import type { Session } from '../../domain/records/session.ts'
import { Member, Team } from '../../domain/records/team.ts'
import { aMission, aProject, aSession, NOW } from '../../domain/samples.testkit.ts'
import { waitingMessages } from '../questions/messages.ts'
import { settleOverdue } from '../questions/overdue.ts'
import { aDesk } from '../reactor.testkit.ts'
import { refTo } from '../reactor.ts'
import { all, current } from '../records.ts'
import { aBench, interrupted } from '../workshop.testkit.ts'
import { HealthOfMembers } from './reactor.ts'

const MEMBER = refTo('members', 'bob')

/** A member of Claude Code at work, which its session says is quiet or not. */
async function aMember() {
  let now = NOW
  const bench = aBench({ now: () => now })
  const { fleet, save, change } = bench
  const dates = { created_at: NOW, updated_at: NOW }
  const of = { team_id: 't1', project_id: 'p1', ...dates }
  const bob = Member.parse({ ...of, id: 'bob', handle: 'bob', role: 'worker', mission_id: 'm1', session_id: 's1' })
  const ann = Member.parse({ ...of, id: 'ann', handle: 'ann', role: 'worker', person: 'person' })
  const roster = [bob, ann].map(({ id, handle, person }) => ({ handle, member_id: id, is_agent: person === null }))
  await save('projects', aProject())
  await save('teams', Team.parse({ id: 't1', project_id: 'p1', name: 'crew', roster, ...dates }))
  await save('members', bob, ann)
  const mission = { member: { id: 'bob', team_id: 't1' }, session_id: 's1', session_ids: ['s1'], sessions: 1 }
  await save('missions', aMission({ ...mission, status: 'running', agent: 'claude' }))
  await save('sessions', aSession({ member_id: 'bob', agent: 'claude', status: 'running' }))
  const quiet = (signs: number): Quiet => ({ state: 'quiet', since: NOW, signs, text: 'It is quiet.' })
  return {
    ...bench,
    reactor: new HealthOfMembers(fleet, aDesk()),
    wait: (seconds: number) => {
      now = new Date(Date.parse(now) + seconds * 1000).toISOString()
    },
    sign: (signs: number) => change('sessions', 's1', { quiet: quiet(signs) }),
    say: (more: Partial<Session>) => change('sessions', 's1', more),
    health: async () => (await current(fleet, 'members', 'bob')).value.health,
    acts: async () => (await current(fleet, 'members', 'bob')).value.health.done.map(({ act }) => act),
    mails: async () =>
      (await Array.fromAsync(all(fleet, 'mail', 'id'))).map(({ value }) => [value.subject, ...value.to]),
    questions: async () => (await Array.fromAsync(all(fleet, 'questions', 'open'))).map(({ value }) => value),
  }
}

test('each sign brings one step, however often it is looked at', async () => {
  const { reactor, sign, acts, mails, questions, session, mission } = await aMember()
  await sign(1)
  for (let n = 0; n < 3; n++) await reactor.look(MEMBER)
  expect(await mails()).toEqual([['Are you there?', 'bob']])

  await sign(2)
  for (let n = 0; n < 3; n++) await reactor.look(MEMBER)
  expect(await questions()).toMatchObject([{ kind: 'interruption', otherwise: 'allow' }])
  expect((await mission()).asking).toBe(true)

  await sign(3)
  for (let n = 0; n < 3; n++) await reactor.look(MEMBER)
  expect((await session('s1')).stopping).toMatchObject({ outcome: 'stalled', reason: expect.stringContaining('quiet') })
  expect(await acts()).toEqual(['nudge', 'interrupt', 'restart'])
  expect(await mails()).toHaveLength(1)
})

test('what was interrupted goes on after a while, with words of the fleet', async () => {
  const { fleet, reactor, sign, questions, mission, wait } = await aMember()
  for (const signs of [1, 2]) {
    await sign(signs)
    await reactor.look(MEMBER)
  }
  const [question] = await questions()
  wait(9)
  await settleOverdue(fleet, question!, () => {})
  expect(await questions()).toHaveLength(1)
  wait(2)
  await settleOverdue(fleet, question!, () => {})
  expect(await questions()).toEqual([])
  expect((await current(fleet, 'questions', question!.id)).value).toMatchObject({
    status: 'answered',
    answer: { decision: 'allow', text: expect.stringContaining('Go on, or end your turn') },
  })
  expect(await mission()).toMatchObject({ status: 'running', asking: false })
  expect(await waitingMessages(fleet, 's1')).toEqual([])
})

test('a server that dies before a commit has done nothing, and the next one does it once', async () => {
  const { fleet, sign, acts, mails } = await aMember()
  await sign(1)
  const dying = interrupted(fleet, 'commit.member-health', async () => {
    throw new Error('killed')
  })
  await expect(new HealthOfMembers(dying, aDesk()).look(MEMBER)).rejects.toThrow('killed')
  expect([await acts(), await mails()]).toEqual([[], []])
  await new HealthOfMembers(fleet, aDesk()).look(MEMBER)
  expect([await acts(), await mails()]).toEqual([['nudge'], [['Are you there?', 'bob']]])
})

test('a session that ends at the same moment is not stopped any more', async () => {
  const { fleet, reactor, sign, say, acts, change } = await aMember()
  for (const signs of [1, 2]) {
    await sign(signs)
    await reactor.look(MEMBER)
  }
  await sign(3)
  const racing = interrupted(fleet, 'commit.member-health', async () => {
    await say({ status: 'ended', outcome: 'completed', ended_at: NOW })
    await change('missions', 'm1', { status: 'waiting', status_reason: { code: 'mail', text: 'It waits for mail.' } })
  })
  await new HealthOfMembers(racing, aDesk()).look(MEMBER)
  expect((await current(fleet, 'sessions', 's1')).value.stopping).toBeNull()
  expect(await acts()).toEqual([])
})

test('without a lead the people are told, with what was done and what to do', async () => {
  const { fleet, reactor, sign, mails, health } = await aMember()
  for (const signs of [1, 2, 3]) {
    await sign(signs)
    await reactor.look(MEMBER)
  }
  // The session that was started again.
  const again = { id: 's2', number: 2, member_id: 'bob', agent: 'claude', status: 'running' } as const
  await fleet.store.commit({
    changes: [
      {
        put: 'sessions',
        value: aSession({ ...again, quiet: { state: 'quiet', since: NOW, signs: 1, text: 'Quiet.' } }),
        expects: 'absent',
      },
    ],
  })
  const { value, version } = await current(fleet, 'members', 'bob')
  await fleet.store.commit({ changes: [{ put: 'members', value: { ...value, session_id: 's2' }, expects: version }] })
  await reactor.look(MEMBER)
  expect(await mails()).toEqual(
    expect.arrayContaining([
      ['Are you there?', 'bob'],
      ['bob is not well', 'ann'],
    ]),
  )
  expect(await health()).toMatchObject({ state: 'unhealthy' })
})

test('a member that is not watched is left alone, and its episode is over', async () => {
  const { fleet, reactor, sign, change, health, mails } = await aMember()
  await sign(1)
  await reactor.look(MEMBER)
  const { monitor } = (await current(fleet, 'teams', 't1')).value
  await change('teams', 't1', { monitor: { ...monitor, on: false } })
  await sign(2)
  await reactor.look(MEMBER)
  expect(await health()).toEqual({ ...HEALTHY, since: NOW })
  expect(await mails()).toHaveLength(1)
})
