import { expect, test } from 'vitest'
import type { Event } from '../../domain/records/event.ts'
import { aMission, NOW } from '../../domain/samples.testkit.ts'
import { Turns } from '../../git/turns.ts'
import type { Fleet } from '../fleet.ts'
import { aDesk } from '../reactor.testkit.ts'
import { aBench, aWorkshop } from '../workshop.testkit.ts'
import { Landings } from './reactor.ts'

/** A reactor, and a way to await the work that its looks begin. */
function driven(fleet: Fleet) {
  const begun: Promise<unknown>[] = []
  const desk = { ...aDesk(), goOn: (_: string, work: Promise<unknown>) => void begun.push(work) }
  const turns = new Turns()
  return { reactor: new Landings(fleet, desk, turns), turns, begun, over: () => Promise.all(begun) }
}

test('a mission that is looked at several times lands once', async () => {
  const { fleet, repo, finished, told } = await aWorkshop()
  const base = await repo.tip()
  await finished('m1', { 'new.txt': 'new\n' })
  const { reactor, over } = driven(fleet)
  for (let times = 0; times < 3; times++) await reactor.look('missions/m1')
  await over()
  await reactor.look('missions/m1')
  await over()
  expect(await repo.git('rev-list', '--count', `${base}..main`)).toBe('1')
  expect(await told()).toEqual(['landed m1'])
})

test('two missions of one project land one after the other, each on what the other left', async () => {
  const { fleet, repo, finished, mission } = await aWorkshop()
  await finished('m1', { 'one.txt': '1\n' })
  await finished('m2', { 'two.txt': '2\n' })
  const { reactor, turns, over } = driven(fleet)
  await reactor.look('missions/m1')
  await reactor.look('missions/m2')
  expect(turns.isTaken('p1')).toBe(true)
  await over()
  expect((await mission('m2')).landed?.onto).toBe((await mission('m1')).landed?.commit)
  expect(await repo.filesOn('main')).toEqual(['README.md', 'one.txt', 'two.txt'])
})

test('nothing is begun about a mission that is gone, or that does not land', async () => {
  const { fleet, save } = aBench()
  await save('missions', aMission({ status: 'review' }))
  const { reactor, begun } = driven(fleet)
  await reactor.look('missions/gone')
  await reactor.look('missions/m1')
  expect(begun).toEqual([])
})

test('after a start it finds landings and undos, and nothing that is over', async () => {
  const { fleet, save } = aBench()
  const undo = { requested_at: NOW, by: null, landing_commit: null }
  await save('missions', aMission({ id: 'm1', status: 'landing' }), aMission({ id: 'm2', status: 'done', undo }))
  await save('missions', aMission({ id: 'm3', status: 'done' }), aMission({ id: 'm4', status: 'review' }))
  expect((await Array.fromAsync(driven(fleet).reactor.unfinished())).toSorted()).toEqual(['missions/m1', 'missions/m2'])
})

test.each<{ event: Partial<Event>; concerns: string[] }>([
  { event: { kind: 'land_requested', data: { status: 'landing' } }, concerns: ['missions/m1'] },
  { event: { kind: 'undo_requested', data: {} }, concerns: ['missions/m1'] },
  { event: { kind: 'cancel_requested', data: {} }, concerns: ['missions/m1'] },
  { event: { kind: 'landed', data: { status: 'done' } }, concerns: [] },
  { event: { kind: 'undo_requested', data: {}, mission_id: undefined }, concerns: [] },
])('it is concerned by what starts or ends a landing: $event.kind', ({ event, concerns }) => {
  const reactor = driven(aBench().fleet).reactor
  expect(reactor.affectedBy({ mission_id: 'm1', ...event } as Event)).toEqual(concerns)
})
