import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { startScript } from './start-script.ts'

test('words and values reach the program as they are, and a second start ends', () => {
  const folder = mkdtempSync(join(tmpdir(), "fleet 'start'-"))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  const value = `$(touch x) \`id\` "q" 'p' \\ \n end`
  const program = `process.stdout.write(JSON.stringify([process.argv.slice(1), process.env.VALUE, process.env.TMUX ?? null]))`
  const script = startScript({
    argv: [process.execPath, '-e', program, value],
    env: { VALUE: value, 'NOT A NAME': 'x' },
    claim: join(folder, 'claim'),
  })
  const run = () => execFileSync('/bin/sh', ['-c', script], { env: { TMUX: 'here' }, encoding: 'utf8' })
  expect(JSON.parse(run())).toEqual([[value], value, null])
  expect(run).toThrow()
})
