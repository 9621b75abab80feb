import { expect, test } from 'vitest'
import type { FleetEvent } from '../live/fleet-events.ts'
import { actorWords, sentenceOf } from './event-words.ts'

let cursor = 0
const event = (kind: FleetEvent['kind'], more: Partial<FleetEvent> = {}): FleetEvent => ({
  ...{ kind, time: '2026-11-18T10:00:00.000Z', actor: 'fleet', project_id: null, mission_id: null, session_id: null },
  ...{ cause: null, data: {}, cursor: String(++cursor) },
  ...more,
})

test('an event is a sentence with who did it', () => {
  expect(sentenceOf(event('mission_created', { actor: 'person' }), 'Claude Code')).toBe('You created the mission')
  expect(sentenceOf(event('asked', { actor: 'session:s1' }), 'Claude Code')).toBe('Claude Code asked a question')
  expect(sentenceOf(event('session_ended', { data: { outcome: 'completed' } }), 'Codex')).toBe('Codex finished')
  expect(sentenceOf(event('session_ended', { data: { outcome: 'failed' } }), 'Codex')).toBe('Codex ended: failed')
  expect(sentenceOf(event('landed', { data: { branch: 'main', commit: 'abc' } }), 'Codex')).toBe(
    'Landed on main as abc',
  )
  expect(sentenceOf(event('check_failed', { data: { name: 'lint' } }), 'Codex')).toBe('Check failed: lint')
  expect(sentenceOf(event('loop_round', { data: { round: 2 } }), 'Codex')).toBe('Started round 2 of a loop')
  expect(sentenceOf(event('loop_round', { data: { round: 2, outcome: 'done' } }), 'Codex')).toBe(
    'Round 2 of a loop ended',
  )
})

const names = new Map([
  ['p1', 'Ada'],
  ['s9', 'Nightly'],
])
const owner = (actor: string) => actorWords(actor, { me: null, names })
const ada = (actor: string) => actorWords(actor, { me: 'p1', names })

test('people are called by their names, and oneself “you”', () => {
  const created = (actor: string, who = owner) => sentenceOf(event('mission_created', { actor }), 'Codex', who)
  expect(created('person:p1')).toBe('Ada created the mission')
  expect(created('person:p1', ada)).toBe('You created the mission')
  expect(created('person', ada)).toBe('The owner created the mission')
  expect(created('service:s9')).toBe('Nightly created the mission')
  expect(created('person:gone')).toBe('Somebody created the mission')
  const landed = event('landed', { data: { branch: 'main', commit: 'abc', approved_by: 'person:p1' } })
  expect(sentenceOf(landed, 'Codex', owner)).toBe('Ada landed it on main as abc')
  expect(sentenceOf(landed, 'Codex', ada)).toBe('You landed it on main as abc')
  const invited = event('principal_added', { actor: 'person', data: { of: 'person', name: 'Bob' } })
  expect(sentenceOf(invited, 'Codex', owner)).toBe('You invited a person: Bob')
  const came = event('device_signed_in', { actor: 'person:p1', data: { name: 'Linux, Chromium' } })
  expect(sentenceOf(came, 'Codex', owner)).toBe('Ada signed in: Linux, Chromium')
})
