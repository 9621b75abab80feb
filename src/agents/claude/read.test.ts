import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import type { AgentEvent } from '../contract.ts'
import { emptyDigest, fold } from '../digest.ts'
import { claude } from './adapter.ts'
import { readClaude } from './read.ts'

const RECORDED = join(import.meta.dirname, '../../../test/recorded/claude')
const linesOf = (name: string) =>
  readFileSync(join(RECORDED, `${name}.jsonl`), 'utf8')
    .trimEnd()
    .split('\n')
const read = (name: string) => linesOf(name).flatMap(line => readClaude(line, 'stdout'))
const without = (events: AgentEvent[], ...types: string[]) => events.filter(event => !types.includes(event.type))

test('an edit: what was thought, done and said, and its cost once', () => {
  const events = read('edit')
  expect(without(events, 'usage', 'context')).toEqual([
    { type: 'started', conversation: expect.any(String), model: 'claude-opus-5-5' },
    { type: 'said', id: expect.any(String), text: expect.stringContaining('Do it.') },
    { type: 'thinking', text: 'A file, then.' },
    {
      ...{ type: 'tool_call', id: expect.any(String), name: 'Write', input: { file_path: 'a.txt', content: 'one\n' } },
      edits: [{ path: 'a.txt', old_text: null, new_text: 'one\n', diff: null }],
    },
    { type: 'tool_result', id: expect.any(String), output: expect.stringContaining('File created'), failed: false },
    {
      type: 'tool_call',
      id: expect.any(String),
      name: 'Bash',
      input: expect.objectContaining({ command: 'cat a.txt' }),
    },
    { type: 'tool_result', id: expect.any(String), output: 'one', failed: false },
    { type: 'text', text: 'There is a file now.' },
    { type: 'result', ok: true, text: 'There is a file now.', reason: null },
  ])
  const { usage, openTools, context, model } = fold(emptyDigest(), events)
  expect({ context, model }).toEqual({
    context: { used_tokens: 101, peak_tokens: 101, window_tokens: 1_000_000 },
    model: 'claude-opus-5-5',
  })
  expect(usage).toMatchObject({ input_tokens: 300, output_tokens: 60, turns: 3, cost_usd: expect.closeTo(0.0024, 6) })
  expect(openTools).toBe(0)
})

test('a resumed conversation costs what it adds, although the client gives the sum', () => {
  const total = JSON.parse(linesOf('resume').find(line => line.includes('"type":"result"'))!).total_cost_usd
  expect(total).toBeCloseTo(0.0032, 6)
  expect(fold(emptyDigest(), read('resume')).usage).toMatchObject({
    input_tokens: 100,
    turns: 1,
    cost_usd: expect.closeTo(0.0008, 6),
  })
  expect(fold(emptyDigest(), read('resume')).conversation).toBe(fold(emptyDigest(), read('edit')).conversation)
})

test('a message into a running turn is said once it was taken', () => {
  const types = without(read('mid-turn'), 'usage', 'context').map(event => event.type)
  expect(types).toEqual(['started', 'said', 'tool_call', 'tool_result', 'said', 'text', 'result'])
  expect(read('mid-turn').filter(event => event.type === 'said')[1]).toMatchObject({ text: 'And hurry.' })
})

test('refused tools are shown as refused', () => {
  const events = read('denied')
  const [refused] = events.flatMap(event => (event.type === 'tool_call' && event.name === 'Bash' ? [event.id] : []))
  expect(events.filter(event => event.type === 'permission')).toEqual([
    { type: 'permission', id: refused, call: refused, tool: 'Bash', input: null, denied: true },
  ])
  expect(events.filter(event => event.type === 'tool_result').map(event => event.failed)).toEqual([true, true])
})

test('a rate limit that passes is a retry and nothing more', () => {
  expect(read('rate-limit-passed').filter(event => ['retry', 'rate_limit'].includes(event.type))).toEqual([
    { type: 'retry', attempt: 1, of: 1, why: 'HTTP 429, rate_limit', status: 429, wait_seconds: 0.587 },
  ])
})

