import { expect, test } from 'vitest'
import { current } from '../fleet/records.ts'
import { Spawns } from '../fleet/teamwork/spawns-reactor.ts'
import { aMember, twoTeams } from './teams.testkit.ts'

interface Shown {
  id: string
  state: string
  handle: string | null
  waits_for: string | null
  reason: string | null
  before: number
  member_id: string | null
}
const REQUEST = { agent_type: 'worker', task: 'true', agent: 'shell' }

async function aWorld() {
  const world = await twoTeams()
  const { ask, owner, one, fleet } = world
  const reactor = new Spawns(fleet)
  const letters = async () =>
    (
      await ask<{ messages: { body: string; subject: string; deliveries: { to: string }[] }[] }>(owner, 'list_mail', {
        team_id: one.id,
      })
    ).messages
  return {
    ...world,
    settle: async () => {
      for await (const ref of reactor.unfinished()) await reactor.look(ref)
    },
    names: async () => (await current(fleet, 'teams', one.id)).value.roster.map(({ handle }) => handle),
    status: async (id: string) =>
      (await ask<{ requests: Shown[] }>(owner, 'spawn_status', { team_id: one.id, spawn_id: id })).requests[0]!,
    mail: async () => (await letters()).map(({ subject, body, deliveries }) => [deliveries[0]!.to, subject || body]),
    bodies: async () => (await letters()).map(({ body }) => body),
  }
}

test('a member asks, the lead is told and grants, and the new member has its task', async () => {
  const { ask, one, mail, bodies, names, status, mission, fleet } = await aWorld()
  const asked = await ask<Shown>(one.bob, 'spawn_request', REQUEST)
  const how = `Grant it with spawn_grant ${asked.id}, or refuse it with spawn_refuse.`
  expect(await bodies()).toEqual([`bob asks for another member, a worker, with this task:\n> true\n\n${how}`])
  expect(asked).toMatchObject({ state: 'requested', waits_for: 'a lead or a person who grants it', before: 0 })
  expect(await mail()).toEqual([['lea', 'bob asks for a worker']])
  await expect(ask(one.bob, 'spawn_grant', { spawn_id: asked.id })).rejects.toThrow(/does not lead the team/)
  expect(await ask(one.lea, 'spawn_grant', { spawn_id: asked.id })).toMatchObject({
    state: 'spawned',
    handle: 'worker-2',
  })
  await expect(ask(one.lea, 'spawn_grant', { spawn_id: asked.id })).rejects.toThrow('This request is spawned already.')
  expect(await names()).toEqual(['operator', 'lea', 'bob', 'worker-2'])
  expect(await mail()).toEqual([
    ['bob', 'Request for a member spawned'],
    ['worker-2', 'true'],
    ['lea', 'bob asks for a worker'],
  ])
  const { member_id } = await status(asked.id)
  const { value: member } = await current(fleet, 'members', member_id!)
  expect(member.depth).toBe(1)
  const { mission_id } = one.bob as { mission_id: string }
  const [its, bobs] = [await mission(member.mission_id!), await mission(mission_id)]
  expect([its.tool_preset, its.approvals, its.max_budget_usd]).toEqual([
    bobs.tool_preset,
    bobs.approvals,
    bobs.max_budget_usd,
  ])
})

test('without an agent that leads, people are told where they decide', async () => {
  const { ask, owner, one, bodies } = await aWorld()
  await ask(owner, 'team_dismiss', { team_id: one.id, handle: 'lea' })
  const { id } = await ask<Shown>(one.bob, 'spawn_request', REQUEST)
  expect((await bodies())[0]).toContain(
    `\n\nGrant or refuse it under Requests on the page of the team, or with fleet team grant ${id}.`,
  )
})

test('without room requests wait in order, and each free place goes to the first', async () => {
  const { ask, owner, one, settle, names, status } = await aWorld()
  await ask(owner, 'change_team', { team_id: one.id, max_members: 3 })
  const spawn = (handle: string, more: object = {}) =>
    ask<Shown>(one.lea, 'spawn_request', { ...REQUEST, handle, ...more })
  expect(await spawn('a')).toMatchObject({ state: 'spawned' })
  const [b, c] = [await spawn('b'), await spawn('c', { priority: 'critical' })]
  expect(b).toMatchObject({ state: 'waiting', waits_for: 'a free place: the team alpha has its 3 agents' })
  expect(c).toMatchObject({ state: 'waiting', before: 0 })
  expect((await status(b.id)).before).toBe(1)
  await ask(one.lea, 'team_dismiss', { handle: 'a' })
  await settle()
  expect(await names()).toEqual(['operator', 'lea', 'bob', 'c'])
  await ask(owner, 'change_team', { team_id: one.id, max_members: 4 })
  await settle()
  await settle()
  expect(await names()).toEqual(['operator', 'lea', 'bob', 'c', 'b'])
})

