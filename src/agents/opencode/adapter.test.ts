import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { aRequest, aWorkspace } from '../../../test/agents/drive.ts'
import { brokenLines } from '../../../test/agents/fuzz.ts'
import type { AgentEvent } from '../contract.ts'
import { emptyDigest, fold } from '../digest.ts'
import { opencode } from './adapter.ts'
import { readOpencode } from './read.ts'

const RECORDED = join(import.meta.dirname, '../../../test/recorded/opencode')
const linesOf = (name: string) =>
  readFileSync(join(RECORDED, `${name}.jsonl`), 'utf8')
    .trimEnd()
    .split('\n')
const read = (name: string) => linesOf(name).flatMap(line => readOpencode(line, 'stdout'))
const digestOf = (name: string) => fold(emptyDigest(), read(name))

test('an edit: what was thought, done and said, and its cost once', () => {
  const events = read('edit')
  expect(events.filter(event => !['usage', 'context', 'started'].includes(event.type))).toEqual([
    { type: 'thinking', text: 'A file, then.' },
    {
      ...{ type: 'tool_call', id: expect.any(String), name: 'write', input: { filePath: 'a.txt', content: 'one\n' } },
      edits: [{ path: 'a.txt', old_text: null, new_text: 'one\n', diff: null }],
    },
    { type: 'tool_result', id: expect.any(String), output: 'Wrote file successfully.', failed: false },
    expect.objectContaining({ type: 'tool_call', name: 'bash' }),
    { type: 'tool_result', id: expect.any(String), output: 'one\n', failed: false },
    { type: 'text', text: 'There is a file now.' },
    { type: 'result', ok: true, text: '', reason: null },
  ])
  const { usage, openTools, context } = digestOf('edit')
  expect(context).toEqual({ used_tokens: 120, peak_tokens: 170, window_tokens: null })
  expect(usage).toMatchObject({ input_tokens: 300, cache_read_tokens: 50, output_tokens: 60, turns: 3 })
  expect(usage.cost_usd).toBeCloseTo(0.009, 3)
  expect(openTools).toBe(0)
})

test('a resumed conversation has the same name, a copy another, and each counts what it adds', () => {
  expect(digestOf('resume')).toMatchObject({ conversation: digestOf('edit').conversation, usage: { turns: 1 } })
  expect(digestOf('fork').conversation).not.toBe(digestOf('edit').conversation)
  expect(digestOf('fork').usage.turns).toBe(1)
})

test('refused tools have failed', () => {
  const results = read('denied').filter(event => event.type === 'tool_result')
  expect(results.map(({ failed }) => failed)).toEqual([true, true])
})

test('the recordings hold nothing the reader does not know', () => {
  for (const file of readdirSync(RECORDED)) {
    expect(read(file.replace('.jsonl', '')).filter(({ type }) => type === 'raw')).toEqual([])
  }
})

test.each([
  ['edit', 0, 'completed', 'finished'],
  ['resume', 0, 'completed', 'finished'],
  ['fork', 0, 'completed', 'finished'],
  ['denied', 0, 'completed', 'finished'],
  ['rate-limited', 1, 'rate_limited', '429'],
  ['signed-out', 1, 'failed', 'not signed in'],
  ['server-gone', 1, 'failed', 'Cannot connect'],
] as const)('%s (exit code %i) comes to %s', (name, code, outcome, words) => {
  expect(opencode.outcome(digestOf(name), { code })).toMatchObject({ outcome, reason: expect.stringContaining(words) })
})

test('words are never taken for a rate limit', () => {
  const line = JSON.stringify({ type: 'text', part: { text: 'error 429: rate limit at line 1429' } })
  expect(readOpencode(line, 'stdout').map(event => event.type)).toEqual(['text'])
  expect(readOpencode('429 rate limit', 'stderr').map(event => event.type)).toEqual(['raw'])
})

