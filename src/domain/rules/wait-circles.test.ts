import { expect, test } from 'vitest'
import { Member } from '../records/team.ts'
import { NOW } from '../samples.testkit.ts'
import { circlesOf, membersIn, toldOfCircle, type Wait } from './wait-circles.ts'

/** `ab` is: a waits for b. */
const waits = (...pairs: string[]): Wait[] => pairs.map(pair => ({ waits: pair[0]!, for: pair[1]!, mail_id: pair }))
const circles = (...pairs: string[]): string[] =>
  circlesOf(waits(...pairs)).map(circle => membersIn(circle).toSorted().join(''))

test.each([
  ['nobody waits', [], []],
  ['one waits for another', ['ab'], []],
  ['a chain', ['ab', 'bc', 'cd'], []],
  ['many wait for one', ['ad', 'bd', 'cd'], []],
  ['two ways to one', ['ab', 'ac', 'bd', 'cd'], []],
  ['two wait for each other', ['ab', 'ba'], ['ab']],
  ['three in a circle, and one waits for them', ['ab', 'bc', 'ca', 'xa'], ['abc']],
  ['one of a circle also waits for somebody outside it', ['ab', 'ba', 'bx'], ['ab']],
  ['two circles apart', ['ab', 'ba', 'cd', 'dc'], ['ab', 'cd']],
  ['two circles with one in both are one', ['ab', 'ba', 'bc', 'cb'], ['abc']],
  ['the same wait twice', ['ab', 'ab', 'ba'], ['ab']],
])('%s', (_, pairs, expected) => expect(circles(...pairs)).toEqual(expected))

test('a circle has the waits within it, and no others', () => {
  const [circle] = circlesOf(waits('ab', 'bc', 'ca', 'cx', 'xa'))
  // x waits for the circle, and the circle for x: x is in it.
  expect(circle!.map(({ mail_id }) => mail_id)).toEqual(['ab', 'bc', 'ca', 'cx', 'xa'])
  const [alone] = circlesOf(waits('ab', 'ba', 'ax', 'ya'))
  expect(alone!.map(({ mail_id }) => mail_id)).toEqual(['ab', 'ba'])
})

test('a lead outside the circle is told, or else people', () => {
  const member = (id: string, more: Partial<Member> = {}): Member =>
    Member.parse({
      ...{ id, handle: id, team_id: 't1', project_id: 'p1', role: 'worker', created_at: NOW, updated_at: NOW },
      ...more,
    })
  const [a, b] = [member('a'), member('b', { role: 'team-lead' })]
  const [lead, coordinator] = [member('l', { role: 'team-lead' }), member('c', { role: 'coordinator' })]
  const person = member('p', { role: 'team-lead', person: 'person' })
  const circle = waits('ab', 'ba')
  expect(toldOfCircle(circle, [a, b, coordinator, lead, person])).toEqual([lead])
  expect(toldOfCircle(circle, [a, b, coordinator, person])).toEqual([person])
})
