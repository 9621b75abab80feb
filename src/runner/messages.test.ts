import { spawn } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { fileOf } from '../platform/launch-folder.ts'
import { Outbox, wholeLine } from './messages.ts'
import { placePipes } from './pipes.ts'

let root: string
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'flotilla-messages-'))
})
afterEach(() => rmSync(root, { recursive: true, force: true, maxRetries: 5 }))

test('the client gets the content of a file, and the transcript keeps its path', async () => {
  const picture = join(root, '1.png')
  writeFileSync(picture, Buffer.from([0, 255, 1]))
  const line = JSON.stringify({ image: { data: picture }, words: `Look at ${picture}.` })
  await placePipes([fileOf(root, 'stdin')])
  const client = spawn('sh', ['-c', 'cat "$1/stdin" >"$1/got"', 'sh', root], { stdio: 'ignore' })
  const ended = new Promise(resolve => client.once('exit', resolve))

  const outbox = new Outbox(root, { PATH: process.env.PATH! })
  await outbox.write({ id: 'prompt', line, files: [picture] })
  await outbox.write({ id: 'prompt', line, files: [picture] })
  expect(outbox.size).toBe(1)
  await outbox.carry()
  await ended

  const got = JSON.parse(readFileSync(join(root, 'got'), 'utf8'))
  expect(got).toEqual({ image: { data: 'AP8B' }, words: `Look at ${picture}.` })
  expect(readFileSync(fileOf(root, 'sent'), 'utf8')).toBe(`${line}\n`)
})

test('the whole line is gone once it was delivered', async () => {
  const picture = join(root, '1.png')
  writeFileSync(picture, 'x')
  writeFileSync(fileOf(root, 'stdin'), '')
  const outbox = new Outbox(root, { PATH: process.env.PATH! })
  await outbox.write({ id: 'prompt', line: JSON.stringify([picture]), files: [picture] })
  const whole = join(fileOf(root, 'messages'), '000001-prompt.whole')
  expect(readFileSync(whole, 'utf8')).toBe('["eA=="]\n')
  await outbox.carry()
  await expect.poll(() => existsSync(whole)).toBe(false)
})

test('a line without files is passed on as it is', () => {
  expect(wholeLine({ id: 'a', line: '{ "a" :1}' })).toBe('{ "a" :1}')
})
