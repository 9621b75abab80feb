import { expect, test } from 'vitest'
import { Usage } from '../domain/records/session.ts'
import type { Member } from '../domain/records/team.ts'
import { aMission, aSession, NOW } from '../domain/samples.testkit.ts'
import { withoutCosts } from './costs.ts'
import type { Caller } from './operation.ts'
import { aMember, twoTeams } from './teams.testkit.ts'

interface Sent {
  deliveries: { to: string; reason: string | null }[]
}

test('an agent writes, reads and acts in its own team only', async () => {
  const { ask, owner, one, two } = await twoTeams()
  const foreign = await ask<{ id: string }>(owner, 'send_mail', {
    team_id: two.id,
    to: 'bob',
    body: 'secret',
    needs: 'ack',
  })
  const mine = await ask<{ id: string }>(one.lea, 'send_mail', { to: 'bob', body: 'hello', needs: 'ack' })
  await expect(ask(one.bob, 'send_mail', { team_id: two.id, to: 'lea', body: 'x' })).rejects.toThrow(/and of no other/)
  await expect(ask(one.bob, 'send_mail', { team_id: 'beta', to: 'lea', body: 'x' })).rejects.toThrow(/and of no other/)
  for (const name of ['get_mail', 'ack_mail', 'cancel_mail'])
    await expect(ask(one.bob, name, { mail_id: foreign.id }), name).rejects.toThrow(/There is no message/)
  for (const [name, more] of [
    ['reply_mail', { body: 'x' }],
    ['decline_mail', { reason: 'x' }],
  ] as const)
    await expect(ask(one.bob, name, { mail_id: foreign.id, ...more }), name).rejects.toThrow(/There is no message/)
  // Not addressed to it.
  await expect(ask(one.lea, 'ack_mail', { mail_id: mine.id })).rejects.toThrow(/no message to you/)
  // Only its author takes it back.
  await expect(ask(one.bob, 'cancel_mail', { mail_id: mine.id })).rejects.toThrow(/lea wrote this message/)
  expect(await ask(one.bob, 'ack_mail', { mail_id: mine.id })).toMatchObject({ state: 'acked' })
  const { messages } = await ask<{ messages: { body: string }[] }>(two.bob, 'read_mail')
  expect(messages.map(({ body }) => body)).toEqual(['secret'])
  expect(await ask(one.bob, 'team_status')).toMatchObject({ name: 'alpha' })
})

test('an agent cannot manage a team, release mail, or write to a group unless it leads', async () => {
  const { ask, one } = await twoTeams()
  for (const [name, input] of [
    ['create_team', { project_id: 'p1', name: 'mine' }],
    ['change_team', { team_id: one.id, paused: false }],
    ['delete_team', { team_id: one.id }],
    ['add_member', { team_id: one.id, handle: 'me2' }],
    ['change_member', { team_id: one.id, member: 'bob', role: 'team-lead' }],
    ['dismiss_member', { team_id: one.id, member: 'lea' }],
    ['release_mail', { mail_id: 'x' }],
    ['list_mail', { team_id: one.id }],
    ['list_teams', {}],
  ] as const)
    await expect(ask(one.bob, name, input), name).rejects.toThrow(/token of a session may not use/)
  await expect(ask(one.bob, 'send_mail', { to: '@all', body: 'x' })).rejects.toThrow(/may not write to a whole group/)
  await expect(ask(one.bob, 'send_mail', { to: ['lea', '@worker'], body: 'x' })).rejects.toThrow(/whole group/)
  expect(await ask(one.lea, 'send_mail', { to: '@all', body: 'x' })).toMatchObject({ from: { handle: 'lea' } })
})

test('whoever writes to all is told how many wake, and what that probably costs', async () => {
  const { ask, owner, one, change, save } = await twoTeams()
  const { members } = await ask<{ members: Member[] }>(owner, 'get_team', { team_id: one.id })
  const [lea, bob] = ['lea', 'bob'].map(handle => members.find(each => each.handle === handle)!)
  // lea has worked before and is idle, bob never has, and cid is at work.
  const worked = { status: 'ended', usage: Usage.parse({ turns: 3, cost_usd: 0.5 }) } as const
  await change('sessions', `s-${one.id}-lea`, worked)
  await change('members', lea!.id, { session_id: `s-${one.id}-lea` })
  await aMember({ ask, owner, save }, one, 'p1', 'cid')
  const cid = await ask<Member>(owner, 'get_member', { team_id: one.id, member: 'cid' })
  const since = new Date(Date.parse(NOW) - 240_000).toISOString()
  await change('sessions', `s-${one.id}-cid`, { created_at: since })
  await change('members', cid.id, { session_id: `s-${one.id}-cid` })

  const send = (more: object = {}) =>
    ask<Sent>(owner, 'send_mail', { team_id: one.id, to: '@all', body: 'Come.', needs: 'ack', ...more })
  const sent = await send()
  expect(sent).toMatchObject({ wakes: 2, likely_cost_usd: 1 })
  const reasons = Object.fromEntries(sent.deliveries.map(({ to, reason }) => [to, reason]))
  expect(reasons).toEqual({ lea: null, bob: null, cid: 'It waits for the end of a turn, 4 min so far.' })
  expect(await send({ needs: 'none' })).toMatchObject({ wakes: 0, likely_cost_usd: null })
  await ask(owner, 'change_member', { team_id: one.id, member: bob!.handle, paused: true })
  expect(await send()).toMatchObject({ wakes: 1, likely_cost_usd: 0.5 })
  // Somebody who may not see costs does not see this one.
  const dan: Caller = {
    ...{ kind: 'person', id: 'dan', name: 'Dan', grants: [{ role: 'worker', project_id: 'p1' }], limit: null },
  }
  const seen = await ask<Sent>(dan, 'send_mail', { team_id: one.id, to: 'lea', body: 'x', wake: true })
  expect(withoutCosts(dan, seen)).toMatchObject({ wakes: 1, likely_cost_usd: 0 })
})

