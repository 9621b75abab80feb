import { expect, test } from 'vitest'
import type { AgentEvent } from '../contract.ts'
import { emptyDigest, fold } from '../digest.ts'
import { codex } from './adapter.ts'

const result = (reason: string | null, text = 'said'): AgentEvent => ({
  type: 'result',
  ok: reason === null,
  text,
  reason,
})
const ending = (code: number | null, ...events: AgentEvent[]) => codex.outcome(fold(emptyDigest(), events), { code })
const STARTED: AgentEvent = { type: 'started', conversation: 'c', model: null }

test.each([
  ['a good result', [result(null)], 0, 'completed'],
  ['a good result and a bad exit', [result(null)], 1, 'failed'],
  ['exit 0 and no result, as after SIGTERM', [STARTED], 0, 'failed'],
  ['a result, then a turn without one', [result(null), STARTED], 0, 'failed'],
  ['nobody knows how it ended', [result(null)], null, 'lost'],
  ['429 to the end', [result('http_429')], 0, 'rate_limited'],
  ['the account has used up its share', [result('usageLimitExceeded')], 0, 'rate_limited'],
  ['401', [result('http_401')], 0, 'failed'],
  ['signed out', [result('unauthorized')], 0, 'failed'],
  ['500', [result('internalServerError')], 0, 'failed'],
  ['a conversation too long', [result('contextWindowExceeded')], 0, 'limited'],
  ['a budget of its own', [result('sessionBudgetExceeded')], 0, 'limited'],
  ['interrupted', [result('interrupted', '')], 0, 'failed'],
  ['no conversation', [result('refused')], 0, 'failed'],
  ['ended by a signal', [STARTED], 143, 'failed'],
] as const)('%s', (_name, events, code, outcome) => {
  const { outcome: found, reason } = ending(code, ...events)
  expect(found).toBe(outcome)
  expect(reason).toMatch(/^.+\S$/s)
})

test('who is not signed in is told how to', () => {
  for (const reason of ['http_401', 'unauthorized']) expect(ending(0, result(reason)).reason).toContain('codex login')
})
