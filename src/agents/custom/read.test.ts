import { expect, test } from 'vitest'
import { brokenLines } from '../../../test/agents/fuzz.ts'
import { emptyDigest, fold } from '../digest.ts'
import { EventRule, readMapped } from './read.ts'

const rules = (...all: object[]) => all.map(each => EventRule.parse(each))
const SAYS = rules({ event: 'text', when: { type: 'say' }, text: 'parts.0.text', piece: true })
const read = (of: EventRule[], said: unknown) => readMapped(of, 'raw', JSON.stringify(said), 'stdout')

test('a part is found wherever it lies, and only what is the line’s own', () => {
  expect(read(SAYS, { type: 'say', parts: [{ text: 'Hi.' }] })).toEqual([{ type: 'text', text: 'Hi.', piece: true }])
  const inherited = rules({ event: 'text', when: {}, text: 'constructor.name' })
  expect(read(inherited, {})).toEqual([{ type: 'text', text: '' }])
})

test('every rule that fits gives its event; where none fits the line is kept as it is', () => {
  const both = rules(
    { event: 'text', when: { type: 'end' }, text: 'words' },
    { event: 'result', when: { type: 'end', code: 0 }, ok: true, text: 'words' },
    { event: 'result', when: { type: 'end', failed: true }, ok: false },
  )
  expect(read(both, { type: 'end', code: 0, words: 'Bye.' }).map(({ type }) => type)).toEqual(['text', 'result'])
  expect(read(both, { type: 'end', code: '0' }).map(({ type }) => type)).toEqual(['text'])
  expect(read(both, { type: 'other' })).toEqual([{ type: 'raw', text: '{"type":"other"}' }])
  expect(readMapped(both, 'text', 'plain words', 'stdout')).toEqual([{ type: 'text', text: 'plain words' }])
  expect(readMapped(both, 'text', 'a warning', 'stderr')).toEqual([{ type: 'raw', text: 'a warning' }])
})

test('invalid figures count as nothing, and an invalid time is left out', () => {
  const bill = rules({ event: 'usage', when: {}, counts: 'total', input_tokens: 'in', cost_usd: 'usd' })
  expect(read(bill, { in: 'many', usd: null })).toMatchObject([{ usage: { input_tokens: 0, cost_usd: 0 } }])
  const wait = rules({ event: 'rate_limit', when: {}, until: 'at' })
  expect(read(wait, { at: '2030-01-01T00:00:00Z' })).toMatchObject([{ until: '2030-01-01T00:00:00.000Z' }])
  for (const at of ['soon', null, {}, 1e300]) expect(read(wait, { at })).toMatchObject([{ until: null }])
})

test('how full its window is, and that of its provider', () => {
  const told = rules(
    { event: 'context', when: { kind: 'ctx' }, used: 'tokens.now', window: 'tokens.of' },
    { event: 'provider_window', when: { kind: 'quota' }, name: 'what', used_percent: 'used', resets_at: 'until' },
  )
  expect(read(told, { kind: 'ctx', tokens: { now: 5, of: 9 } })).toEqual([{ type: 'context', used: 5, window: 9 }])
  expect(read(told, { kind: 'ctx', tokens: { now: 'five' } })).toEqual([{ type: 'context', used: 0, window: null }])
  expect(read(told, { kind: 'quota', what: 'hourly', used: 81, until: 1_894_738_615 })).toEqual([
    { type: 'provider_window', name: 'hourly', used_percent: 81, resets_at: '2030-01-15T20:16:55.000Z' },
  ])
})

test('ten thousand broken lines: none throws, none is lost', () => {
  const all = rules(
    { event: 'started', when: { type: 'init' }, conversation: 'id' },
    { event: 'tool_call', when: { type: 'call' }, id: 'call.id', name: 'call.name', input: 'call.input' },
    { event: 'rate_limit', when: { type: 'wait' }, until: 'until' },
    { event: 'usage', when: { type: 'wait' }, counts: 'more', turns: 'turns' },
    ...SAYS,
  )
  const whole = [
    { type: 'init', id: 'x' },
    { type: 'call', call: { id: '1', name: 'sh', input: { a: [1] } } },
    { type: 'wait', until: 1, turns: 2 },
    { type: 'say', parts: [{ text: 'Hi.' }] },
  ]
  for (const broken of brokenLines(
    whole.map(line => JSON.stringify(line)),
    10_000,
  )) {
    const events = readMapped(all, 'raw', broken, 'stdout')
    expect(() => fold(emptyDigest(), events)).not.toThrow()
    if (broken.trim()) expect(events.length).toBeGreaterThan(0)
  }
})
