import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import { expect, onTestFinished, test, vi } from 'vitest'
import { addressOf } from './address.ts'
import { passwordFromFile, passwordIn } from './pgpass.ts'

const SERVER = { host: 'db.example.com', port: 5432, database: 'fleet', user: 'ada' }

test('the first line that fits has the password', () => {
  for (const [text, password] of [
    ['db.example.com:5432:fleet:ada:harbour', 'harbour'],
    ['# db.example.com:5432:fleet:ada:no\n\n*:*:*:ada:first\n*:*:*:*:second\n', 'first'],
    ['*:5433:*:*:no\n*:*:other:*:no\n*:*:*:bob:no\nother:*:*:*:no', undefined],
    ['*:*:*:*:with\\:colon and \\\\ and #\r\n', 'with:colon and \\ and #'],
    ['*:*:*:*:a:b', 'a:b'],
    ['*:*:*:*:', undefined],
    ['*:*:*', undefined],
    ['\u0000:::::::\\', undefined],
  ] as const)
    expect(passwordIn(text, SERVER), text).toBe(password)
  expect(passwordIn('fe80\\:\\:1:*:*:*:six', { ...SERVER, host: 'fe80::1' })).toBe('six')
  expect(passwordIn('localhost:*:*:*:socket', { ...SERVER, host: '/run/postgresql' })).toBe('socket')
})

function passwordFile(text: string, mode: number): string {
  const folder = mkdtempSync(join(tmpdir(), 'fleet-pgpass-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const path = join(folder, 'pgpass')
  writeFileSync(path, text)
  chmodSync(path, mode)
  return path
}

test('a file that others can read is left alone, as one that is not there', async () => {
  const from = (PGPASSFILE: string) => passwordFromFile({ PGPASSFILE })(SERVER)
  expect(await from(passwordFile('*:*:*:*:secret', 0o600))).toBe('secret')
  expect(await from(passwordFile('*:*:*:*:secret', 0o644))).toBeUndefined()
  expect(await from('/nowhere/pgpass')).toBeUndefined()
  expect(await from(tmpdir())).toBeUndefined()
})

test('the library asks our reader, and warns nobody', async () => {
  vi.stubEnv('PGPASSFILE', passwordFile('127.0.0.1:1:fleet:ada:harbour', 0o600))
  onTestFinished(() => void vi.unstubAllEnvs())
  const passwordOf = (url: string) => new pg.Client(addressOf({ engine: 'postgresql', url }).client).password
  const password: unknown = passwordOf('postgresql://ada@127.0.0.1:1/fleet')
  expect(await (password as ReturnType<typeof passwordFromFile>)({ ...SERVER, host: '127.0.0.1', port: 1 })).toBe(
    'harbour',
  )
  expect(passwordOf('postgresql://ada:own@127.0.0.1:1/fleet')).toBe('own')
  vi.stubEnv('PGPASSWORD', 'variable')
  expect(passwordOf('postgresql://ada@127.0.0.1:1/fleet')).toBe('variable')
})
