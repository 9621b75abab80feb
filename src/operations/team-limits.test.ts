import { expect, test } from 'vitest'
import { Usage } from '../domain/records/session.ts'
import { NOW } from '../domain/samples.testkit.ts'
import { aDesk } from '../fleet/reactor.testkit.ts'
import { refTo } from '../fleet/reactor.ts'
import { Teams } from '../fleet/teams/reactor.ts'
import { twoTeams } from './teams.testkit.ts'

interface Shown {
  id: string
  deliveries: { id: string; state: string; held: string | null; reason: string | null }[]
}

interface Member {
  id: string
  state: string
  waits_for: string | null
}

async function aTeam() {
  const t = await twoTeams()
  const { ask, owner, one, fleet } = t
  const teams = new Teams(fleet, aDesk())
  return {
    ...t,
    teams,
    send: (to: string, more: object = {}) =>
      ask<Shown>(owner, 'send_mail', { team_id: one.id, to, body: 'Hello', needs: 'ack', ...more }),
    delivery: async (id: string) => (await ask<Shown>(owner, 'get_mail', { mail_id: id })).deliveries[0]!,
    member: (handle: string) => ask<Member>(owner, 'get_member', { team_id: one.id, member: handle }),
  }
}

test('a team whose budget is spent wakes nobody, says so to the sender, and goes on with more', async () => {
  const { ask, owner, one, change, teams, send, delivery, member } = await aTeam()
  const lea = await member('lea')
  await change('members', lea.id, { session_id: `s-${one.id}-lea` })
  await change('sessions', `s-${one.id}-lea`, { status: 'ended', usage: Usage.parse({ turns: 1, cost_usd: 1.2 }) })
  await ask(owner, 'change_team', { team_id: one.id, max_budget_usd: 1 })
  const { id } = await send('bob')
  const bob = refTo('members', (await member('bob')).id)
  await teams.look(bob)
  const why = 'The budget of the team alpha, $1, is spent.'
  expect(await member('bob')).toMatchObject({ state: 'waiting', waits_for: why })
  expect(await delivery(id)).toMatchObject({ state: 'queued', reason: why })
  await ask(owner, 'change_team', { team_id: one.id, max_budget_usd: 5 })
  await teams.look(bob)
  expect(await member('bob')).toMatchObject({ state: 'waiting', waits_for: 'It has new mail.' })
})

test('what nobody was told by its deadline expires, and what was heard stays', async () => {
  const { ask, one, change, teams, send, delivery } = await aTeam()
  const deadline = new Date(Date.parse(NOW) + 60_000).toISOString()
  const [unread, heard] = [await send('bob', { deadline }), await send('lea', { deadline })]
  await ask(one.lea, 'read_mail')
  for (const { deliveries } of [unread, heard]) await change('deliveries', deliveries[0]!.id, { due_at: NOW })
  await teams.pass()
  expect(await delivery(unread.id)).toMatchObject({ state: 'expired', reason: 'Its deadline came first.' })
  expect(await delivery(heard.id)).toMatchObject({ state: 'heard' })
  expect((await ask<{ messages: unknown[] }>(one.bob, 'read_mail')).messages).toEqual([])
})

test('of one member to another, the seventh message within a minute waits for a person', async () => {
  const { ask, owner, one, delivery } = await aTeam()
  const sent: Shown[] = []
  for (let n = 0; n < 7; n++) sent.push(await ask<Shown>(one.bob, 'send_mail', { to: 'lea', body: `${n}` }))
  const held = sent.map(({ deliveries }) => deliveries[0]!.held)
  expect(held).toEqual([...Array(6).fill(null), expect.stringMatching(/bob sent 6 messages .* the limit is 6/)])
  await expect(ask(one.lea, 'release_mail', { mail_id: sent[6]!.id })).rejects.toThrow(/may not use/)
  await ask(owner, 'release_mail', { mail_id: sent[6]!.id })
  expect(await delivery(sent[6]!.id)).toMatchObject({ state: 'queued', held: null })
})

test('agents neither read nor answer what the limits hold back, and a person does', async () => {
  const { ask, owner, one, delivery } = await aTeam()
  const both = [one.lea, one.bob]
  let last = await ask<Shown>(one.lea, 'send_mail', { to: 'bob', body: '0' })
  for (let n = 1; n <= 9; n++) last = await ask<Shown>(both[n % 2]!, 'reply_mail', { mail_id: last.id, body: `${n}` })
  const why = /Agents have answered each other 9 times/
  expect(last.deliveries[0]).toMatchObject({ state: 'queued', held: expect.stringMatching(why) })
  for (const filter of ['unread', 'all']) {
    const { messages } = await ask<{ messages: Shown[] }>(one.lea, 'read_mail', { filter })
    expect(messages.map(({ id }) => id)).not.toContain(last.id)
  }
  for (const [name, more] of [
    ['reply_mail', { body: '10' }],
    ['ack_mail', {}],
    ['decline_mail', { reason: 'no' }],
  ] as const)
    await expect(ask(one.lea, name, { mail_id: last.id, ...more }), name).rejects.toThrow(why)
  expect(await delivery(last.id)).toMatchObject({ state: 'queued', held: expect.stringMatching(why) })

  await ask(owner, 'release_mail', { mail_id: last.id })
  const { messages } = await ask<{ messages: Shown[] }>(one.lea, 'read_mail')
  expect(messages.map(({ id }) => id)).toContain(last.id)
  const more = await ask<Shown>(one.lea, 'reply_mail', { mail_id: last.id, body: '10' })
  expect(more.deliveries[0]).toMatchObject({ held: expect.stringMatching(/10 times/) })
})
