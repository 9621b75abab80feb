import { expect, test } from 'vitest'
import { Terminal } from './terminal.ts'

/** What a note of hostile text writes to standard error. */
function noted({ stdoutIsTTY, stderrIsTTY }: { stdoutIsTTY: boolean; stderrIsTTY: boolean }): string {
  let written = ''
  const stream = (isTTY: boolean) => Object.assign(Object.create(process.stdout), { isTTY, write: () => true })
  const stderr = Object.assign(stream(stderrIsTTY), { write: (text: string) => (written += text) })
  const streams = { stdin: process.stdin, stdout: stream(stdoutIsTTY), stderr, env: {}, cwd: '/' }
  const terminal = new Terminal(streams, false)
  terminal.note(terminal.foreign('a\x1b]0;title\x07 \x1b[2J\u202eb'))
  return written
}

test('text of agents acts on no terminal, also where only the notes go to one', () => {
  expect(noted({ stdoutIsTTY: true, stderrIsTTY: true })).toBe('a �b\n')
  expect(noted({ stdoutIsTTY: false, stderrIsTTY: true })).toBe('a �b\n')
  expect(noted({ stdoutIsTTY: false, stderrIsTTY: false })).toContain('\x1b[2J')
})
