import { expect, test } from 'vitest'
import { NO_USAGE } from '../domain/records/session.ts'
import type { AgentEvent } from './contract.ts'
import { emptyDigest, fold, LAST_TEXT_CHARS } from './digest.ts'

const digestOf = (...events: AgentEvent[]) => fold(emptyDigest(), events)
const used = (input_tokens: number, counts: 'more' | 'total'): AgentEvent => ({
  type: 'usage',
  usage: { input_tokens },
  counts,
})
const estimated = (input_tokens: number, of: string): AgentEvent => ({
  type: 'usage',
  usage: { input_tokens },
  counts: 'estimate',
  of,
})

test('more adds up, total replaces', () => {
  expect(digestOf(used(1, 'more'), used(2, 'more')).usage).toEqual({ ...NO_USAGE, input_tokens: 3 })
  expect(digestOf(used(5, 'more'), used(2, 'total'), used(1, 'more')).usage.input_tokens).toBe(3)
})

test('an estimate counts once for what it is of, and only until the truth is known', () => {
  const working = [used(10, 'more'), estimated(3, 'a'), estimated(3, 'a'), estimated(4, 'b')]
  expect(digestOf(...working).usage.input_tokens).toBe(17)
  expect(digestOf(...working, used(9, 'more')).usage.input_tokens).toBe(19)
})

test('a newer estimate replaces the one for the same thing, also with several at once', () => {
  const told = [estimated(3, 'a'), estimated(4, 'b'), estimated(30, 'a'), estimated(40, 'b'), estimated(30, 'a')]
  expect(digestOf(used(1, 'more'), ...told).usage.input_tokens).toBe(71)
  expect(digestOf(...told, used(9, 'more'), estimated(300, 'a'), estimated(5, 'c')).usage.input_tokens).toBe(14)
  const many = Array.from({ length: 500 }, (_, i) => [estimated(1, `m${i}`), estimated(2, `m${i}`)]).flat()
  const digest = digestOf(used(1, 'more'), ...many)
  expect(digest.usage.input_tokens).toBe(1001)
  expect(JSON.stringify(digest).length).toBeLessThan(20_000)
  expect(fold(digest, [used(7, 'more')]).usage.input_tokens).toBe(8)
})

test('of two meters the one with the higher figures counts, in any order', () => {
  const thread = [used(10, 'total'), used(25, 'total')]
  const log = [10, 15, 20].map(
    (input_tokens): AgentEvent => ({
      ...{ type: 'usage', usage: { input_tokens }, counts: 'more', meter: 'log' },
    }),
  )
  expect(digestOf(...thread, ...log).usage.input_tokens).toBe(45)
  expect(digestOf(...log, ...thread).usage.input_tokens).toBe(45)
  expect(digestOf(log[0]!, ...thread).usage.input_tokens).toBe(25)
})

test('what is kept of a transcript stays small', () => {
  const long = 'x'.repeat(100_000)
  const digest = digestOf(
    { type: 'text', text: `${long}the end` },
    { type: 'raw', text: long },
    { type: 'error', text: long },
    { type: 'result', ok: false, text: long, reason: 'x' },
    { type: 'rate_limit', until: null, text: long },
  )
  expect(digest.lastText).toHaveLength(LAST_TEXT_CHARS)
  expect(digest.lastText.endsWith('the end')).toBe(true)
  expect(JSON.stringify(digest).length).toBeLessThan(6 * LAST_TEXT_CHARS)
})

test('an estimate that was settled is not counted when it is said again', () => {
  expect(digestOf(estimated(3, 'a'), used(0, 'total'), estimated(3, 'a'), estimated(4, 'b')).usage.input_tokens).toBe(4)
})

test('blank lines are not the last thing said', () => {
  expect(digestOf({ type: 'text', text: 'said' }, { type: 'text', text: '  ' }).lastText).toBe('said')
})

test('pieces of text are one text, whatever is noted between them', () => {
  const piece = (text: string): AgentEvent => ({ type: 'text', text, piece: true })
  const spoken = [
    piece('  '),
    piece('One '),
    used(1, 'more'),
    piece('and '),
    { type: 'raw', text: 'x' } as const,
    piece('two.'),
  ]
  expect(digestOf({ type: 'text', text: 'Before.' }, ...spoken).lastText).toBe('One and two.')
  const call: AgentEvent = { type: 'tool_call', id: '1', name: 'Bash', input: {} }
  expect(digestOf(...spoken, call, piece('Three.')).lastText).toBe('Three.')
})

test('a call told again is one call', () => {
  const call: AgentEvent = { type: 'tool_call', id: '1', name: 'Bash', input: {} }
  expect(digestOf(call, { ...call, input: { command: 'ls' }, again: true }).openTools).toBe(1)
})

test('open tools are those called and not answered', () => {
  const call: AgentEvent = { type: 'tool_call', id: '1', name: 'Bash', input: {} }
  const answer: AgentEvent = { type: 'tool_result', id: '1', output: '', failed: false }
  expect(digestOf(call, call, answer).openTools).toBe(1)
  expect(digestOf(answer).openTools).toBe(0)
})

test('a result is that of the newest turn', () => {
  const result: AgentEvent = { type: 'result', ok: true, text: 'done', reason: null }
  const started: AgentEvent = { type: 'started', conversation: 'c', model: null }
  expect(digestOf(started, result)).toMatchObject({ conversation: 'c', result: { text: 'done' } })
  expect(digestOf(started, result, started).result).toBeNull()
})

