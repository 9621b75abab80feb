import { expect, test } from 'vitest'
import { eventually } from '../../kit/fleet.ts'
import { aScene } from '../../kit/scene.ts'
import { aTeam } from '../../kit/team.ts'

interface Swarm {
  id: string
  name: string
  state: string
  members: string[]
}

test('20 at once into a swarm for 5: five get in, and the others are told that it is full', async () => {
  const s = await aScene({ start: false })
  const crew = await aTeam(s, [], { max_members: 30 })
  const swarm = await s.fleet.call<Swarm>('swarm_create', { name: 'divers', max_agents: 5 })
  const joining = [...Array(20).keys()].map(n => crew.add(`d${n}`, { swarm_id: n % 2 ? 'Divers' : swarm.id }))
  const results = await Promise.allSettled(joining)
  const refused = results.flatMap(each => (each.status === 'rejected' ? [String(each.reason.message)] : []))
  expect(refused).toEqual(Array(15).fill('The swarm divers is full: it may have 5 agents.'))
  const [listed] = (await s.fleet.call<{ swarms: Swarm[] }>('swarm_list', {})).swarms
  expect(listed!.members).toHaveLength(5)
  // The team itself has room, and a seat that is left is free again.
  await crew.add('ada')
  await s.fleet.call('dismiss_member', { team_id: crew.team.id, member: listed!.members[0] })
  await crew.add('late', { swarm_id: 'divers' })
})

test('a swarm is made once per name, however many try', async () => {
  const s = await aScene({ start: false })
  await aTeam(s, [])
  const results = await Promise.allSettled(
    [...Array(10).keys()].map(() => s.fleet.call('swarm_create', { name: 'one' })),
  )
  expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
  await expect(s.fleet.call('swarm_create', { name: 'ONE' })).rejects.toThrow(/has a swarm called ONE/)
  await expect(s.fleet.call('swarm_kill', { swarm_id: 'two' })).rejects.toThrow(/no swarm "two"/)
})

test('killing a swarm dismisses its members and nobody else, keeps its record, and frees its name', async () => {
  const s = await aScene()
  const crew = await aTeam(s, ['ada'])
  const { id } = await s.fleet.call<Swarm>('swarm_create', { name: 'divers' })
  for (const handle of ['d1', 'd2']) await crew.add(handle, { swarm_id: id })
  const told = await s.fleet.call<{ deliveries: { to: string }[] }>('swarm_broadcast', {
    swarm_id: id,
    message: 'Dive.',
  })
  expect(told.deliveries.map(({ to }) => to).sort()).toEqual(['d1', 'd2'])
  await eventually('both were told', () => crew.told().length === 2)
  expect(await s.fleet.call('swarm_kill', { swarm_id: 'divers' })).toMatchObject({ members: ['d1', 'd2'] })
  const swarms = async () => (await s.fleet.call<{ swarms: Swarm[] }>('swarm_list', {})).swarms
  await eventually('it has ended', async () => (await swarms())[0]!.state === 'ended')
  expect((await crew.show()).members.map(({ handle }) => handle)).toEqual(['operator', 'ada'])
  await expect(crew.add('d3', { swarm_id: id })).rejects.toThrow('The swarm divers was killed.')
  await s.fleet.call('swarm_create', { name: 'divers' })
  expect((await swarms()).map(({ name, state }) => [name, state])).toEqual([
    ['divers', 'ended'],
    ['divers', 'active'],
  ])
  await crew.add('d3', { swarm_id: 'divers' })
})
