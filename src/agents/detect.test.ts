import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, utimesSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { claude } from './claude/adapter.ts'
import { versionOf, which } from './detect.ts'

let root: string
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'flotilla-detect-'))
})
afterEach(() => rmSync(root, { recursive: true, force: true }))

function program(folder: string, body: string, mode = 0o755): string {
  mkdirSync(join(root, folder), { recursive: true })
  const path = join(root, folder, 'claude')
  writeFileSync(path, `#!/bin/sh\n${body}\n`)
  chmodSync(path, mode)
  return path
}

test('the first program on the PATH is found; folders, plain files and relative entries are none', async () => {
  mkdirSync(join(root, 'a', 'claude'), { recursive: true })
  program('b', 'true', 0o644)
  const found = program('c', 'true')
  program('d', 'true')
  const PATH = ['.', 'c', '', ...['a', 'b', 'c', 'd'].map(folder => join(root, folder))].join(':')
  expect(await which('claude', { PATH })).toBe(found)
  expect(await which('claude', {})).toBeUndefined()
})

test('the version is asked once for each state of the file', async () => {
  const asked = join(root, 'asked')
  const path = program('bin', `echo x >> ${asked}; echo '2.1.0 (Claude Code)'`)
  const ask = () => versionOf(path, { PATH: process.env.PATH })
  expect(await Promise.all([ask(), ask()])).toEqual(['2.1.0', '2.1.0'])
  await ask()
  expect(readFileSync(asked, 'utf8')).toBe('x\n')
  utimesSync(path, 1, 1)
  await ask()
  expect(readFileSync(asked, 'utf8')).toBe('x\nx\n')
})

test('claude is told to be missing, broken, signed out or ready, each with what to do', async () => {
  const environment = { PATH: `${join(root, 'bin')}:/usr/bin:/bin`, HOME: root }
  expect(await claude.detect({ ...environment, PATH: root })).toMatchObject({
    installed: false,
    advice: expect.stringMatching(/npm install/),
  })

  const path = program('bin', 'exit 1')
  expect(await claude.detect(environment)).toMatchObject({
    installed: false,
    path,
    advice: expect.stringMatching(/again/),
  })

  program('bin', 'echo 2.1.0')
  const signedOut = await claude.detect(environment)
  expect(signedOut).toMatchObject({ installed: true, path, version: '2.1.0' })
  if (process.platform !== 'darwin')
    expect(signedOut).toMatchObject({ signedIn: false, advice: expect.stringMatching(/Sign in/) })

  expect(await claude.detect({ ...environment, ANTHROPIC_API_KEY: 'key' })).toMatchObject({ signedIn: true })
  mkdirSync(join(root, '.claude'))
  writeFileSync(join(root, '.claude', '.credentials.json'), 'never read', { mode: 0o000 })
  expect(await claude.detect(environment)).toMatchObject({ signedIn: true })
})
