import { appendFileSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { aSession } from '../src/domain/samples.testkit.ts'
import { type Fleet, makeFleet } from '../src/fleet/fleet.ts'
import { put } from '../src/fleet/records.ts'
import { operationNamed } from '../src/operations/index.ts'
import { openHome } from '../src/platform/home.ts'
import { memoryKeys } from '../src/platform/keys.ts'
import { memoryStore } from '../src/store/index.ts'
import { type Bench, median, ms, type Row, times } from './figure.ts'

const EVENTS = 100_000
const FEW = 1000
/** The number of events of one turn below. */
const EVENTS_EACH = 5
const NEEDLE = 'the needle in it'
const MOST_MS = 100
const MOST_TIMES = 2

interface Page {
  start: string
  cursor: string
  more: boolean
}

/**
 * The cost of opening a session at its end, of scrolling up and of searching depends on what is shown, not on what was
 * printed.
 */
export const transcripts: Bench = async scale => {
  const root = mkdtempSync(join(tmpdir(), 'flotilla-bench-'))
  const home = openHome(join(root, 'home'))
  const fleet = makeFleet({ home, keys: memoryKeys(), store: memoryStore(), environment: {} })
  try {
    const many = await aTranscript(fleet, 'many', EVENTS)
    await aTranscript(fleet, 'few', FEW)
    const repeats = scale.of(30, 5)
    const middle = { after: `1:0-${Math.floor(many.starts[many.starts.length / 2]!)}-0` }
    const rows: Row[] = []
    const compare = async (what: string, name: string, input: object, inMany = input) => {
      const floor = await taken(repeats, () => ask(fleet, name, 'few', input))
      rows.push(row(what, await taken(repeats, () => ask(fleet, name, 'many', inMany)), floor))
    }
    await compare('the last 200 events', 'read_transcript', { last: true, limit: 200 })
    const { start } = await ask(fleet, 'read_transcript', 'few', { last: true, limit: 200 })
    const { start: inMany } = await ask(fleet, 'read_transcript', 'many', { last: true, limit: 200 })
    await compare('200 events before', 'read_transcript', { before: start, limit: 200 }, { before: inMany, limit: 200 })
    await compare('200 events from the middle on', 'read_transcript', { limit: 200 }, { ...middle, limit: 200 })
    await compare('the error before the end', 'search_transcript', { only: 'errors', last: true, limit: 1 })
    rows.push(await searchedThrough(fleet))
    return rows
  } finally {
    await fleet.close()
    rmSync(root, { recursive: true })
  }
}

const row = (what: string, measured: number, floor: number): Row => ({
  figure: `${what}, of ${EVENTS}`,
  measured: `${ms(measured)}, ${times(measured / floor)}`,
  floor: `${ms(floor)} (of ${FEW})`,
  demanded: `≤ ${MOST_TIMES} ×, < ${MOST_MS} ms`,
  met: measured <= floor * MOST_TIMES && measured < MOST_MS,
})

/** Searches for words that are only at the other end: the time of each part of the answer, and of all. */
async function searchedThrough(fleet: Fleet): Promise<Row> {
  const parts: number[] = []
  for (let after: string | undefined, more = true; more; ) {
    const from = performance.now()
    const found = await ask(fleet, 'search_transcript', 'many', { text: NEEDLE, after })
    parts.push(performance.now() - from)
    after = found.cursor
    more = found.more
  }
  const [slowest, all] = [Math.max(...parts), parts.reduce((sum, each) => sum + each, 0)]
  return {
    figure: `search ${EVENTS} events for words at their end`,
    measured: `${ms(all)} in ${parts.length} answers, slowest ${ms(slowest)}`,
    floor: '—',
    demanded: 'each < 500 ms',
    met: slowest < 500,
  }
}

async function taken(repeats: number, run: () => Promise<unknown>): Promise<number> {
  const all: number[] = []
  for (let n = 0; n < repeats; n++) {
    const from = performance.now()
    await run()
    all.push(performance.now() - from)
  }
  return median(all)
}

async function ask(fleet: Fleet, name: string, session_id: string, input: object): Promise<Page> {
  const operation = operationNamed(name)!
  if (operation.kind === 'stream') throw new Error(`${name} is a stream`)
  const context = { fleet, caller: { kind: 'owner' as const }, signal: new AbortController().signal }
  const answer = await operation.run(context, operation.input.parse({ session_id, ...input }))
  return JSON.parse(JSON.stringify(operation.output.parse(answer))) as Page
}

async function aTranscript(fleet: Fleet, id: string, events: number): Promise<{ starts: number[] }> {
  const session = aSession({ id, agent: 'claude', status: 'ended' })
  await fleet.commit('commit.wish', { changes: [put('sessions', session, 'absent')] })
  const directory = join(fleet.home.session(id), 'agent-1')
  mkdirSync(directory, { recursive: true })
  const starts: number[] = []
  let bytes = 0
  let text = ''
  let noted = ''
  for (let n = 0; n < events / EVENTS_EACH; n++) {
    starts.push(bytes)
    const lines = turn(n, events / EVENTS_EACH - 1 - n)
    text += lines
    bytes += lines.length
    noted += `${1_700_000_000_000 + n * 250} 0 ${bytes} 0\n`
  }
  appendFileSync(join(directory, 'stdout'), text)
  appendFileSync(join(directory, 'times'), noted)
  return { starts }
}

/** One turn as Claude Code prints it: words, a tool call, its result. */
function turn(n: number, toCome: number): string {
  const words = `Step ${n}: ${'some words of an agent at work '.repeat(6)}${toCome === 0 ? NEEDLE : ''}`
  const call = { type: 'tool_use', id: `call-${n}`, name: 'Bash', input: { command: `test ${n} -gt 0` } }
  const answer = { type: 'tool_result', tool_use_id: `call-${n}`, content: 'line of output\n'.repeat(12) }
  const usage = { input_tokens: 900, output_tokens: 80, cache_read_input_tokens: 20_000 }
  const lines = [
    { type: 'assistant', message: { id: `m-${n}`, content: [{ type: 'text', text: words }, call], usage } },
    { type: 'user', message: { content: [{ ...answer, is_error: toCome % 500 === 100 }] } },
  ]
  return lines.map(line => `${JSON.stringify(line)}\n`).join('')
}