test('that it tries again is in its log; what it does beside the conversation holds nothing up', () => {
  const line = (small: boolean, error: string) =>
    `timestamp=2026-11-16T01:44:03.865Z level=ERROR run=46298b2e message="stream error" providerID=p modelID=m session.id=ses_e1 small=${small} agent=build mode=primary error.error="${error}"`
  expect(readOpencode(line(false, 'AI_APICallError: The script says 429.'), 'stderr')).toEqual([
    { type: 'retry', attempt: 0, of: null, why: 'The script says 429.' },
  ])
  expect(readOpencode(line(true, 'AI_APICallError: Busy.'), 'stderr').map(({ type }) => type)).toEqual(['raw'])
})

test('a rate limit says until when, if the provider did', () => {
  const line = (headers: object) => {
    const data = { message: 'Slow down.', statusCode: 429, responseHeaders: headers }
    return JSON.stringify({ type: 'error', timestamp: 1_900_000_000_000, error: { name: 'APIError', data } })
  }
  const limitOf = (headers: object) => readOpencode(line(headers), 'stdout').find(({ type }) => type === 'rate_limit')
  expect(limitOf({ 'retry-after': '40' })).toMatchObject({ until: '2030-03-17T17:47:20.000Z' })
  expect(limitOf({ 'retry-after': 'soon' })).toMatchObject({ until: null })
  expect(limitOf({})).toMatchObject({ until: null })
})

test('ten thousand broken lines: none throws, none is lost', () => {
  const whole = readdirSync(RECORDED).flatMap(file => linesOf(file.replace('.jsonl', '')))
  for (const line of brokenLines(whole, 10_000)) {
    const events = readOpencode(line, 'stdout')
    expect(events.length, line).toBeGreaterThan(0)
    fold(emptyDigest(), events)
  }
})

const result = (reason: string | null): AgentEvent => ({ type: 'result', ok: reason === null, text: '', reason })
const STARTED: AgentEvent = { type: 'started', conversation: 'c', model: null }

test.each([
  ['a last step that stops', [STARTED, result(null)], 0, 'completed'],
  ['a good step and a bad exit', [result(null)], 1, 'failed'],
  ['exit 0 in the middle of a turn', [result(null), STARTED], 0, 'failed'],
  ['nobody knows how it ended', [result(null)], null, 'lost'],
  ['429 to the end', [result('http_429')], 1, 'rate_limited'],
  ['401', [result('http_401')], 1, 'failed'],
  ['no key for the provider', [result('ProviderAuthError')], 1, 'failed'],
  ['500', [result('http_500')], 1, 'failed'],
  ['an answer that was cut off', [result('length')], 0, 'failed'],
  ['an unknown conversation', [], 1, 'failed'],
  ['ended by a signal', [STARTED], 143, 'failed'],
] as const)('%s', (_name, events, code, outcome) => {
  const ending = opencode.outcome(fold(emptyDigest(), events), { code })
  expect(ending.outcome).toBe(outcome)
  expect(ending.reason).toMatch(/^.+\S$/s)
})

test('what it cannot be held to is refused with what to do', () => {
  const workspace = aWorkspace()
  const launch = (more: Parameters<typeof aRequest>[1]) => () => opencode.launch(aRequest(workspace, more))
  expect(launch({ preset: 'test' })).toThrow('without making new ones')
  expect(launch({ allowedTools: ['Edit'] })).toThrow('without making new ones')
  expect(launch({ allowedTools: ['Edit', 'Write', 'Bash(make:*)'] })).not.toThrow()
  expect(launch({ allowedTools: ['Bash(make'] })).toThrow('is not a tool')
  expect(launch({ approvals: 'ask' })).toThrow('cannot wait')
  for (const preset of opencode.can.presets) expect(launch({ preset })).not.toThrow()
  workspace.remove()
})

test('what was thought is a part of what was put out', () => {
  const tokens = { input: 10, output: 20, reasoning: 7, cache: { read: 1, write: 2 } }
  const line = JSON.stringify({ type: 'step_finish', sessionID: 's', part: { reason: 'stop', tokens, cost: 0 } })
  const { usage, context } = fold(emptyDigest(), readOpencode(line, 'stdout'))
  expect(usage).toMatchObject({ output_tokens: 27, reasoning_tokens: 7 })
  expect(context?.used_tokens).toBe(40)
})
