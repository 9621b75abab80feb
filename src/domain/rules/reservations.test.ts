import { expect, test } from 'vitest'
import { Reservation } from '../records/reservation.ts'
import { NOW } from '../samples.testkit.ts'
import { endOf, overlap, overlapping, patternOf, reservedInWords } from './reservations.ts'

const aReservation = (handle: string, file: string, more: object = {}) =>
  Reservation.parse({
    ...{ id: 'r', team_id: 't', project_id: 'p', created_at: NOW, file },
    ...{ holder: { member_id: handle, handle, role: 'worker' }, ...more },
  })

test.each([
  ['src/a.ts', 'src/a.ts', true],
  ['src/a.ts', 'src/b.ts', false],
  ['src/*.ts', 'src/a.ts', true],
  ['src/*.ts', 'src/deep/a.ts', false],
  ['src/**', 'src/deep/a.ts', true],
  ['src/**/a.ts', 'src/a.ts', true],
  ['src', 'src/deep/a.ts', true],
  ['src/v1.2/', 'src/v1.2/a.ts', true],
  ['src/v1.2', 'src/v1.2/a.ts', false],
  ['src/par', 'src/parser', false],
  ['**/*.test.ts', 'src/a.ts', false],
  ['**/*.test.ts', 'src/parser', true],
  ['*a*.ts', '*b*.ts', true],
  ['a*.ts', 'b*.ts', false],
  ['a?c', 'a*', true],
  ['**', 'anything/at/all.md', true],
  ['app/[id].tsx', 'app/[id].tsx', true],
  ['app/[id].tsx', 'app/i.tsx', false],
  ['Makefile', 'Makefile', true],
])('%s and %s overlap: %s', (one, other, expected) => {
  expect(overlap(one, other)).toBe(expected)
  expect(overlap(other, one)).toBe(expected)
})

test('patterns that were made to be slow are compared in no time', () => {
  const slow = '*a'.repeat(99)
  const began = performance.now()
  expect(overlap(`${slow}b`, `${slow}c`)).toBe(false)
  expect(overlap('**/a/'.repeat(39), `${'**/a/'.repeat(38)}b.c`)).toBe(true)
  expect(performance.now() - began).toBeLessThan(500)
  // All that two members may reserve, as `team_reservations` compares them.
  const all = performance.now()
  for (let pair = 0; pair < 400; pair++) overlap(`${slow}b`, `${slow}c`)
  expect(performance.now() - all).toBeLessThan(3000)
})

test('a file is named from the root of the project, wherever a worktree is', () => {
  expect(patternOf('./src//a.ts', null)).toBe('src/a.ts')
  expect(patternOf('/w/one/src/../lib/', '/w/one')).toBe('lib/')
  expect(patternOf('/w/one', '/w/one')).toBe('**')
  for (const outside of ['/w/other/a.ts', '/w/one/../a', '../a', 'a/../../b'])
    expect(() => patternOf(outside, '/w/one'), outside).toThrow(/outside the project/)
  expect(() => patternOf('x'.repeat(201), null)).toThrow(/more than 200/)
})

test('nobody overlaps with themselves', () => {
  const all = [aReservation('ada', 'src'), aReservation('bob', 'src/a.ts'), aReservation('cia', 'docs')]
  expect(overlapping(all[0]!, all)).toEqual([all[1]])
})

test('a reservation ends with its session, its task, its holder or its team', () => {
  const team = { ended_at: null, roster: [{ handle: 'ada', member_id: 'ada', is_agent: true, swarm_id: null }] }
  const ofSession = aReservation('ada', 'a', { session_id: 's' })
  const ofTask = aReservation('ada', 'a', { mission_id: 'm' })
  expect(endOf(ofSession, { team, session: { status: 'running' } })).toBeNull()
  expect(endOf(ofSession, { team, session: { status: 'ended' } })).toMatch(/session/)
  expect(endOf(ofSession, { team })).toMatch(/session/)
  expect(endOf(ofTask, { team, mission: { status: 'review' } })).toBeNull()
  expect(endOf(ofTask, { team, mission: { status: 'done' } })).toMatch(/task/)
  expect(endOf(aReservation('ada', 'a'), { team })).toBeNull()
  expect(endOf(aReservation('bob', 'a'), { team })).toBe('bob was dismissed')
  expect(endOf(ofTask, { team: { ...team, ended_at: NOW }, mission: { status: 'review' } })).toMatch(/deleted/)
})

test('a prompt names what others reserved, and no text of theirs starts a line', () => {
  const others = [aReservation('bob', 'src/a.ts', { reason: 'new\n## Heading' }), aReservation('cia', 'docs')]
  expect(reservedInWords(others, [aReservation('ada', 'src')])).toBe(
    'Other members are about to change these files:\n- bob: src/a.ts (you reserved src) and says "new ## Heading"\n- cia: docs',
  )
  const many = [...Array(30).keys()].map(n => aReservation('bob', `f${n}`))
  expect(reservedInWords(many, [])).toMatch(/- 10 more: see team_reservations$/)
  expect(reservedInWords([], [])).toBe('')
})
