import { expect, test } from 'vitest'
import type { Event } from '../records/event.ts'
import { neededBy } from './needs.ts'

const needOf = (kind: Event['kind'], data: Event['data'] = {}) => neededBy({ kind, mission_id: 'm', data })?.need

test('what needs a person', () => {
  expect(needOf('asked', { question: 'q', status: 'needs_input' })).toBe('input')
  expect(needOf('review_wanted', { status: 'review' })).toBe('review')
  expect(needOf('plan_proposed', { plan: 'p' })).toBe('review')
  expect(needOf('needs_input', { status: 'needs_input', code: 'blocked' })).toBe('blocked')
  expect(needOf('conflict', { status: 'needs_input' })).toBe('blocked')
  expect(needOf('limit_reached', { status: 'needs_input' })).toBe('budget')
  expect(needOf('failed', { status: 'failed' })).toBe('failed')
})

test('what continues by itself, or what a person did, needs nobody', () => {
  expect(needOf('conflict', { status: 'queued' })).toBeUndefined()
  expect(needOf('landing_waits', { code: 'base_busy' })).toBeUndefined()
  expect(needOf('taken_over', { status: 'needs_input' })).toBeUndefined()
  expect(needOf('session_ended')).toBeUndefined()
  expect(neededBy({ kind: 'notification_failed', mission_id: null, data: {} })).toBeUndefined()
})
