import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { brokenLines } from '../../../test/agents/fuzz.ts'
import type { LaunchRequest, Stream } from '../contract.ts'
import { codexDialogue as dialogue } from './dialogue.ts'

const REQUEST = {
  directory: '/s',
  workingDirectory: '/w',
  prompt: 'Do "it".',
  preset: 'full',
  mcpServers: {},
  resumes: null,
} as unknown as LaunchRequest

type State = ReturnType<typeof dialogue.begin>
type Line = readonly [Stream, object]
const after = (state: State, ...lines: Line[]) =>
  lines.reduce((before, [stream, message]) => dialogue.step(before, JSON.stringify(message), stream), state)
const heard = (message: object): Line => ['stdout', message]
const sent = (line: string): Line => ['sent', JSON.parse(line)]
const idsDue = (state: State) => dialogue.due(state).map(({ id }) => id)

const THREAD = heard({ id: 'thread', result: { thread: { id: 't' }, model: 'm' } })
const begins = (id: string) => heard({ method: 'turn/started', params: { turn: { id } } })
const ends = (id: string) => heard({ method: 'turn/completed', params: { turn: { id, status: 'completed' } } })
const takes = (id: string, turn: string) => heard({ id, result: { turn: { id: turn } } })

const begun = () => dialogue.begin(REQUEST)
const greeted = () => after(begun(), ...dialogue.due(begun()).map(({ line }) => sent(line)))
const prompted = () => {
  const ready = after(greeted(), THREAD)
  return after(ready, ...dialogue.due(ready).map(({ line }) => sent(line)))
}
const working = () => after(prompted(), takes('prompt', '1'), begins('1'))

test('first it is greeted, and the prompt is due once there is a conversation', () => {
  expect(idsDue(begun())).toEqual(['initialize', 'initialized', 'thread'])
  expect(idsDue(greeted())).toEqual([])
  const [prompt] = dialogue.due(after(greeted(), THREAD))
  expect(JSON.parse(prompt!.line)).toMatchObject({
    id: 'prompt',
    method: 'turn/start',
    params: { threadId: 't', input: [{ text: 'Do "it".' }] },
  })
  expect(idsDue(prompted())).toEqual([])
})

test('a conversation opened twice by a crash is one', () => {
  const again = heard({ id: 'thread', result: { thread: { id: 'other' } } })
  const refused = heard({ id: 'thread', error: { message: 'Already.' } })
  expect(dialogue.say(after(prompted(), again, refused), 'm', 'hi')!.line).toContain('"threadId":"t"')
})

test('it is over with its turn, and when it could not begin', () => {
  expect(dialogue.isOver(begun())).toBe(false)
  expect(dialogue.isOver(working())).toBe(false)
  expect(dialogue.isOver(after(working(), ends('1')))).toBe(true)
  expect(dialogue.isOver(after(greeted(), heard({ id: 'thread', error: { message: 'no' } })))).toBe(true)
  expect(dialogue.isOver(after(prompted(), heard({ id: 'prompt', error: { message: 'no' } })))).toBe(true)
  expect(dialogue.isOver(after(greeted(), heard({ id: 'initialize', error: { message: 'Already.' } })))).toBe(false)
})

test('words on their way keep it open, in whatever order they are seen to arrive', () => {
  const said = sent(dialogue.say(working(), 'm', 'hi')!.line)
  expect(dialogue.isOver(after(working(), said, ends('1')))).toBe(false)
  for (const order of [
    [said, ends('1'), takes('say-m', '2')],
    [ends('1'), takes('say-m', '2'), said],
  ]) {
    expect(dialogue.isOver(after(working(), ...order))).toBe(false)
    expect(dialogue.isOver(after(working(), ...order, begins('2'), ends('2')))).toBe(true)
  }
  // They joined the turn just before it was done.
  expect(dialogue.isOver(after(working(), said, ends('1'), takes('say-m', '1')))).toBe(true)
  expect(dialogue.isOver(after(working(), said, ends('1'), heard({ id: 'say-m', error: {} })))).toBe(true)
})

test('nothing can be said before there is a conversation, or after its end', () => {
  expect(dialogue.say(greeted(), 'm', 'hi')).toBeUndefined()
  expect(dialogue.say(after(working(), ends('1')), 'm', 'hi')).toBeUndefined()
  expect(dialogue.say(working(), 'm', 'two\nlines')!.line).not.toContain('\n')
})

test('what is asked is answered once, also after another server has taken over', () => {
  const asks = heard({ id: 7, method: 'item/commandExecution/requestApproval', params: {} })
  const asking = JSON.parse(JSON.stringify(after(working(), asks))) as State
  expect(dialogue.due(asking)).toEqual([])
  const answer = dialogue.answer!(asking, '7', { allow: true })!
  expect(JSON.parse(answer.line)).toEqual({ id: 7, result: { decision: 'accept' } })
  expect(JSON.parse(dialogue.answer!(asking, '7', { allow: false })!.line).result.decision).toBe('decline')
  expect(dialogue.answer!(after(asking, sent(answer.line)), '7', { allow: true })).toBeUndefined()
  const resolved = heard({ method: 'serverRequest/resolved', params: { requestId: 7 } })
  expect(dialogue.answer!(after(asking, resolved), '7', { allow: true })).toBeUndefined()
  expect(dialogue.answer!(asking, '8', { allow: true })).toBeUndefined()
})

test('a question gets the words of a person', () => {
  const asks = heard({ id: 1, method: 'item/tool/requestUserInput', params: { questions: [{ id: 'q' }] } })
  const { line } = dialogue.answer!(after(working(), asks), '1', { allow: true, text: 'Blue' })!
  expect(JSON.parse(line)).toEqual({ id: 1, result: { answers: { q: { answers: ['Blue'] } } } })
})

test('what nobody here can give is refused at once, so that it waits for nothing', () => {
  const form = heard({ id: 1, method: 'mcpServer/elicitation/request', params: {} })
  const other = heard({ id: 2, method: 'item/tool/call', params: {} })
  const asking = after(working(), form, other)
  expect(dialogue.due(asking).map(({ line }) => JSON.parse(line))).toEqual([
    { id: 1, result: { action: 'decline', content: null, _meta: null } },
    { id: 2, error: { code: -32601, message: expect.stringContaining('item/tool/call') } },
  ])
  expect(dialogue.due(after(asking, ...dialogue.due(asking).map(({ line }) => sent(line))))).toEqual([])
})

test('nothing a client prints makes it stumble', () => {
  const recorded = readFileSync(join(import.meta.dirname, '../../../test/recorded/codex/allowed.jsonl'), 'utf8')
  let state = greeted()
  for (const line of brokenLines(recorded.trimEnd().split('\n'), 2000)) {
    state = dialogue.step(state, line, 'stdout')
    expect(() => [dialogue.due(state), dialogue.isOver(state)]).not.toThrow()
  }
})
