import { expect, test } from 'vitest'
import type { FleetEvent } from '../live/fleet-events.ts'
import { sentenceOf } from './event-words.ts'

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
})
