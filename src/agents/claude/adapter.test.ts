import { expect, test } from 'vitest'
import type { AgentEvent } from '../contract.ts'
import { emptyDigest, fold } from '../digest.ts'
import { claude } from './adapter.ts'

const result = (reason: string | null, text = 'said'): AgentEvent => ({
  type: 'result',
  ok: reason === null,
  text,
  reason,
})
const ending = (code: number | null, ...events: AgentEvent[]) => claude.outcome(fold(emptyDigest(), events), { code })
const STARTED: AgentEvent = { type: 'started', conversation: 'c', model: null }

test.each([
  ['a good result', [result(null)], 0, 'completed'],
  ['a good result and a bad exit', [result(null)], 1, 'failed'],
  ['exit 0 and no result', [STARTED], 0, 'failed'],
  ['a result, then a turn without one', [result(null), STARTED], 0, 'failed'],
  ['nobody knows how it ended', [result(null)], null, 'lost'],
  ['the limit of turns', [result('error_max_turns')], 1, 'limited'],
  ['the budget', [result('error_max_budget_usd')], 1, 'limited'],
  ['429 to the end', [result('http_429')], 1, 'rate_limited'],
  ['401', [result('http_401')], 1, 'failed'],
  ['403', [result('http_403')], 1, 'failed'],
  ['500', [result('http_500')], 1, 'failed'],
  ['interrupted: exit 0 with an error', [result('error_during_execution')], 0, 'failed'],
  ['an error without words', [result('error_during_execution', '')], 1, 'failed'],
  ['ended by a signal', [STARTED], 143, 'failed'],
] as const)('%s', (_name, events, code, outcome) => {
  const { outcome: found, reason } = ending(code, ...events)
  expect(found).toBe(outcome)
  expect(reason).toMatch(/^.+\S$/s)
})

test('who is not let in is told to sign in', () => {
  for (const status of [401, 403]) expect(ending(1, result(`http_${status}`)).reason).toContain('Sign in: run claude')
})

test('what ended early says what the client printed last', () => {
  expect(ending(1, { type: 'raw', text: 'error: unknown option' }).reason).toContain('error: unknown option')
  expect(ending(143, STARTED).reason).toContain('signal 15')
  expect(ending(0, STARTED).reason).toContain('without a result')
})

test('a rate limit says until when, if the client did', () => {
  const until = '2030-01-01T00:00:00.000Z'
  expect(ending(1, { type: 'rate_limit', until, text: 'weekly' }, result('http_429'))).toMatchObject({ until })
  expect(ending(1, result('http_429')).until).toBeUndefined()
})

test('a reason fits into a record however long the client talks', () => {
  const long = 'x'.repeat(100_000)
  expect(ending(1, result('http_500', long)).reason.length).toBeLessThan(2000)
  expect(ending(1, { type: 'error', text: long }).reason.length).toBeLessThan(2000)
})
