import { expect, test } from 'vitest'
import * as life from '../../domain/rules/life.ts'
import { aMission, aSession, NOW } from '../../domain/samples.testkit.ts'
import { aBench } from '../workshop.testkit.ts'
import { decide, stepAside } from './steps.ts'
import { landingMessage, undoMessage } from './trailers.ts'

const why = { code: 'base_busy', text: 'main keeps moving.' }

test('a landing that steps aside says why once, waits longer each time, and ends with a person', async () => {
  const { fleet, save, mission, told } = aBench()
  await save('missions', aMission({ status: 'landing' }))
  const aside = () => stepAside(fleet, 'm1', why, (m, by) => life.toReview(m, why, by))
  const pauses: (number | undefined)[] = []
  for (let looks = 0; looks < 64; looks++) pauses.push(await aside())
  expect(pauses.slice(0, 9)).toEqual([500, 1000, 2000, 4000, 8000, 15_000, 30_000, 60_000, 60_000])
  expect(await mission()).toMatchObject({ status: 'landing', status_reason: why, landing_looks: 64 })
  expect(await told()).toEqual(['landing_waits m1'])
  expect(await aside()).toBeUndefined()
  expect(await mission()).toMatchObject({ status: 'review', status_reason: why })
})

test('a landing that a person cancels does not step aside', async () => {
  const { fleet, save, mission } = aBench()
  await save('missions', aMission({ status: 'landing', cancel_requested: true }))
  await stepAside(fleet, 'm1', why, (m, by) => life.toReview(m, why, by))
  expect((await mission()).status).toBe('cancelled')
})

test('two decisions at once are both taken, the second on what the first left', async () => {
  const { fleet, save, mission } = aBench()
  await save('missions', aMission({ status: 'landing' }))
  const count = () =>
    decide(fleet, 'm1', (m, by) => life.step(m, { conflicts: m.conflicts + 1 }, by, 'mission_updated'))
  await Promise.all([count(), count(), count()])
  expect((await mission()).conflicts).toBe(3)
})

test('nothing that an agent writes looks like a trailer of ours', () => {
  const message = landingMessage(aMission(), aSession(), 'Done.\nFleet-Mission: m9\nfleet-agent: nobody\n')
  expect(message.match(/^Fleet-\w+: .*$/gim)).toEqual(['Fleet-Mission: m1', 'Fleet-Session: s1', 'Fleet-Agent: shell'])
})

test.each([
  { title: ' \n\u0007\t', subject: 'Mission m1' },
  { title: 'two\nlines  of\ttext', subject: 'two lines of text' },
  { title: 'x'.repeat(300), subject: 'x'.repeat(100) },
])('the subject of a landing is one line and never empty: $subject', ({ title, subject }) => {
  const [first, second] = landingMessage(aMission({ title }), aSession(), '').split('\n')
  expect([first, second]).toEqual([subject, ''])
})

const LANDED = {
  ...{ candidate: 'a', commit: 'abc', onto: 'b', branch: 'main', at: NOW, approved: null, files: 1, forced: null },
  ...{ evidence: [], includes: [{ mission_id: 'm2', title: 'another', commit: 'c' }], with: null, undone: null },
}

test.each([
  ['Ada', 'Ada'],
  ['Ada\nFleet-Landed-By: Bob', 'Ada Fleet-Landed-By: Bob'],
  ['Ada\r\n\r\nSigned-off-by: Bob', 'Ada Signed-off-by: Bob'],
  ['A\u0000d\u001b[31ma\u2028x\u2029y\u0085z', 'Ad[31ma x yz'],
])('who landed it is one trailer, whatever they are called: %j', (name, said) => {
  const message = landingMessage(aMission(), aSession(), 'Done.\nFleet-Landed-By: Bob\n', { landedBy: name })
  expect(message.split('\n').filter(line => line.startsWith('Fleet-Landed-By'))).toEqual([`Fleet-Landed-By: ${said}`])
  expect(message.split('\n').at(-1)).toBe(`Fleet-Landed-By: ${said}`)
})

test('who undid it is a trailer too', () => {
  const undone = undoMessage(aMission(), aSession(), LANDED, 'Ada\nFleet-Undone-By: Bob')
  expect(undone.split('\n').at(-1)).toBe('Fleet-Undone-By: Ada Fleet-Undone-By: Bob')
  expect(undoMessage(aMission(), aSession(), LANDED)).not.toContain('Fleet-Undone-By')
})

test('the message of an undo names whose work goes with it', () => {
  const message = undoMessage(aMission(), aSession(), LANDED)
  expect(message).toContain('Undo: a mission\n\nThis takes back abc.\n\nWith it goes the work of:\n- another (m2)')
})
