import { expect, test } from 'vitest'
import { aDesk } from '../fleet/reactor.testkit.ts'
import { Teams } from '../fleet/teams/reactor.ts'
import { aMember, twoTeams } from './teams.testkit.ts'

interface Shown {
  id: string
  members: { id: string; handle: string }[]
  circles: { members: string[] }[]
}

/** bob and cid have asked each other, heard it, and ended their turns. lea leads, and is at work. */
async function aCircle(endsToo: readonly string[] = ['bob', 'cid']) {
  const t = await twoTeams()
  const { ask, owner, one, save, change, fleet } = t
  const cid = await aMember({ ask, owner, save }, one, 'p1', 'cid')
  const show = () => ask<Shown>(owner, 'get_team', { team_id: one.id })
  await ask(one.bob, 'send_mail', { to: 'cid', body: 'After you.', needs: 'reply' })
  const { id } = await ask<{ id: string }>(cid, 'send_mail', { to: 'bob', body: 'After you.', needs: 'decision' })
  for (const caller of [one.bob, cid]) await ask(caller, 'read_mail')
  for (const { id, handle } of (await show()).members) {
    if (handle === 'operator') continue
    await change('members', id, { session_id: `s-${one.id}-${handle}` })
    if (endsToo.includes(handle))
      await change('sessions', `s-${one.id}-${handle}`, { status: 'ended', outcome: 'completed' })
  }
  /** What a server that starts does about the team. */
  const takeStock = async () => {
    const teams = new Teams(fleet, aDesk())
    for await (const ref of teams.unfinished()) await teams.look(ref)
    const { messages } = await ask<{ messages: { from: { handle: string }; to: string[] }[] }>(owner, 'list_mail', {
      team_id: one.id,
    })
    return messages.filter(({ from }) => from.handle === 'fleet').map(({ to }) => to)
  }
  return { ...t, cid, asked: id, show, takeStock }
}

test('a server that was killed before it told the lead does so when it starts, and once', async () => {
  const { takeStock, show } = await aCircle()
  expect((await show()).circles.map(({ members }) => members.toSorted())).toEqual([['bob', 'cid']])
  expect(await takeStock()).toEqual([['lea']])
  expect(await takeStock()).toEqual([['lea']])
})

test('whoever is at work, or about to be, may still answer', async () => {
  const atWork = await aCircle(['bob'])
  expect([await atWork.takeStock(), (await atWork.show()).circles]).toEqual([[], []])
  const { ask, owner, one, takeStock, show } = await aCircle()
  await ask(owner, 'send_mail', { team_id: one.id, to: 'bob', body: 'Go on.', wake: true })
  expect([await takeStock(), (await show()).circles]).toEqual([[], []])
})

test('an answer ends it', async () => {
  const { ask, one, asked, takeStock, show } = await aCircle()
  await ask(one.bob, 'decline_mail', { mail_id: asked, reason: 'No.' })
  expect([await takeStock(), (await show()).circles]).toEqual([[], []])
})
