import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { brokenLines } from '../../../test/agents/fuzz.ts'
import type { AgentEvent } from '../contract.ts'
import { emptyDigest, fold } from '../digest.ts'
import { parseObject } from '../json.ts'
import { codex } from './adapter.ts'
import { readCodex } from './read.ts'

const RECORDED = join(import.meta.dirname, '../../../test/recorded/codex')
const linesOf = (name: string) =>
  readFileSync(join(RECORDED, `${name}.jsonl`), 'utf8')
    .trimEnd()
    .split('\n')
const read = (name: string) => linesOf(name).flatMap(line => readCodex(line, 'stdout'))
const told = (name: string) => read(name).filter(({ type }) => !['usage', 'context', 'raw'].includes(type))
const typesOf = (name: string) => told(name).map(({ type }) => type)
const of = <T extends AgentEvent['type']>(name: string, type: T) =>
  read(name).filter((event): event is Extract<AgentEvent, { type: T }> => event.type === type)
const digestOf = (name: string) => fold(emptyDigest(), read(name))
const line = (method: string, params: object) => JSON.stringify({ method, params })

test('an edit: what was thought, done and said', () => {
  const id = expect.any(String)
  expect(told('edit')).toEqual([
    { type: 'started', conversation: id, model: 'gpt-5.5' },
    { type: 'started', conversation: id, model: null },
    { type: 'said', id: 'prompt', text: expect.stringContaining('Do it.') },
    { type: 'thinking', text: 'A file, then.' },
    {
      ...{ type: 'tool_call', id, name: 'apply_patch' },
      input: { changes: [expect.objectContaining({ diff: 'one\n' })] },
      edits: [{ path: '/place/work/a.txt', old_text: '', new_text: 'one\n', diff: null }],
    },
    { type: 'tool_result', id, output: 'completed', failed: false },
    {
      type: 'tool_call',
      id,
      name: 'shell',
      input: { command: expect.stringContaining('cat a.txt'), cwd: '/place/work' },
    },
    { type: 'tool_result', id, output: 'one\n', failed: true },
    { type: 'text', text: 'There is a file now.' },
    { type: 'result', ok: true, text: 'There is a file now.', reason: null },
  ])
  const usage = { input_tokens: 300, cache_read_tokens: 50, output_tokens: 60, turns: 3, cost_usd: 0 }
  const context = { used_tokens: 120, peak_tokens: 170, window_tokens: 258_400 }
  expect(digestOf('edit')).toMatchObject({ usage, context, openTools: 0 })
})

test('a resumed conversation took what it adds, although the client tells the sum', () => {
  expect(linesOf('resume').filter(each => each.includes('tokenUsage'))).toHaveLength(2)
  expect(digestOf('resume').usage).toMatchObject({ input_tokens: 100, output_tokens: 20, turns: 1 })
  expect(digestOf('resume').conversation).toBe(digestOf('edit').conversation)
})

test('usage that is told again is counted once', () => {
  const lines = linesOf('edit').flatMap(each => (each.includes('tokenUsage') ? [each, each] : [each]))
  const twice = fold(
    emptyDigest(),
    lines.flatMap(each => readCodex(each, 'stdout')),
  )
  expect(twice.usage).toEqual(digestOf('edit').usage)
})

test('a message into a running turn is said once it was taken', () => {
  const middle = ['tool_call', 'tool_result', 'said', 'text']
  expect(typesOf('mid-turn')).toEqual(['started', 'started', 'said', ...middle, 'result'])
  expect(of('mid-turn', 'said')[1]).toMatchObject({ id: 'say-live', text: 'And hurry.' })
})

test('what a person is asked, and what came of it', () => {
  const asked = [
    { type: 'permission', id: '0', tool: 'apply_patch', denied: false },
    { type: 'permission', id: '1', tool: 'shell', denied: false, input: { reason: 'May I?' } },
  ]
  expect(of('allowed', 'permission')).toMatchObject(asked)
  expect(of('allowed', 'tool_result').map(({ failed }) => failed)).toEqual([false, false])
  expect(of('declined', 'permission')).toMatchObject([
    asked[0],
    { tool: 'apply_patch', denied: true },
    asked[1],
    { tool: 'shell', denied: true },
  ])
  expect(of('declined', 'tool_result').map(({ failed }) => failed)).toEqual([true, true])
  expect(of('question', 'question')).toEqual([
    { type: 'question', id: '0', text: 'Which colour?\n- Red: It is Red.\n- Blue: It is Blue.' },
  ])
})

test('a tool of a server is named as everywhere', () => {
  expect(of('mcp', 'tool_call')).toMatchObject([{ name: 'mcp__lab__echo', input: { text: 'hi' } }])
  expect(of('mcp', 'tool_result')).toMatchObject([{ output: 'echo: hi', failed: false }])
})

test.each([
  ['edit', 'completed', ''],
  ['denied', 'completed', ''],
  ['rate-limit-passed', 'completed', ''],
  ['rate-limited', 'rate_limited', '429'],
  ['signed-out', 'failed', 'codex login'],
  ['unknown-conversation', 'failed', 'no rollout found'],
])('%s ends as %s', (name, outcome, words) => {
  const ending = codex.outcome(digestOf(name), { code: 0 })
  expect(ending.outcome).toBe(outcome)
  expect(ending.reason).toContain(words)
})

