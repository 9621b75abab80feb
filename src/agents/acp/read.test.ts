import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { brokenLines } from '../../../test/agents/fuzz.ts'
import type { AgentEvent } from '../contract.ts'
import { emptyDigest, fold } from '../digest.ts'
import { readAcp } from './read.ts'

const RECORDED = join(import.meta.dirname, '../../../test/recorded/acp')
const linesOf = (name: string) =>
  readFileSync(join(RECORDED, `${name}.jsonl`), 'utf8')
    .trimEnd()
    .split('\n')
const read = (name: string) => linesOf(name).flatMap(line => readAcp(line, 'stdout'))
const without = (events: AgentEvent[], ...types: string[]) => events.filter(event => !types.includes(event.type))
const line = (message: object) => JSON.stringify({ jsonrpc: '2.0', ...message })
const updated = (update: object) => readAcp(line({ method: 'session/update', params: { update } }), 'stdout')
const sent = (message: object) => readAcp(line(message), 'sent')
const id = expect.any(String)
const edits = (path: string, old_text: string | null) => [{ path, old_text, new_text: 'one\n', diff: null }]

test('an edit by an agent that tells its calls as it makes them up', () => {
  const events = read('claude-acp-edit')
  const write = { type: 'tool_call', id, name: 'Write' }
  const input = { file_path: 'a.txt', content: 'one\n' }
  expect(
    without(events, 'usage', 'context', 'raw').filter(event => !('name' in event && event.name === 'Bash')),
  ).toEqual([
    { type: 'started', conversation: id, model: null },
    { type: 'thinking', text: 'A file, then.', piece: true },
    { ...write, input: {} },
    { ...write, input, again: true, edits: edits('a.txt', null) },
    {
      ...{ type: 'permission', id: '0', call: id, tool: 'Write', input: expect.objectContaining({ content: 'one\n' }) },
      ...{ denied: false, edits: edits('/place/work/a.txt', null) },
    },
    { type: 'tool_result', id, output: expect.stringContaining('File created'), failed: false },
    { type: 'tool_result', id, output: 'one', failed: false },
    { type: 'text', text: 'There is a file now.', piece: true },
    { type: 'result', ok: true, text: '', reason: null },
  ])
  expect(fold(emptyDigest(), events)).toMatchObject({
    ...{ lastText: 'There is a file now.', openTools: 0 },
    usage: { input_tokens: 300, output_tokens: 60, turns: 3 },
    context: { used_tokens: 120, peak_tokens: 120, window_tokens: 1_000_000 },
    model: 'claude-opus-5-5',
  })
})

test('an edit by an agent that tells of a call only when it need not ask for it', () => {
  const events = read('gemini-acp-edit')
  expect(without(events, 'usage', 'raw', 'thinking')).toEqual([
    { type: 'started', conversation: id, model: 'auto' },
    {
      ...{ type: 'permission', id: '0', call: id, tool: 'edit', input: expect.objectContaining({ title: id }) },
      ...{ denied: false, edits: edits('/place/work/a.txt', '') },
    },
    {
      ...{ type: 'tool_result', id, output: 'changed /place/work/a.txt', failed: false },
      edits: edits('/place/work/a.txt', ''),
    },
    { type: 'tool_call', id, name: 'execute', input: expect.objectContaining({ title: 'cat a.txt' }) },
    { type: 'tool_result', id, output: '', failed: false },
    { type: 'text', text: 'There is a file now.', piece: true },
    { type: 'result', ok: true, text: '', reason: null },
  ])
  expect(fold(emptyDigest(), events).usage).toMatchObject({ turns: 3, output_tokens: expect.any(Number) })
})

test('a conversation taken up is known by the request, where the answer does not name it', () => {
  expect(readAcp(line({ id: 'session:abc', result: {} }), 'stdout')).toEqual([
    { type: 'started', conversation: 'abc', model: null },
  ])
  expect(read('claude-acp-resume')).toContainEqual({ type: 'started', conversation: id, model: null })
})

test.each(['claude-acp', 'gemini-acp'])('%s: a rate limit and a missing key by their codes', name => {
  expect(read(`${name}-rate-limited`).slice(-2)).toEqual([
    { type: 'rate_limit', until: null, text: expect.any(String) },
    { type: 'result', ok: false, text: expect.any(String), reason: 'rate_limit' },
  ])
  expect(read(`${name}-signed-out`).at(-1)).toMatchObject({ type: 'result', ok: false, reason: 'not_signed_in' })
})

