import { expect, test } from 'vitest'
import { Team } from '../../domain/records/team.ts'
import { aProject, NOW } from '../../domain/samples.testkit.ts'
import { aFleet } from '../fleet.testkit.ts'
import { keep } from '../records.testkit.ts'
import { addPrincipal, endPrincipal, lookUpPrincipal, nameOfActor, setGrants, withoutRolesIn } from './principals.ts'

const ASK = { operation: 'invite_person', actor: 'person' }

test.each([
  'Ada\nFleet-Landed-By: Bob',
  'Ada\u001b[2J',
  'A\u0000da',
  'Ada\u2028Bob',
  'ad\u202eA',
  'A\u200bda',
  'Ada\u2060',
])('nobody is called %j', async name => {
  await expect(addPrincipal(aFleet(), ASK, { kind: 'person', name, grants: [] })).rejects.toThrow('one line')
})

test.each(['You', 'the owner', 'OWNER', 'The  Fleet', 'fleet', 'Ｏwner', 'Тhe оwner', 'Yоu'])(
  'nobody is called %j, which says who else acted',
  async name => {
    await expect(addPrincipal(aFleet(), ASK, { kind: 'person', name, grants: [] })).rejects.toThrow('is not a name')
  },
)

test('nobody has a name that looks like that of somebody else; one that is free again may be taken', async () => {
  const fleet = aFleet()
  const add = (name: string) => addPrincipal(fleet, ASK, { kind: 'person', name, grants: [] })
  const ada = await add('Ada')
  for (const name of ['аda', 'Ａda', 'ΑDΑ']) await expect(add(name), name).rejects.toThrow('looks like Ada')
  await add('Adam')
  await endPrincipal(fleet, ASK, ada.id)
  const other = await add('аda')
  expect(other.id).not.toBe(ada.id)
  await expect(add('Ada')).rejects.toThrow('looks like аda')
})

test('of names that look alike and are added at once, one is', async () => {
  const fleet = aFleet()
  const names = ['Ada', 'аda', 'Ａda', 'ADA', 'Αda']
  const added = await Promise.allSettled(
    names.map(name => addPrincipal(fleet, ASK, { kind: 'person', name, grants: [] })),
  )
  expect(added.filter(({ status }) => status === 'fulfilled').length).toBe(1)
})

test('an actor has the name of its person; the owner and agents have none', async () => {
  const fleet = aFleet()
  const { id } = await addPrincipal(fleet, ASK, { kind: 'person', name: 'Ada Lovelace', grants: [] })
  expect(await nameOfActor(fleet, `person:${id}`)).toBe('Ada Lovelace')
  for (const actor of ['person', 'fleet', 'session:s1', undefined])
    expect(await nameOfActor(fleet, actor)).toBe(undefined)
})

test('an id is that of its person, also if somebody else has it as a name', async () => {
  const fleet = aFleet()
  const ada = await addPrincipal(fleet, ASK, { kind: 'person', name: 'Ada', grants: [] })
  const mallory = await addPrincipal(fleet, ASK, { kind: 'person', name: ada.id, grants: [] })
  expect((await lookUpPrincipal(fleet, ada.id)).value.name).toBe('Ada')
  expect((await lookUpPrincipal(fleet, mallory.id)).value.id).toBe(mallory.id)
  expect((await lookUpPrincipal(fleet, 'ADA')).value.id).toBe(ada.id)
})

test('a role in a team is kept with its ids, and ends with the team', async () => {
  const fleet = aFleet()
  for (const id of ['website', 'shop']) await keep(fleet, 'projects', aProject({ id, name: id, path: `/${id}` }))
  const at = { created_at: NOW, updated_at: NOW }
  await keep(fleet, 'teams', Team.parse({ ...at, id: 't1', project_id: 'website', name: 'red' }))
  await keep(fleet, 'teams', Team.parse({ ...at, id: 't2', project_id: 'shop', name: 'red' }))
  const inRed = { role: 'worker', project_id: 'website', team_id: 'red' } as const
  const reads = { role: 'monitor', project_id: 'shop' } as const
  const ada = await addPrincipal(fleet, ASK, { kind: 'person', name: 'Ada', grants: [inRed, reads] })
  expect(ada.grants).toEqual([{ ...inRed, team_id: 't1' }, reads])
  for (const grant of [
    { ...inRed, team_id: 't2' },
    { ...inRed, team_id: 'blue' },
    { ...inRed, project_id: null },
  ])
    await expect(setGrants(fleet, ASK, ada.id, [grant]), grant.team_id).rejects.toThrow()
  await fleet.commit('commit.wish', await withoutRolesIn(fleet, 't1', { actor: 'person', now: NOW }))
  expect((await lookUpPrincipal(fleet, 'Ada')).value.grants).toEqual([reads])
})
