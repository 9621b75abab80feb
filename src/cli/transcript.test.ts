import { PassThrough } from 'node:stream'
import { expect, test } from 'vitest'
import { Terminal } from './terminal.ts'
import { Showing, type Shown } from './transcript.ts'

const streams = { stdin: new PassThrough(), stdout: new PassThrough(), stderr: new PassThrough(), env: {}, cwd: '/' }
const shownOf = (...items: Shown[]): string[] => {
  const showing = new Showing(new Terminal(streams, false))
  return [...items.flatMap(item => showing.take(item)), ...showing.rest()]
}
const piece = (text: string): Shown => ({ type: 'text', text, piece: true })
const usage: Shown = { type: 'usage', usage: { turns: 1 }, counts: 'more' }

test('pieces are put together, whatever is noted between them, and shown line by line', () => {
  expect(shownOf(piece('One '), usage, piece('line.\nAnd '), piece('another.'))).toEqual(['One line.', 'And another.'])
})

test('what was left unfinished is shown before what comes next', () => {
  const call: Shown = { type: 'tool_call', id: '1', name: 'Bash', input: 'ls' }
  expect(shownOf(piece('I look.'), call, { type: 'text', text: 'Seen.' })).toEqual(['I look.', '▸ Bash ls', 'Seen.'])
})