test('a rate limit remembers until when, and is over when a turn ends well', () => {
  const refused: AgentEvent = { type: 'rate_limit', until: '2030-01-01T00:00:00.000Z', text: 'weekly' }
  const again: AgentEvent = { type: 'rate_limit', until: null, text: '429' }
  expect(digestOf(refused, again).rateLimit).toMatchObject({ until: '2030-01-01T00:00:00.000Z', text: '429' })
  expect(digestOf(refused, { type: 'result', ok: true, text: '', reason: null }).rateLimit).toBeNull()
})

test('a try lasts until the conversation goes on; what is noted beside it does not end it', () => {
  const retry: AgentEvent = { type: 'retry', attempt: 1, of: 10, why: 'HTTP 429', status: 429, wait_seconds: 3 }
  const beside: AgentEvent[] = [
    { type: 'raw', text: 'x' },
    { type: 'said', id: '1', text: 'Are you there?' },
    { type: 'provider_window', name: 'w', used_percent: 1, resets_at: null },
  ]
  expect(digestOf(retry, ...beside).retry).toEqual(retry)
  expect(digestOf(retry, { ...retry, attempt: 2 }).retry).toMatchObject({ attempt: 2 })
  const onwards: AgentEvent[] = [
    { type: 'text', text: 'Here.' },
    used(1, 'more'),
    { type: 'tool_call', id: '1', name: 'Bash', input: null },
    { type: 'result', ok: true, text: '', reason: null },
  ]
  for (const event of onwards) expect(digestOf(retry, event).retry, event.type).toBeNull()
})

test('folding leaves the digest it was given alone', () => {
  const before = emptyDigest()
  fold(before, [used(1, 'more'), { type: 'text', text: 'x' }])
  expect(before).toEqual(emptyDigest())
})

test('the cost is the agent’s own figure, or else comes from the table of prices', () => {
  const knowledge = {
    costOf: ({ input_tokens = 0 }, model: string | null) => (model === 'known' ? input_tokens * 2 : null),
    windowOf: (model: string | null) => (model === 'known' ? 100 : null),
  }
  const digest = (...events: AgentEvent[]) => fold(emptyDigest(), events, knowledge)
  const started: AgentEvent = { type: 'started', conversation: 'c', model: 'known' }
  const own: AgentEvent = { type: 'usage', usage: { input_tokens: 5, cost_usd: 1 }, counts: 'more' }
  const free: AgentEvent = { type: 'usage', usage: { input_tokens: 5, cost_usd: 0 }, counts: 'more' }
  expect(digest(started, used(3, 'more'), own, free).usage.cost_usd).toBe(7)
  expect(digest(used(3, 'more')).usage.cost_usd).toBe(0)
  expect(digest({ type: 'usage', usage: { input_tokens: 4 }, counts: 'more', model: 'known' }).usage.cost_usd).toBe(8)
  // A real figure replaces estimates, and a new total replaces the total before it.
  expect(digest(started, estimated(3, 'a'), estimated(4, 'b')).usage.cost_usd).toBe(14)
  expect(digest(started, estimated(3, 'a'), used(5, 'more')).usage.cost_usd).toBe(10)
  expect(digest(started, estimated(3, 'a'), used(0, 'total'), estimated(4, 'b')).usage.cost_usd).toBe(8)
})

test('the context window: current, peak, and its size, as reported or else from the table', () => {
  const knowledge = { costOf: () => null, windowOf: (model: string | null) => (model === 'known' ? 100 : null) }
  const context = (used: number | null, window: number | null = null): AgentEvent => ({
    ...{ type: 'context', used, window },
  })
  const after = (...events: AgentEvent[]) => fold(emptyDigest(), events, knowledge).context
  expect(after(context(50), context(20))).toEqual({ used_tokens: 20, peak_tokens: 50, window_tokens: null })
  const started: AgentEvent = { type: 'started', conversation: null, model: 'known' }
  expect(after(started, context(50))).toMatchObject({ window_tokens: 100 })
  expect(after(started, context(50), context(null, 80), context(60))).toEqual({
    ...{ used_tokens: 60, peak_tokens: 60, window_tokens: 80 },
  })
})

test('what an agent makes up is kept small and within what can be written down', () => {
  const beyond = new Date(8.64e15).toISOString()
  const windows = Array.from(
    { length: 50 },
    (_, i): AgentEvent => ({
      ...{ type: 'provider_window', name: `${i}${'x'.repeat(5000)}`, used_percent: 1, resets_at: beyond },
    }),
  )
  const digest = digestOf(
    { type: 'started', conversation: null, model: 'x'.repeat(5000) },
    { type: 'rate_limit', until: beyond, text: '' },
    ...windows,
    used(1e308, 'more'),
    used(1e308, 'more'),
    used(-5, 'more'),
  )
  expect(Object.values(digest.windows)).toHaveLength(20)
  expect(Object.values(digest.windows)[0]!.resetsAt).toBeNull()
  expect(digest.rateLimit?.until).toBeNull()
  expect(digest.usage.input_tokens).toBe(Number.MAX_SAFE_INTEGER)
  expect(JSON.stringify(digest).length).toBeLessThan(LAST_TEXT_CHARS * 3)
})