test.each([
  ['edit', 0, 'completed', 'finished'],
  ['resume', 0, 'completed', 'finished'],
  ['denied', 0, 'completed', 'finished'],
  ['mid-turn', 0, 'completed', 'finished'],
  ['max-turns', 1, 'limited', 'turns'],
  ['budget', 1, 'limited', '$0.40'],
  ['rate-limit-passed', 0, 'completed', 'finished'],
  ['rate-limited', 1, 'rate_limited', '429'],
  ['signed-out', 1, 'failed', 'not signed in'],
  ['unknown-conversation', 1, 'failed', 'No conversation found'],
] as const)('%s (exit code %i) comes to %s', (name, code, outcome, words) => {
  const ending = claude.outcome(fold(emptyDigest(), read(name)), { code })
  expect(ending).toMatchObject({ outcome, reason: expect.stringContaining(words) })
})

test('the recordings hold nothing the reader does not know', () => {
  for (const file of readdirSync(RECORDED)) {
    expect(without(read(file.replace('.jsonl', '')), 'raw').length, file).toBe(read(file.replace('.jsonl', '')).length)
  }
})

test('words are never taken for a rate limit', () => {
  const line = JSON.stringify({
    type: 'assistant',
    message: { id: 'm', content: [{ type: 'text', text: 'error 429: rate limit at line 1429, resets at 5pm' }] },
  })
  expect(readClaude(line, 'stdout').map(event => event.type)).toEqual(['text'])
  expect(readClaude('429 rate limit exceeded', 'stderr').map(event => event.type)).toEqual(['raw'])
})

test('a limit of the account says until when; a warning is no limit', () => {
  const event = (status: string) =>
    JSON.stringify({
      type: 'rate_limit_event',
      rate_limit_info: { status, resetsAt: 1_900_000_000, rateLimitType: 'five_hour' },
    })
  expect(readClaude(event('rejected'), 'stdout')).toEqual([
    { type: 'rate_limit', until: '2030-03-17T17:46:40.000Z', text: 'Limit reached: five_hour.' },
  ])
  expect(readClaude(event('allowed_warning'), 'stdout')).toEqual([])
})

/** The same numbers every time, so that a failure can be seen again. */
function seeded(seed: number) {
  let state = seed
  return (below: number) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return state % below
  }
}

const ODD = [null, 0, -1, 1e308, '', 'x', '\u0000', [], {}, [null], true, { type: null }, { type: 'text' }]

/** Puts an odd value somewhere into a message. */
function disturb(value: unknown, random: (below: number) => number): unknown {
  if (typeof value !== 'object' || value === null || random(4) === 0) return ODD[random(ODD.length)]
  const keys = Object.keys(value)
  if (!keys.length) return ODD[random(ODD.length)]
  const key = keys[random(keys.length)]!
  const copy = (Array.isArray(value) ? [...value] : { ...value }) as Record<string, unknown>
  copy[key] = disturb(copy[key], random)
  return copy
}

test('ten thousand broken lines: none throws, none is lost', () => {
  const random = seeded(1)
  const whole = readdirSync(RECORDED).flatMap(file => linesOf(file.replace('.jsonl', '')))
  for (let i = 0; i < 10_000; i++) {
    const line = whole[random(whole.length)]!
    const kind = random(3)
    if (kind === 0) {
      const cut = line.slice(0, 1 + random(line.length - 1))
      expect(readClaude(cut, 'stdout')).toEqual([{ type: 'raw', text: cut }])
    } else if (kind === 1) {
      const noise = String.fromCharCode(...Array.from({ length: 1 + random(80) }, () => 33 + random(60_000)))
      expect(readClaude(noise, 'stdout').length).toBeGreaterThan(0)
    } else {
      const disturbed = disturb(JSON.parse(line), random) as { type?: string; subtype?: string }
      const events = readClaude(JSON.stringify(disturbed), 'stdout')
      const ofProtocol = disturbed?.type === 'command_lifecycle' || disturbed?.subtype === 'thinking_tokens'
      if (!ofProtocol) expect(events.length, JSON.stringify(disturbed)).toBeGreaterThan(0)
      expect(() => fold(emptyDigest(), events)).not.toThrow()
    }
  }
})

