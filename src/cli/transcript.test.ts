import { PassThrough } from 'node:stream'
import { expect, test } from 'vitest'
import type { TranscriptEvent } from '../domain/records/transcript.ts'
import { Terminal } from './terminal.ts'
import { Showing } from './transcript.ts'

const streams = { stdin: new PassThrough(), stdout: new PassThrough(), stderr: new PassThrough(), env: {}, cwd: '/' }
const shownOf = (...events: TranscriptEvent[]): string[] => {
  const showing = new Showing(new Terminal(streams, false))
  return [...events.flatMap(event => showing.take(event)), ...showing.rest()]
}
let count = 0
const event = (fields: Record<string, unknown>): TranscriptEvent =>
  ({ event_id: `e${count++}`, cursor: '', at: null, stream: 'stdout', ...fields }) as TranscriptEvent
const piece = (text: string) => event({ type: 'text', text, piece: true })
const call = (fields: object = {}) => event({ type: 'tool_call', id: '1', name: 'Bash', input: 'ls', ...fields })
const result = (failed: boolean) => event({ type: 'tool_result', id: '1', output: 'no such\nfile', failed })
const usage = event({ type: 'usage', usage: { turns: 1 }, counts: 'more' })

test('pieces are put together, whatever is noted between them, and shown line by line', () => {
  expect(shownOf(piece('One '), usage, piece('line.\nAnd '), piece('another.'))).toEqual(['One line.', 'And another.'])
  const think = (text: string) => event({ type: 'thinking', text, piece: true })
  expect(shownOf(think('Is '), think('it? '), think('Yes.'), piece('It is.'))).toEqual(['Is it? Yes.', 'It is.'])
})

test('what was left unfinished is shown before what comes next', () => {
  expect(shownOf(piece('I look.'), call(), event({ type: 'text', text: 'Seen.' }))).toEqual([
    'I look.',
    '▸ Bash ls',
    'Seen.',
  ])
})

test('a tool is shown when it is used, when more is known of it, when it has to be allowed, and when it fails', () => {
  const asked = event({ type: 'permission', id: 'p', tool: 'Bash', input: 'ls', call: '1', denied: false })
  expect(shownOf(call(), call({ again: true }), asked, result(false))).toEqual(['▸ Bash ls', 'Wants to use: Bash ls'])
  expect(shownOf(call({ input: null }), call({ again: true }), result(true))).toEqual([
    '▸ Bash ""',
    '▸ Bash ls',
    '  ✗ no such',
  ])
})

test('a tool is shown by its file or command; whoever has to allow it sees all of its input', () => {
  const input = { file_path: 'a.js', old_string: 'x', new_string: 'y' }
  const asked = event({ type: 'permission', id: 'p', tool: 'Edit', input, call: '1', denied: false })
  expect(shownOf(call({ name: 'Edit', input }), asked)).toEqual([
    '▸ Edit a.js',
    `Wants to use: Edit ${JSON.stringify(input)}`,
  ])
})

test('lines of a program are shown once each, and notes in the words of the page', () => {
  const raw = (text: string, stream = 'stdout') => event({ type: 'raw', text, stream })
  const notes = [
    event({ type: 'warning', text: 'old' }),
    event({ type: 'retry', attempt: 2, of: 3, why: 'busy' }),
    event({ type: 'rate_limit', until: null, text: 'later' }),
    event({ type: 'question', id: 'q', text: 'Which?' }),
  ]
  expect(shownOf(raw('a'), raw('b'), raw('c', 'stderr'), raw(''), ...notes)).toEqual([
    'a',
    'b',
    'c',
    'Warning: old',
    'Retrying (2 of 3): busy',
    'Rate limit: later',
    'Asks: Which?',
  ])
})