test('that the client behind an agent tries again is read from its own words', () => {
  const message = { type: 'system', subtype: 'api_retry', attempt: 2, max_retries: 10, error_status: 401 }
  const params = { message: { ...message, retry_delay_ms: 1091, error: 'authentication_failed' } }
  expect(readAcp(line({ method: '_claude/sdkMessage', params }), 'stdout')).toEqual([
    {
      ...{ type: 'retry', attempt: 2, of: 10, why: 'HTTP 401, authentication_failed' },
      ...{ status: 401, wait_seconds: 1.091 },
    },
  ])
})

test('words about a rate limit are words', () => {
  const error = { code: -32603, message: 'line 1429: rate limit 429, authentication required' }
  expect(readAcp(line({ id: 'prompt', error }), 'stdout')).toEqual([
    { type: 'error', text: error.message },
    { type: 'result', ok: false, text: error.message, reason: 'error_-32603' },
  ])
})

test('what was said and what was refused is read from what was sent', () => {
  const prompt = [{ type: 'text', text: 'And hurry.' }]
  expect(sent({ id: 'say-m1', method: 'session/prompt', params: { prompt } })).toEqual([
    { type: 'said', id: 'say-m1', text: 'And hurry.' },
  ])
  const result = { outcome: { outcome: 'selected', optionId: 'no' }, _meta: { 'flotilla/denied': 'Write' } }
  expect(sent({ id: 7, result })).toContainEqual({
    type: 'permission',
    id: '7',
    tool: 'Write',
    input: null,
    denied: true,
  })
  expect(sent({ id: 'prompt', method: 'session/prompt', params: { prompt } })).toEqual([])
  expect(sent({ id: 7, result: { outcome: { outcome: 'selected', optionId: 'yes' } } })).toEqual([])
})

test('a plan is shown, the protocol itself is not, and what is not known is raw', () => {
  const entries = [
    { content: 'Look', status: 'completed' },
    { content: 'Mend', status: 'pending' },
  ]
  expect(updated({ sessionUpdate: 'plan', entries })).toEqual([{ type: 'thinking', text: '✓ Look\n· Mend' }])
  expect(updated({ sessionUpdate: 'usage_update', used: 1 })).toEqual([{ type: 'context', used: 1, window: null }])
  const rateLimit = { status: 'allowed', rateLimitType: 'five_hour', utilization: 0.5 }
  expect(updated({ sessionUpdate: 'usage_update', used: 1, _meta: { '_claude/rateLimit': rateLimit } })).toMatchObject([
    { type: 'context' },
    { type: 'provider_window', name: 'five_hour', used_percent: 50, resets_at: null },
  ])
  expect(updated({ sessionUpdate: 'something_new' })).toMatchObject([{ type: 'raw' }])
  expect(readAcp('not JSON', 'stdout')).toEqual([{ type: 'raw', text: 'not JSON' }])
  expect(readAcp('{"jsonrpc":"2.0"}', 'stderr')).toMatchObject([{ type: 'raw' }])
})

test('ten thousand broken lines: none throws, none that is cut is lost', () => {
  const whole = readdirSync(RECORDED).flatMap(file => linesOf(file.replace('.jsonl', '')))
  for (const broken of brokenLines(whole, 10_000)) {
    const events = readAcp(broken, 'stdout')
    expect(() => fold(emptyDigest(), events)).not.toThrow()
    expect(() => readAcp(broken, 'sent')).not.toThrow()
    if (!broken.startsWith('{"') || !broken.endsWith('}')) {
      expect(events).toEqual(broken.trim() ? [{ type: 'raw', text: broken }] : [])
    }
  }
})

test('what the client behind an agent says of its answers is a meter of its own', () => {
  const raw = (message: object) =>
    readAcp(
      JSON.stringify({ jsonrpc: '2.0', method: '_claude/sdkMessage', params: { sessionId: 's', message } }),
      'stdout',
    )
  const usage = { input_tokens: 1000, output_tokens: 50 }
  const told = raw({ type: 'stream_event', event: { type: 'message_delta', usage }, api_message_id: 'm1' })
  expect(told).toMatchObject([{ type: 'usage', counts: 'estimate', of: 'm1', meter: 'client' }])
  expect(raw({ type: 'assistant', message: {} })).toEqual([])
  const turn: AgentEvent = { type: 'usage', usage: { input_tokens: 900, turns: 1 }, counts: 'more' }
  expect(fold(emptyDigest(), [...told, turn]).usage.input_tokens).toBe(1000)
})
