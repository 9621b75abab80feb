import { expect, test } from 'vitest'
import { groupsIn, mappedFor, mappedGroup } from './groups.ts'

test('a group stands for a role in the fleet or in a project', () => {
  expect(mappedGroup('admins=owner')).toEqual({ group: 'admins', role: 'owner', project: null })
  expect(mappedGroup('red=worker@web site:red')).toEqual({
    group: 'red',
    role: 'worker',
    project: 'web site',
    team: 'red',
  })
  expect(mappedGroup('web=team-lead@web site')).toEqual({ group: 'web', role: 'team-lead', project: 'web site' })
  expect(mappedGroup('cn=dev,ou=x=worker')).toEqual({ group: 'cn=dev,ou=x', role: 'worker', project: null })
  for (const wrong of ['', 'admins', 'admins=', '=owner', 'admins=boss', 'admins=owner@'])
    expect(mappedGroup(wrong), wrong).toBeUndefined()
})

test('groups that are not mapped give nothing, and what is no group is none', () => {
  const map = ['admins=owner', 'web=worker@site', 'web=merger@site']
  expect(mappedFor(['web', 'others'], map).map(({ role }) => role)).toEqual(['worker', 'merger'])
  expect(mappedFor(['others', 'Admins'], map)).toEqual([])
  expect(groupsIn(['a', 1, null, { b: 1 }])).toEqual(['a'])
  expect(groupsIn('a')).toEqual(['a'])
  expect(groupsIn(undefined)).toEqual([])
})