test('twenty at once into five places: five are added, and the others wait', async () => {
  const { ask, owner, one, names, settle } = await aWorld()
  await ask(owner, 'change_team', { team_id: one.id, max_members: 7 })
  const all = await Promise.all(
    [...Array(20).keys()].map(n =>
      ask<Shown>(owner, 'team_spawn', {
        team_id: one.id,
        handle: `m${n}`,
        prompt: 'true',
        agent: 'shell',
        charter: 'true',
      }),
    ),
  )
  await settle()
  expect(await names()).toHaveLength(8)
  const { requests } = await ask<{ requests: Shown[] }>(owner, 'spawn_status', { team_id: one.id, limit: 100 })
  expect(requests).toHaveLength(all.length)
  expect(requests.filter(({ state }) => state === 'spawned')).toHaveLength(5)
  expect(requests.filter(({ waits_for }) => waits_for?.startsWith('a free place'))).toHaveLength(15)
}, 30_000)

test('whoever asked takes it back, and what cannot be done is refused with the reason', async () => {
  const { ask, owner, save, one, two, status } = await aWorld()
  const asked = await ask<Shown>(one.bob, 'spawn_request', REQUEST)
  await expect(ask(two.bob, 'spawn_cancel', { spawn_id: asked.id })).rejects.toThrow(/There is no request/)
  const cia = await aMember({ ask, owner, save }, one, 'p1', 'cia')
  await expect(ask(cia, 'spawn_cancel', { spawn_id: asked.id })).rejects.toThrow('bob made this request.')
  expect(await ask(one.bob, 'spawn_cancel', { spawn_id: asked.id })).toMatchObject({
    state: 'cancelled',
    waits_for: null,
  })
  const after = await ask<Shown>(one.lea, 'spawn_request', { ...REQUEST, depends_on: [asked.id] })
  expect(after).toMatchObject({ state: 'refused', reason: expect.stringContaining('Nobody comes for the request') })
  await expect(ask(one.lea, 'team_spawn', { handle: 'BOB' })).rejects.toThrow('already has a member called bob')
  // Prose is no script: without a coding agent nobody is added.
  const prose = await ask<Shown>(one.lea, 'team_spawn', { handle: 'dora', prompt: 'Look around.' })
  expect(prose).toMatchObject({ state: 'refused', reason: expect.stringMatching(/coding agent/) })
  const refused = await ask<Shown>(one.bob, 'spawn_request', REQUEST)
  await ask(one.lea, 'spawn_refuse', { spawn_id: refused.id, reason: 'Not now.' })
  expect(await status(refused.id)).toMatchObject({ state: 'refused', reason: 'Not now.' })
})

test('the policy of a team grants workers but no leads, and depth and number hold', async () => {
  const { ask, owner, change, fleet, one } = await aWorld()
  await ask(owner, 'change_team', { team_id: one.id, spawning: 'grant', max_members: 3 })
  expect(await ask(one.bob, 'spawn_request', REQUEST)).toMatchObject({ state: 'spawned' })
  expect(await ask(one.bob, 'spawn_request', { ...REQUEST, agent_type: 'team-lead' })).toMatchObject({
    state: 'requested',
  })
  for (let n = 0; n < 9; n++) expect(await ask(one.bob, 'spawn_request', REQUEST)).toMatchObject({ state: 'waiting' })
  await expect(ask(one.bob, 'spawn_request', REQUEST)).rejects.toThrow('bob has 10 open requests already.')
  const { roster } = (await current(fleet, 'teams', one.id)).value
  await change('members', roster.find(({ handle }) => handle === 'bob')!.member_id, { depth: 2 })
  await expect(ask(one.bob, 'spawn_request', REQUEST)).rejects.toThrow(/at most 2 deep/)
})

test('leads of a team see and dismiss its agents, and no people', async () => {
  const { ask, one } = await aWorld()
  const { workers } = await ask<{ workers: { handle: string }[] }>(one.bob, 'team_workers')
  expect(workers.map(({ handle }) => handle)).toEqual(['lea', 'bob'])
  await expect(ask(one.bob, 'team_dismiss', { handle: 'lea' })).rejects.toThrow(/does not lead the team/)
  await expect(ask(one.lea, 'team_dismiss', { handle: 'operator' })).rejects.toThrow('operator is a person.')
  await expect(ask(one.bob, 'team_spawn', { handle: 'x' })).rejects.toThrow(/does not lead the team/)
  await expect(ask(one.lea, 'team_spawn', { handle: 'x', workingDir: '/etc' })).rejects.toThrow(/outside the project/)
})
