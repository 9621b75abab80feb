import { appendFileSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import type { TranscriptEvent } from '../../../src/domain/records/transcript.ts'
import { aSession } from '../../../src/domain/samples.testkit.ts'
import { type Fleet, makeFleet } from '../../../src/fleet/fleet.ts'
import { put } from '../../../src/fleet/records.ts'
import { operationNamed } from '../../../src/operations/index.ts'
import { openHome } from '../../../src/platform/home.ts'
import { memoryKeys } from '../../../src/platform/keys.ts'
import { memoryStore } from '../../../src/store/index.ts'
import { eventually } from '../../kit/fleet.ts'
import { aScene } from '../../kit/scene.ts'

interface Page {
  events: TranscriptEvent[]
  start: string
  cursor: string
  more: boolean
}

/** A session with a transcript that the test writes. */
async function aTranscript(agent: string, status: 'running' | 'ended' = 'running') {
  const root = mkdtempSync(join(tmpdir(), 'flotilla-test-'))
  onTestFinished(() => rmSync(root, { recursive: true }))
  const home = openHome(join(root, 'home'))
  const store = memoryStore()
  const session = aSession({ agent, status })
  await store.commit({ changes: [put('sessions', session, 'absent')] })
  const directory = join(home.session(session.id), 'agent-1')
  mkdirSync(directory, { recursive: true })
  const fleet = makeFleet({ home, keys: memoryKeys(), store, environment: {} })
  return {
    fleet,
    print: (text: string, stream = 'stdout') => appendFileSync(join(directory, stream), text),
    page: (input: object = {}) => call<Page>(fleet, 'read_transcript', { session_id: session.id, ...input }),
    call: <T>(name: string, input: object = {}) => call<T>(fleet, name, { session_id: session.id, ...input }),
    stream: (input: object = {}) => streamed(fleet, { session_id: session.id, follow: false, ...input }),
  }
}

async function call<T>(fleet: Fleet, name: string, input: object): Promise<T> {
  const operation = operationNamed(name)!
  if (operation.kind === 'stream') throw new Error('a stream')
  const context = { fleet, caller: { kind: 'owner' as const }, signal: new AbortController().signal }
  return operation.output.parse(await operation.run(context, operation.input.parse(input))) as T
}

async function streamed(fleet: Fleet, input: object): Promise<TranscriptEvent[]> {
  const operation = operationNamed('stream_session')!
  if (operation.kind !== 'stream') throw new Error('no stream')
  const context = { fleet, caller: { kind: 'owner' as const }, signal: new AbortController().signal }
  const events: TranscriptEvent[] = []
  for await (const { kind, data } of operation.run(context, operation.input.parse(input)))
    if (kind !== 'end' && kind !== 'ping') events.push(operation.output.parse(data) as TranscriptEvent)
  return events
}

/** A turn of Claude Code in five lines. Some contain several events, and some contain none. */
const turn = (n: number): string =>
  [
    { type: 'system', subtype: 'status' },
    {
      type: 'assistant',
      message: {
        id: `msg-${n}`,
        content: [
          { type: 'thinking', thinking: `What about ${n}?` },
          { type: 'text', text: `Number ${n}.` },
          { type: 'tool_use', id: `call-${n}`, name: 'Bash', input: { command: `test ${n} -lt 50` } },
        ],
        usage: { input_tokens: 10, output_tokens: 5 },
      },
    },
    {
      type: 'user',
      message: {
        content: [{ type: 'tool_result', tool_use_id: `call-${n}`, content: `exit ${n}`, is_error: n % 10 === 7 }],
      },
    },
  ]
    .map(line => `${JSON.stringify(line)}\n`)
    .join('')

const bare = ({ event_id, type }: TranscriptEvent) => `${event_id} ${type}`

test.each([1, 2, 3, 50])('scrolled up from its end in pages of %i, a transcript is whole', async limit => {
  const { print, page, stream } = await aTranscript('claude')
  for (let n = 0; n < 12; n++) {
    print(turn(n))
    print(`grumble ${n}\n`, 'stderr')
  }
  const all = await stream()
  expect(all).toHaveLength(12 * 7)
  let read = await page({ last: true, limit })
  const seen = read.events
  while (read.more) {
    read = await page({ before: read.start, limit })
    expect(read.events.length).toBeLessThanOrEqual(limit)
    seen.unshift(...read.events)
  }
  expect(seen.map(bare)).toEqual(all.map(bare))
  expect(new Set(all.map(event => event.cursor)).size).toBe(all.length)
})

test('every event can be gone on from, in both directions', async () => {
  const { print, page, stream } = await aTranscript('claude')
  for (let n = 0; n < 3; n++) print(turn(n))
  const all = await stream()
  for (const [index, { cursor }] of all.entries()) {
    expect((await stream({ after: cursor })).map(bare)).toEqual(all.slice(index + 1).map(bare))
    expect((await page({ before: cursor })).events.map(bare)).toEqual(all.slice(0, index + 1).map(bare))
    expect((await page({ after: cursor })).events.map(bare)).toEqual(all.slice(index + 1).map(bare))
  }
})

test("half a line is nobody's, until it is whole or the session has ended", async () => {
  const { print, page, stream } = await aTranscript('shell')
  print('one\ntw')
  const first = await page({ last: true })
  expect(first.events.map(event => 'text' in event && event.text)).toEqual(['one'])
  print('o\nthree\n')
  expect((await stream({ after: first.cursor })).map(event => 'text' in event && event.text)).toEqual(['two', 'three'])
  const over = await aTranscript('shell', 'ended')
  over.print('one\nno end')
  expect((await over.page({ last: true })).events.map(event => 'text' in event && event.text)).toEqual([
    'one',
    'no end',
  ])
})

test('a line of a megabyte is shown cut, and there is a way to all of it', async () => {
  const { print, page, call } = await aTranscript('claude')
  const long = '🚢'.repeat(250_000)
  print(`${JSON.stringify({ type: 'assistant', message: { content: [{ type: 'text', text: long }] } })}\n`)
  const input = `{"file_path":"a.txt","content":"${long}","deep":${'['.repeat(400)}${']'.repeat(400)}}`
  print(`{"type":"assistant","message":{"content":[{"type":"tool_use","id":"w","name":"Write","input":${input}}]}}\n`)
  const { events } = await page({ last: true })
  expect(events.map(({ type, cut }) => ({ type, cut }))).toEqual([
    { type: 'text', cut: true },
    { type: 'tool_call', cut: true },
  ])
  expect(JSON.stringify(events).length).toBeLessThan(100_000)
  expect(events[1]).toMatchObject({ edits: [{ path: 'a.txt', old_text: null, diff: null }] })
  expect(JSON.stringify(events).isWellFormed()).toBe(true)
  const { event } = await call<{ event: { text: string } }>('read_transcript_event', { event_id: events[0]!.event_id })
  expect(event.text).toBe(long)
  expect(await call('read_transcript_event', { event_id: events[1]!.event_id })).toMatchObject({
    event: { name: 'Write', input: { content: long }, edits: [{ new_text: long }] },
  })
  await expect(call('read_transcript_event', { event_id: '1:stdout:999999999:0' })).rejects.toThrow(/no event/)
  await expect(call('read_transcript_event', { event_id: '../../token' })).rejects.toThrow(/not the id of an event/)
})

test('as it was printed: each line is an event', async () => {
  const { print, page } = await aTranscript('claude')
  print(turn(1))
  const { events } = await page({ last: true, raw: true })
  expect(events.map(event => 'text' in event && event.text).join('\n')).toBe(turn(1).trimEnd())
})

interface Found extends Omit<Page, 'events'> {
  matches: { event_id: string; start: string; cursor: string; type: string; snippet: string; marked: unknown }[]
}

test('the next error and the one before are found from anywhere', async () => {
  const { print, call } = await aTranscript('claude')
  for (let n = 0; n < 40; n++) print(turn(n))
  const search = (input: object) => call<Found>('search_transcript', { only: 'errors', limit: 1, ...input })
  const down: string[] = []
  for (let found = await search({}); found.matches.length; found = await search({ after: found.matches[0]!.cursor }))
    down.push(found.matches[0]!.snippet)
  expect(down).toEqual(['exit 7', 'exit 17', 'exit 27', 'exit 37'])
  const up: string[] = []
  for (
    let found = await search({ last: true });
    found.matches.length;
    found = await search({ before: found.matches[0]!.start })
  )
    up.push(found.matches[0]!.snippet)
  expect(up).toEqual(down.toReversed())
})

test('words are found wherever they are said, and a match can be shown among its neighbours', async () => {
  const { print, page, call } = await aTranscript('claude')
  for (let n = 0; n < 60; n++) print(turn(n))
  const { matches } = await call<Found>('search_transcript', { text: 'NUMBER 33.' })
  expect(matches).toMatchObject([{ type: 'text', snippet: 'Number 33.', marked: { from: 0, length: 10 } }])
  const [before, after] = [
    await page({ before: matches[0]!.start, limit: 1 }),
    await page({ after: matches[0]!.start, limit: 1 }),
  ]
  expect(before.events).toMatchObject([{ type: 'thinking', text: 'What about 33?' }])
  expect(after.events).toMatchObject([{ type: 'text', text: 'Number 33.' }])
  // Characters with a meaning in a regular expression.
  expect((await call<Found>('search_transcript', { text: '(.*)-[a' })).matches).toEqual([])
  expect((await call<Found>('search_transcript', { text: '-lt 5' })).matches.at(-1)).toMatchObject({
    type: 'tool_call',
  })
  await expect(call('search_transcript')).rejects.toThrow(/what to look for/)
})

test('a search through much comes in parts that lead on to each other', async () => {
  const { print, call } = await aTranscript('shell')
  for (let n = 0; n < 12; n++) print(`${'filler '.repeat(150_000)}\n`)
  print('here it is\n')
  const parts: Found[] = []
  for (let after: string | undefined; ; after = parts.at(-1)!.cursor) {
    parts.push(await call<Found>('search_transcript', { text: 'here it is', after }))
    if (!parts.at(-1)!.more) break
  }
  expect(parts.length).toBeGreaterThan(1)
  expect(parts.flatMap(part => part.matches)).toHaveLength(1)
})

test('a page read while the agent prints leads on to the stream: nothing missing, nothing twice', async () => {
  const { fleet, project } = await aScene()
  const { id } = await fleet.mission(
    project,
    'i=0; while [ $i -lt 4000 ]; do i=$((i+1)); echo line $i; [ $((i % 5)) -eq 0 ] && echo grumble $i >&2; done; sleep 0.3; echo end',
  )
  const session = await eventually('a session that prints', async () => {
    const { session_id } = await fleet.show(id)
    if (!session_id) return undefined
    const page = await fleet.call<Page>('read_transcript', { session_id, last: true, limit: 100 })
    return page.events.length >= 100 ? { session_id, page } : undefined
  })
  const { session_id, page } = session
  const before: TranscriptEvent[] = [...page.events]
  for (let read = page; read.more; ) {
    read = await fleet.call<Page>('read_transcript', { session_id, before: read.start, limit: 500 })
    before.unshift(...read.events)
  }
  const rest = await streamed(fleet.fleet, { session_id, after: page.cursor })
  const told = [...before, ...rest].flatMap(event => ('text' in event ? [event.text] : []))
  const should = Array.from({ length: 4000 }, (_, n) => n + 1)
  expect(told.filter(text => text.startsWith('line'))).toEqual(should.map(n => `line ${n}`))
  expect(told.filter(text => text.startsWith('grumble'))).toEqual(
    should.filter(n => n % 5 === 0).map(n => `grumble ${n}`),
  )
  expect(told).toContain('end')
  const { stdout } = await fleet.fleetCommand(['logs', id, '--find', 'LINE 3999'])
  expect(stdout).toMatch(/text +line 3999\n$/)
  expect((await fleet.fleetCommand(['logs', id, '--errors'])).code).toBe(1)
})