test('an agent that belongs to no team has no mail', async () => {
  const { ask, save } = await twoTeams()
  await save('missions', aMission({ id: 'plain', project_id: 'p1' }))
  await save('sessions', aSession({ id: 's-plain', mission_id: 'plain', project_id: 'p1', status: 'running' }))
  const caller: Caller = { kind: 'session', session_id: 's-plain', mission_id: 'plain', project_id: 'p1' }
  for (const [name, input] of [
    ['team_status', {}],
    ['read_mail', {}],
    ['send_mail', { to: 'lea', body: 'x' }],
  ] as const)
    await expect(ask(caller, name, input), name).rejects.toThrow(/belongs to no team/)
})

test('a person writes in their project under their own name, and sees no other team', async () => {
  const { ask, one, two } = await twoTeams()
  const ada: Caller = {
    ...{ kind: 'person', id: 'ada', name: 'Ada L.', grants: [{ role: 'worker', project_id: 'p1' }], limit: null },
  }
  const sent = await ask<{ id: string }>(ada, 'send_mail', { team_id: one.id, to: 'bob', body: 'hello' })
  expect(sent).toMatchObject({ from: { handle: 'Ada-L', role: 'a person' } })
  await expect(ask(ada, 'send_mail', { team_id: one.id, to: '@all', body: 'x' })).rejects.toThrow(/mail.broadcast/)
  await expect(ask(ada, 'send_mail', { team_id: two.id, to: 'bob', body: 'x' })).rejects.toThrow(/There is no team/)
  await expect(ask(ada, 'get_team', { team_id: 'beta' })).rejects.toThrow(/There is no team/)
  const { teams } = await ask<{ teams: { name: string }[] }>(ada, 'list_teams')
  expect(teams.map(({ name }) => name)).toEqual(['alpha'])
  // She need not name the only team that she sees, and answers only what is addressed to her.
  expect(await ask(ada, 'send_mail', { to: 'bob', body: 'again' })).toMatchObject({ team_id: one.id })
  const other = await ask<{ id: string }>(one.lea, 'send_mail', { to: 'operator', body: 'Well?', needs: 'decision' })
  await expect(ask(ada, 'reply_mail', { mail_id: other.id, body: 'x' })).rejects.toThrow(/not addressed to you/)
  // Whoever writes can be answered.
  const reply = await ask<{ id: string }>(one.bob, 'reply_mail', { mail_id: sent.id, body: 'hello yourself' })
  expect(reply).toMatchObject({ deliveries: [{ to: 'Ada-L' }] })
  expect(await ask(ada, 'read_mail', { team_id: one.id })).toMatchObject({ messages: [{ body: 'hello yourself' }] })
})

test('what would end the mission of a member is refused, and a project goes only without its teams', async () => {
  const { ask, owner, one, fleet } = await twoTeams()
  const { members } = await ask<{ members: { handle: string; mission_id: string | null }[] }>(owner, 'get_team', {
    team_id: one.id,
  })
  const mission_id = members.find(({ handle }) => handle === 'bob')!.mission_id
  for (const name of ['cancel_mission', 'delete_mission'])
    await expect(ask(owner, name, { mission_id }), name).rejects.toThrow(/is that of a team member/)
  await expect(ask(owner, 'delete_project', { project_id: 'p1' })).rejects.toThrow(/has the team alpha/)
  await ask(owner, 'send_mail', { team_id: one.id, to: 'bob', body: 'Goodbye.' })
  await ask(owner, 'delete_team', { team_id: one.id, dismiss: true })
  await expect(ask(owner, 'get_team', { team_id: one.id })).rejects.toThrow(/There is no team/)
  await ask(owner, 'delete_project', { project_id: 'p1' })
  for (const collection of ['teams', 'members', 'mail', 'deliveries', 'missions'] as const) {
    const { items } = await fleet.store.find(collection, { index: 'id', limit: 100 })
    expect(
      items.map(({ value }) => value.project_id),
      collection,
    ).not.toContain('p1')
  }
})
