import { expect, test } from 'vitest'
import type { Session } from '../domain/records/session.ts'
import type { Delivery } from '../domain/records/team.ts'
import { aSession, NOW } from '../domain/samples.testkit.ts'
import { aDesk } from '../fleet/reactor.testkit.ts'
import { refTo } from '../fleet/reactor.ts'
import { handToPrompt } from '../fleet/teams/handing.ts'
import { Teams } from '../fleet/teams/reactor.ts'
import { twoTeams } from './teams.testkit.ts'

interface Sent {
  id: string
  deliveries: { id: string }[]
}

/** A member, bob, whose first session was told a message. */
async function aReader(first: Partial<Session>, told: Partial<Delivery>, letter: object = {}) {
  const t = await twoTeams()
  const { ask, owner, one, fleet, change, save } = t
  const bob = await ask<{ id: string; mission_id: string }>(owner, 'get_member', { team_id: one.id, member: 'bob' })
  const session_id = `s-${one.id}-bob`
  await change('members', bob.id, { session_id })
  await change('sessions', session_id, { agent: 'claude', ...first })
  const sent = await ask<Sent>(owner, 'send_mail', {
    ...{ team_id: one.id, to: 'bob', body: 'Paint the pier.', wake: true },
    ...letter,
  })
  const handed = { session_id, via: 'prompt' as const, times_handed: 1, handed_at: NOW }
  await change('deliveries', sent.deliveries[0]!.id, { ...handed, ...told })
  const next = (more: Partial<Session> = {}): Session =>
    aSession({
      ...{ id: 's-next', mission_id: bob.mission_id, project_id: 'p1', member_id: bob.id, agent: 'claude' },
      ...{ status: 'starting', worktree: null, worktree_kept: false, ...more },
    })
  return {
    ...{ ...t, bob, sent, session_id },
    teams: new Teams(fleet, aDesk()),
    delivery: async () => (await fleet.store.get('deliveries', sent.deliveries[0]!.id))!.value,
    /** What the next session is told. It starts before the teams reactor has seen the end of the first. */
    told: async (more?: Partial<Session>) => {
      const session = next(more)
      await save('sessions', session)
      await change('members', bob.id, { session_id: session.id })
      return (await handToPrompt(fleet, session)).words
    },
  }
}

const HEARD = { state: 'heard', heard_by: 'turn', heard_at: NOW } as const

test('what a session heard that crashed is told to the next one, however soon that starts', async () => {
  const crashed = { status: 'ended', outcome: 'lost', conversation: null } as const
  const { told, delivery, sent } = await aReader(crashed, { ...HEARD, closed_at: NOW })
  expect(await told()).toContain(`Message ${sent.id} from operator`)
  expect(await delivery()).toMatchObject({ state: 'handed', session_id: 's-next', times_handed: 2 })
})

test('a conversation that begins anew is told again what is not answered, and nothing else', async () => {
  const full = { status: 'ended', outcome: 'handed_over', conversation: 'c1' } as const
  const owes = await aReader(full, HEARD, { needs: 'reply' })
  expect(await owes.told({ reason: 'hand_over' })).toContain(`Message ${owes.sent.id} from operator`)
  expect(await owes.delivery()).toMatchObject({ state: 'handed', session_id: 's-next' })

  const done = await aReader(full, { ...HEARD, closed_at: NOW })
  expect(await done.told({ reason: 'hand_over' })).toBe('')

  // One that goes on remembers it, and a script decides itself what it answers later.
  for (const more of [{ resumes: 'c1' }, { agent: 'shell' }]) {
    const remembers = await aReader(full, HEARD, { needs: 'reply' })
    expect(await remembers.told(more)).toBe('')
    expect(await remembers.delivery()).toMatchObject({ state: 'heard', session_id: null })
  }
})

test('new mail is told beside all that was not answered, however long that is', async () => {
  const full = { status: 'ended', outcome: 'handed_over', conversation: 'c1' } as const
  const long = { body: 'long '.repeat(6000), needs: 'reply' }
  const { ask, owner, one, change, told, session_id } = await aReader(full, HEARD, long)
  for (let n = 0; n < 6; n++) {
    const { deliveries } = await ask<Sent>(owner, 'send_mail', { team_id: one.id, to: 'bob', ...long })
    await change('deliveries', deliveries[0]!.id, { ...HEARD, session_id, via: 'prompt', times_handed: 1 })
  }
  const { id } = await ask<Sent>(owner, 'send_mail', { team_id: one.id, to: 'bob', body: 'Come ashore.' })
  expect(await told({ reason: 'hand_over' })).toContain(`Message ${id} from operator`)
})

test('mail that was handed over five times, and released, can be told in the middle of a turn again', async () => {
  const { ask, owner, change, fleet, teams, bob, sent, delivery, session_id } = await aReader(
    { status: 'running' },
    { ...{ state: 'queued', session_id: null, via: null, times_handed: 0, handed_at: null } },
    { needs: 'ack' },
  )
  for (let round = 1; round <= 5; round++) {
    await teams.look(refTo('members', bob.id))
    expect(await delivery()).toMatchObject({ state: 'handed', via: 'message', times_handed: round })
    await change('sessions', session_id, { status: 'ended', outcome: 'lost' })
    await teams.look(refTo('members', bob.id))
    await change('sessions', session_id, { status: 'running' })
  }
  expect(await delivery()).toMatchObject({ state: 'queued', held: expect.stringMatching(/handed over 5 times/) })
  await ask(owner, 'release_mail', { mail_id: sent.id })
  await teams.look(refTo('members', bob.id))
  const told = await delivery()
  expect(told).toMatchObject({ state: 'handed', via: 'message', held: null })
  expect((await fleet.store.get('messages', `${told.id}.6`))?.value).toMatchObject({ status: 'waiting' })
})

test('what is cut in a prompt is shown by the tool that is named there, also once it was heard', async () => {
  const body = `${'x'.repeat(40_000)}the end`
  const { ask, change, one, sent, told, delivery } = await aReader(
    { status: 'ended', outcome: 'completed' },
    { state: 'queued', session_id: null, via: null },
    { body },
  )
  const [, tool, id] = /characters: (\w+) (\w+) shows all/.exec(await told())!
  expect([tool, id]).toEqual(['get_mail', sent.id])
  await change('deliveries', (await delivery()).id, { ...HEARD, closed_at: NOW })
  expect(await ask(one.bob, tool!, { mail_id: id })).toMatchObject({ body })
})
