import { expect, test } from 'vitest'
import { aMission, aProject, aSession } from '../../domain/samples.testkit.ts'
import { aBench } from '../workshop.testkit.ts'
import { Deletions } from './deletions.ts'

const ended = { status: 'ended', worktree: null, worktree_kept: false } as const

test('after a start it finds deletions that were cut short, and nothing else', async () => {
  const { fleet, save } = aBench()
  await save('missions', aMission({ id: 'm1', deleting: true }), aMission({ id: 'm2' }))
  await save('projects', aProject({ id: 'p1', deleting: true }), aProject({ id: 'p2' }))
  expect(await Array.fromAsync(new Deletions(fleet).unfinished())).toEqual(['missions/m1', 'projects/p1'])
})

test('a deletion that was cut short is finished once, whatever was left of it', async () => {
  const { fleet, save, told } = aBench()
  await save('projects', aProject())
  await save('missions', aMission({ deleting: true }))
  await save('sessions', aSession({ id: 's1', ...ended }), aSession({ id: 's2', ...ended, number: 2 }))
  const reactor = new Deletions(fleet)
  for (let times = 0; times < 2; times++) await reactor.look('missions/m1')
  expect(await fleet.store.get('missions', 'm1')).toBeUndefined()
  expect(await fleet.store.get('sessions', 's1')).toBeUndefined()
  expect(await fleet.store.get('sessions', 's2')).toBeUndefined()
  expect(await told()).toEqual(['mission_deleted m1'])
})

test('a session whose project is gone does not keep its mission', async () => {
  const { fleet, save } = aBench()
  await save('missions', aMission({ deleting: true }))
  await save('sessions', aSession({ status: 'ended', worktree: '/gone/with/it' }))
  await new Deletions(fleet).look('missions/m1')
  expect(await fleet.store.get('missions', 'm1')).toBeUndefined()
})

test('what nobody deletes stays', async () => {
  const { fleet, save } = aBench()
  await save('missions', aMission())
  await save('projects', aProject())
  const reactor = new Deletions(fleet)
  await reactor.look('missions/m1')
  await reactor.look('projects/p1')
  expect(await fleet.store.get('missions', 'm1')).toBeDefined()
  expect(await fleet.store.get('projects', 'p1')).toBeDefined()
})

test('a project goes with its missions, and those of another project stay', async () => {
  const { fleet, save } = aBench()
  await save('projects', aProject({ deleting: true }), aProject({ id: 'p2' }))
  await save('missions', aMission(), aMission({ id: 'm2', project_id: 'p2' }))
  await new Deletions(fleet).look('projects/p1')
  const there = await Promise.all([
    ...['p1', 'p2'].map(id => fleet.store.get('projects', id)),
    ...['m1', 'm2'].map(id => fleet.store.get('missions', id)),
  ])
  expect(there.map(each => each?.value.id)).toEqual([undefined, 'p2', undefined, 'm2'])
})
