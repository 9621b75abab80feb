import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { aRequest, aWorkspace } from '../../../test/agents/drive.ts'
import { brokenLines } from '../../../test/agents/fuzz.ts'
import type { AgentEvent } from '../contract.ts'
import { emptyDigest, fold } from '../digest.ts'
import { gemini } from './adapter.ts'
import { readGemini } from './read.ts'

const RECORDED = join(import.meta.dirname, '../../../test/recorded/gemini')
const linesOf = (name: string) =>
  readFileSync(join(RECORDED, `${name}.jsonl`), 'utf8')
    .trimEnd()
    .split('\n')
const read = (name: string) => linesOf(name).flatMap(line => readGemini(line, 'stdout'))

test('an edit: what was done and said, and its tokens once', () => {
  const events = read('edit')
  expect(events.filter(event => event.type !== 'usage')).toEqual([
    { type: 'started', conversation: expect.any(String), model: 'gemini-2.5-pro' },
    { type: 'said', id: expect.any(String), text: expect.stringContaining('Do it.') },
    {
      ...{ type: 'tool_call', id: expect.any(String), name: 'write_file' },
      input: { file_path: 'a.txt', content: 'one\n' },
      edits: [{ path: 'a.txt', old_text: null, new_text: 'one\n', diff: null }],
    },
    { type: 'tool_result', id: expect.any(String), output: '', failed: false },
    expect.objectContaining({ type: 'tool_call', name: 'run_shell_command' }),
    { type: 'tool_result', id: expect.any(String), output: 'one', failed: false },
    { type: 'text', text: 'There is a file now.', piece: true },
    { type: 'result', ok: true, text: '', reason: null },
  ])
  const { usage, openTools } = fold(emptyDigest(), events)
  expect(usage).toMatchObject({ input_tokens: 300, cache_read_tokens: 50, output_tokens: 60, turns: 3, cost_usd: 0 })
  expect(openTools).toBe(0)
})

test('turns are known while it works, for limits that are held from outside', () => {
  expect(fold(emptyDigest(), read('edit').slice(0, -3)).usage.turns).toBe(2)
})

test('a resumed conversation has the same name and counts what it adds', () => {
  const digest = fold(emptyDigest(), read('resume'))
  expect(digest.usage).toMatchObject({ input_tokens: 100, output_tokens: 20, turns: 1 })
  expect(digest.conversation).toBe(fold(emptyDigest(), read('edit')).conversation)
})

test('what the policy denied is shown as denied', () => {
  const events = read('denied')
  expect(events.filter(event => event.type === 'permission')).toMatchObject([{ denied: true }])
  expect(events.filter(event => event.type === 'tool_result').map(({ failed }) => failed)).toEqual([true, true])
})

test('the recordings hold nothing the reader does not know', () => {
  for (const file of readdirSync(RECORDED)) {
    expect(read(file.replace('.jsonl', '')).filter(({ type }) => type === 'raw')).toEqual([])
  }
})

test.each([
  ['edit', 0, 'completed', 'finished'],
  ['resume', 0, 'completed', 'finished'],
  ['denied', 0, 'completed', 'finished'],
  ['rate-limited', 173, 'rate_limited', '429'],
  ['signed-out', 145, 'failed', 'not signed in'],
] as const)('%s (exit code %i) comes to %s', (name, code, outcome, words) => {
  const ending = gemini.outcome(fold(emptyDigest(), read(name)), { code })
  expect(ending).toMatchObject({ outcome, reason: expect.stringContaining(words) })
})

test('words are never taken for a rate limit', () => {
  const line = JSON.stringify({ type: 'message', role: 'assistant', content: 'error 429: rate limit at line 1429' })
  expect(readGemini(line, 'stdout').map(event => event.type)).toEqual(['text'])
  expect(readGemini('Error: 429 rate limit', 'stderr').map(event => event.type)).toEqual(['raw'])
})

test('that it tries again is in what it prints beside the conversation', () => {
  const line = 'Attempt 2 failed with status 529. Retrying with backoff... _ApiError: {"error":{"code":529}}'
  expect(readGemini(line, 'stderr')).toEqual([{ type: 'retry', attempt: 2, of: null, why: 'HTTP 529', status: 529 }])
  expect(readGemini('Attempt 1 failed. Retrying with backoff... Error: fetch failed', 'stderr')).toEqual([
    { type: 'retry', attempt: 1, of: null, why: 'no answer' },
  ])
  expect(readGemini(line, 'stdout').map(event => event.type)).toEqual(['raw'])
})

test.each([
  ['on one line', ['Attempt 1 failed: Slow down. Retrying after 5854ms...'], 'Slow down'],
  [
    'on two lines',
    ['Attempt 1 failed: Slow down.', 'Suggested retry after 2s.. Retrying after 5854ms...'],
    'Slow down.',
  ],
])('a wait that the provider asks for says until when: %s', (_how, lines, why) => {
  const { retry } = fold(
    emptyDigest(),
    lines.flatMap(line => readGemini(line, 'stderr')),
  )
  expect(retry).toEqual({ type: 'retry', attempt: 1, of: null, why, status: 429, wait_seconds: 5.854 })
  expect(readGemini('Attempt 3 failed: Slow down. Max attempts reached', 'stderr').map(({ type }) => type)).toEqual([
    'raw',
  ])
})

test('a limit that it does not wait for says until when', () => {
  const message = '[API Error: Slow down.\nSuggested retry after 3600s.]'
  const result = { type: 'result', timestamp: '2030-01-01T00:00:00.000Z', status: 'error', error: { message } }
  const digest = fold(emptyDigest(), readGemini(JSON.stringify(result), 'stdout'))
  expect(gemini.outcome(digest, { code: 429 % 256 })).toMatchObject({
    outcome: 'rate_limited',
    until: '2030-01-01T01:00:00.000Z',
  })
})