test('a retry says which, of how many, and why', () => {
  expect(of('rate-limit-passed', 'retry')).toEqual([
    { type: 'retry', attempt: 1, of: 2, why: expect.stringContaining('429'), status: 429 },
  ])
})

test.each([
  ['3599.997778572s', 3599.997778572],
  ['187.5ms', 0.1875],
  ['soon', undefined],
])('its log says when the next try is: %s', (wait, seconds) => {
  const line =
    '\u001b[2m2026-11-16T01:35:26.837514Z\u001b[0m \u001b[33m WARN\u001b[0m \u001b[2mcodex_core::responses_retry\u001b[0m\u001b[2m:\u001b[0m ' +
    `stream disconnected - retrying sampling request (1/5 in ${wait})... turn_id=01a1 retries=1 max_retries=5 sampling_error=exceeded retry limit, last status: 429 Too Many Requests`
  const why = 'exceeded retry limit, last status: 429 Too Many Requests'
  const told: AgentEvent = { type: 'retry', attempt: 1, of: 5, why, again: true }
  expect(readCodex(line, 'stderr')).toEqual([seconds === undefined ? told : { ...told, wait_seconds: seconds }])
  expect(readCodex(line, 'stdout').map(({ type }) => type)).toEqual(['raw'])
})

test('what its protocol and its log tell of one try is one try', () => {
  const why = 'Too Many Requests'
  const both: AgentEvent[] = [
    { type: 'retry', attempt: 1, of: 5, why, status: 429 },
    { type: 'retry', attempt: 1, of: 5, why, wait_seconds: 3600, again: true },
  ]
  for (const events of [both, both.toReversed()])
    expect(fold(emptyDigest(), events).retry).toEqual({
      ...{ type: 'retry', attempt: 1, of: 5, why },
      ...{ status: 429, wait_seconds: 3600 },
    })
})

test('a window says how full it is, and once it is used up until when', () => {
  const windows = (usedPercent: number) => ({ limitId: 'codex', primary: { usedPercent, resetsAt: 1_894_738_615 } })
  const limit = (rateLimits: object) => readCodex(line('account/rateLimits/updated', { rateLimits }), 'stdout')
  const near = (usedPercent: number) => ({
    ...{ type: 'provider_window', name: 'codex primary', used_percent: usedPercent },
    resets_at: '2030-01-15T20:16:55.000Z',
  })
  expect(limit(windows(99))).toEqual([near(99)])
  expect(limit(windows(100))).toEqual([
    near(100),
    { type: 'rate_limit', until: '2030-01-15T20:16:55.000Z', text: 'Limit reached: codex.' },
  ])
  const turn = { status: 'failed', error: { message: 'No more.', codexErrorInfo: 'usageLimitExceeded' } }
  const events = [...limit(windows(100)), ...readCodex(line('turn/completed', { turn }), 'stdout')]
  expect(codex.outcome(fold(emptyDigest(), events), { code: 0 })).toMatchObject({
    outcome: 'rate_limited',
    until: '2030-01-15T20:16:55.000Z',
  })
})

test('words are not limits', () => {
  const item = { type: 'agentMessage', id: '1', text: 'HTTP 429: rate limit; authentication required' }
  expect(readCodex(line('item/completed', { item }), 'stdout').map(({ type }) => type)).toEqual(['text'])
})

/** Whether it is a message of the protocol that means nothing to a reader. */
function isTalk(line: string): boolean {
  const { method, id, params } = parseObject(line) ?? {}
  if (method === undefined) return id !== undefined
  return (
    /^(thread\/(started|status)|serverRequest|item\/started|mcpServer|account\/rateLimits)/.test(String(method)) &&
    Boolean(params)
  )
}

test('ten thousand broken lines: none throws, none is lost', () => {
  const whole = readdirSync(RECORDED).flatMap(file => linesOf(file.replace('.jsonl', '')))
  for (const broken of brokenLines(whole, 10_000)) {
    const events = readCodex(broken, 'stdout')
    if (broken.trim() && !isTalk(broken)) expect(events.length, broken).toBeGreaterThan(0)
    expect(() => fold(emptyDigest(), events)).not.toThrow()
  }
})

test('its log tells what an answer used before its tools are done; nothing else of it is shown', () => {
  const grey = (text: string) => `\u001b[3m${text}\u001b[0m\u001b[2m=\u001b[0m`
  const start =
    '\u001b[2m2026-11-15T21:39:21Z\u001b[0m \u001b[32m INFO\u001b[0m \u001b[2mcodex_otel.trace_safe\u001b[0m:'
  const counts = { input: 1007, output: 50, cached: 7, cache_write: 0, reasoning: 5 }
  const told = Object.entries(counts).map(([name, count]) => `${grey(`${name}_token_count`)}${count}`)
  const log = `${start} ${grey('event.name')}"codex.sse_event" ${told.join(' ')} ${grey('model')}gpt-5.5`
  expect(readCodex(log, 'stderr')).toEqual([
    {
      ...{ type: 'usage', counts: 'more', meter: 'log', model: 'gpt-5.5' },
      usage: {
        ...{ input_tokens: 1000, output_tokens: 50, reasoning_tokens: 5, cache_read_tokens: 7, cache_write_tokens: 0 },
        turns: 1,
      },
    },
  ])
  expect(readCodex(`${start} ${grey('event.name')}"codex.tool_result" ${grey('success')}true`, 'stderr')).toEqual([])
  expect(readCodex('something else', 'stderr')).toEqual([{ type: 'raw', text: 'something else' }])
})
