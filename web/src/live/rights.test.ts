import { expect, test } from 'vitest'
import { type Me, mayOf } from './rights.ts'

const NEEDS = {
  land_mission: 'missions.land',
  create_project: 'projects.write fleet',
  pause: 'system.operate either',
  who_am_i: 'self.manage',
}
const me = (permissions: Me['permissions']): Me => ({ kind: 'person', id: 'p1', name: 'Ada', grants: [], permissions })

test('the owner of the home may do everything, and so does the page until it knows', () => {
  const owner: Me = { kind: 'owner', id: null, name: 'the owner', grants: [], permissions: [] }
  for (const may of [mayOf(owner, NEEDS), mayOf(undefined, NEEDS)]) expect(may('create_project')).toBe(true)
})

test('a role in one project reaches that project, and nothing of the fleet', () => {
  const may = mayOf(
    me([
      { permission: 'missions.land', projects: ['a'] },
      { permission: 'projects.write', projects: ['a'] },
      { permission: 'system.operate', projects: ['a'] },
      { permission: 'self.manage', projects: ['a'] },
    ]),
    NEEDS,
  )
  expect(may('land_mission')).toBe(true)
  expect(may('land_mission', 'a')).toBe(true)
  expect(may('land_mission', 'b')).toBe(false)
  expect(may('missions.land', null)).toBe(false)
  expect(may('create_project')).toBe(false)
  expect(may('pause')).toBe(false)
  expect(may('pause', 'a')).toBe(true)
  expect(may('who_am_i')).toBe(true)
  expect(may('people.manage')).toBe(false)
})

test('a role in the whole fleet reaches every project', () => {
  const may = mayOf(me([{ permission: 'projects.write', projects: null }]), NEEDS)
  expect(may('create_project')).toBe(true)
  expect(may('projects.write', 'b')).toBe(true)
  expect(may('land_mission')).toBe(false)
})