test('ten thousand broken lines: none throws, none is lost', () => {
  const whole = readdirSync(RECORDED).flatMap(file => linesOf(file.replace('.jsonl', '')))
  for (const line of brokenLines(whole, 10_000)) {
    const events = readGemini(line, 'stdout')
    expect(events.length, line).toBeGreaterThan(0)
    fold(emptyDigest(), events)
  }
})

const result = (reason: string | null): AgentEvent => ({
  type: 'result',
  ok: reason === null,
  text: 'said',
  reason,
})
const STARTED: AgentEvent = { type: 'started', conversation: 'c', model: null }

test.each([
  ['a good result', [result(null)], 0, 'completed'],
  ['a good result and a bad exit', [result(null)], 1, 'failed'],
  ['asked to end: exit 0 and no result', [STARTED], 0, 'failed'],
  ['nobody knows how it ended', [result(null)], null, 'lost'],
  ['429 to the end', [result('unknown')], 429 % 256, 'rate_limited'],
  ['the same exit code for another reason', [STARTED], 429 % 256, 'failed'],
  ['401', [result('unknown')], 401 % 256, 'failed'],
  ['403', [result('unknown')], 403 % 256, 'failed'],
  ['500', [result('unknown')], 500 % 256, 'failed'],
  ['no way to sign in', [], 41, 'failed'],
  ['an unknown conversation', [], 42, 'failed'],
  ['its own limit of turns', [result('FatalTurnLimitedError')], 53, 'limited'],
  ['ended by a signal', [STARTED], 137, 'failed'],
] as const)('%s', (_name, events, code, outcome) => {
  const ending = gemini.outcome(fold(emptyDigest(), events), { code })
  expect(ending.outcome).toBe(outcome)
  expect(ending.reason).toMatch(/^.+\S$/s)
})

test('a reason fits into a record however long the client talks', () => {
  const long: AgentEvent = { type: 'result', ok: false, text: 'x'.repeat(100_000), reason: 'unknown' }
  expect(gemini.outcome(fold(emptyDigest(), [long]), { code: 1 }).reason.length).toBeLessThan(2000)
})

test('what it cannot do is refused with what to do instead', () => {
  const workspace = aWorkspace()
  const launch = (more: Parameters<typeof aRequest>[1]) => () => gemini.launch(aRequest(workspace, more))
  expect(launch({ resumes: 'c', forks: true })).toThrow('copy of a conversation')
  expect(launch({ approvals: 'ask' })).toThrow('cannot wait')
  expect(launch({ allowedTools: ['Bash(make'] })).toThrow('is not a tool')
  expect(launch({ mcpServers: { a_b: { url: 'http://127.0.0.1:9', headers: {} } } })).toThrow(
    'is not a valid name for a server',
  )
  for (const preset of gemini.can.presets) expect(launch({ preset })).not.toThrow()
  workspace.remove()
})

test('neither the prompt nor a key of a server is ever an argument', () => {
  const workspace = aWorkspace()
  const mcpServers = { lab: { url: 'http://127.0.0.1:9', headers: { authorization: 'Bearer secret' } } }
  const launch = gemini.launch(aRequest(workspace, { prompt: 'the prompt', systemPrompt: 'the rules', mcpServers }))
  expect(launch.argv.join(' ')).not.toMatch(/secret|the prompt|the rules/)
  expect(launch.files.input).toBe('the rules\n\nthe prompt')
  workspace.remove()
})

test('what was thought is a part of what was put out, and each model has its share', () => {
  const share = (input_tokens: number, thought: number) => ({
    ...{ input_tokens, output_tokens: 5, cached: 0, total_tokens: input_tokens + 5 + thought },
  })
  const stats = { ...share(30, 7), tool_calls: 1, models: { pro: share(20, 7), lite: share(10, 0) } }
  const costOf = ({ input_tokens = 0 }, model: string | null) => (model === 'pro' ? input_tokens : 0)
  const events = readGemini(JSON.stringify({ type: 'result', status: 'success', stats }), 'stdout')
  const { usage } = fold(emptyDigest(), events, { costOf, windowOf: () => null })
  expect(usage).toMatchObject({ input_tokens: 30, output_tokens: 17, reasoning_tokens: 7, turns: 2, cost_usd: 20 })
})

test('its record of the conversation tells each answer once, also when it is written again', () => {
  const said = {
    ...{ id: 'a', timestamp: '2026-11-15T21:38:23.929Z', type: 'gemini', model: 'gemini-2.5-pro' },
    tokens: { input: 1007, output: 45, cached: 7, thoughts: 5, tool: 0, total: 1057 },
  }
  const first = gemini.ledger!.read(JSON.stringify(said))
  const again = gemini.ledger!.read(JSON.stringify({ ...said, toolCalls: [{}] }))
  expect(first.at).toBe(said.timestamp)
  const { usage, context } = fold(emptyDigest(), [...first.events, ...again.events])
  expect(usage).toMatchObject({ input_tokens: 1000, output_tokens: 50, reasoning_tokens: 5, cache_read_tokens: 7 })
  expect([usage.turns, context?.used_tokens]).toEqual([1, 1057])
  for (const line of ['{"$set":{}}', 'no json', '{"type":"user"}']) expect(gemini.ledger!.read(line).events).toEqual([])
  expect(gemini.ledger!.find({ HOME: '/nowhere' }, '../../etc/passwd')).toBeUndefined()
})