test('how the client keeps its own books is no part of a conversation', () => {
  const ids = { task_id: 'b1', session_id: 's', uuid: 'u' }
  for (const subtype of ['task_started', 'task_updated', 'task_notification', 'session_state_changed'])
    expect(readClaude(JSON.stringify({ type: 'system', subtype, ...ids }), 'stdout'), subtype).toEqual([])
  const unknown = JSON.stringify({ type: 'system', subtype: 'new_in_this_version' })
  expect(readClaude(unknown, 'stdout')).toEqual([{ type: 'raw', text: unknown }])
})

test('the windows of the provider are told, and are no refusal', () => {
  const told = (info: object) =>
    readClaude(JSON.stringify({ type: 'rate_limit_event', rate_limit_info: info }), 'stdout')
  const near = { rateLimitType: 'five_hour', utilization: 0.82, resetsAt: 1_894_738_615 }
  const window = { ...{ type: 'provider_window', used_percent: 82 }, resets_at: '2030-01-15T20:16:55.000Z' }
  expect(told({ status: 'allowed_warning', ...near })).toEqual([{ ...window, name: 'five_hour' }])
  expect(told({ status: 'allowed', unifiedWindows: { five_hour: near, seven_day: near } })).toEqual([
    { ...window, name: 'five_hour' },
    { ...window, name: 'seven_day' },
  ])
  expect(told({ status: 'allowed' })).toEqual([])
  expect(told({ status: 'rejected', ...near }).map(({ type }) => type)).toEqual(['provider_window', 'rate_limit'])
})

test('the window of a helper is not that of the conversation', () => {
  const message = { id: 'm', content: [{ type: 'text', text: 'x' }], usage: { input_tokens: 5 } }
  const types = (more: object) =>
    readClaude(JSON.stringify({ type: 'assistant', message, ...more }), 'stdout').map(({ type }) => type)
  expect(types({ parent_tool_use_id: null })).toContain('context')
  expect(types({ parent_tool_use_id: 'toolu_1' })).not.toContain('context')
})

test('an answer is counted when it begins and with all of its output when it ends, once, and settled by the result', () => {
  const ids = { session_id: 's', parent_tool_use_id: null, uuid: 'u', api_message_id: 'm1' }
  const usage = (output_tokens: number) => ({ input_tokens: 1000, output_tokens, cache_read_input_tokens: 7 })
  const message = { id: 'm1', model: 'claude-sonnet-5-5', content: [], usage: usage(1) }
  const lines = [
    { type: 'stream_event', event: { type: 'message_start', message }, ...ids },
    { type: 'stream_event', event: { type: 'content_block_delta', delta: { type: 'text_delta', text: 'x' } }, ...ids },
    { type: 'assistant', message: { ...message, content: [{ type: 'text', text: 'x' }] }, ...ids },
    { type: 'stream_event', event: { type: 'message_delta', usage: usage(50) }, ...ids },
  ].map(each => readClaude(JSON.stringify(each), 'stdout'))
  const after = (count: number) => fold(emptyDigest(), lines.slice(0, count).flat()).usage
  expect(lines[1]).toEqual([])
  expect(after(1)).toMatchObject({ input_tokens: 1000, output_tokens: 1, cache_read_tokens: 7, turns: 1 })
  expect(after(4)).toMatchObject({ input_tokens: 1000, output_tokens: 50, cache_read_tokens: 7, turns: 1 })
  const models = { a: { inputTokens: 1000, outputTokens: 50, cacheReadInputTokens: 7, costUSD: 0.5 } }
  const result = { type: 'result', subtype: 'success', is_error: false, num_turns: 1, result: 'x' }
  const end = readClaude(JSON.stringify({ ...result, model_usage_since_last_result: models }), 'stdout')
  expect(fold(emptyDigest(), [...lines.flat(), ...end, ...lines[3]!]).usage).toMatchObject({
    ...{ input_tokens: 1000, output_tokens: 50, cost_usd: 0.5, turns: 1 },
  })
})

test('an image that the client repeats is a word to a reader, not its bytes', () => {
  const image = { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'AAAA' } }
  const line = JSON.stringify({
    ...{ type: 'user', uuid: 'u', isReplay: true },
    message: { role: 'user', content: [image, { type: 'text', text: 'Look.' }] },
  })
  expect(readClaude(line, 'stdout')).toEqual([{ type: 'said', id: 'u', text: '[image]\nLook.' }])
})
