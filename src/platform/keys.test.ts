import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { KEY_FILES, type Keys, memoryKeys, openKeys } from './keys.ts'
import { deviceOf, deviceUrl, sessionOf, sessionToken } from './tokens.ts'

function aFolder(): { path: string } {
  const path = mkdtempSync(join(tmpdir(), 'fleet-keys-'))
  onTestFinished(() => rmSync(path, { recursive: true }))
  return { path }
}

/** Every implementation must pass these tests. */
const IMPLEMENTATIONS: Record<string, () => Keys> = { files: () => openKeys(aFolder()), memory: memoryKeys }

describe.each(Object.entries(IMPLEMENTATIONS))('keys in %s', (_name, open) => {
  test('the token of the owner stays the same and is hard to guess', async () => {
    const keys = open()
    const token = await keys.ownerToken()
    expect(token).toMatch(/^\S{32,}$/)
    expect(await keys.ownerToken()).toBe(token)
    expect(await open().ownerToken()).not.toBe(token)
  })

  test('what one home signed holds for this text and this home only', async () => {
    const [keys, others] = [open(), open()]
    const signature = await keys.sign('a text')
    expect(signature).toMatch(/^[\w-]{43}$/)
    expect(await keys.isSigned('a text', signature)).toBe(true)
    for (const [text, by] of [
      ['another text', signature],
      ['a text', `${signature.slice(0, -2)}aa`],
      ['a text', ''],
      ['a text', await others.sign('a text')],
    ] as const)
      expect(await keys.isSigned(text, by)).toBe(false)
    expect(await others.isSigned('a text', signature)).toBe(false)
  })

  test('tokens of sessions and browsers are told apart, and a changed one is none', async () => {
    const keys = open()
    const session = await sessionToken(keys, { id: 'abc', generation: 2 })
    const link = await deviceUrl(keys, 'http://h', { id: 'd1', name: 'a phone', expiresMs: 1000 })
    const device = new URL(link).searchParams.get('token')!
    expect(await sessionOf(keys, session)).toEqual({ id: 'abc', generation: 2 })
    expect(await sessionOf(keys, `session.abc.${await keys.sign('session.abc')}`)).toEqual({ id: 'abc' })
    expect(await deviceOf(keys, device, 999)).toEqual({ id: 'd1', name: 'a phone' })
    expect(await deviceOf(keys, device, 1000)).toBeUndefined()
    expect(await sessionOf(keys, device)).toBeUndefined()
    expect(await deviceOf(keys, session, 0)).toBeUndefined()
    for (const token of [
      '',
      '.',
      'session.abc',
      session.replace('abc', 'abd'),
      await sessionToken(open(), { id: 'abc', generation: 2 }),
    ])
      expect(await sessionOf(keys, token)).toBeUndefined()
  })

  test('it names what no log may contain', async () => {
    const keys = open()
    const secrets = await keys.secrets()
    expect(secrets).toContain(await keys.ownerToken())
    expect(secrets.every(secret => secret.length >= 16)).toBe(true)
  })
})

test('every process of a home has the same keys, and its files are the only ones', async () => {
  const home = aFolder()
  const [one, other] = [openKeys(home), openKeys(home)]
  expect(await other.ownerToken()).toBe(await one.ownerToken())
  expect(await other.isSigned('x', await one.sign('x'))).toBe(true)
  const files = KEY_FILES.map(name => readFileSync(join(home.path, name), 'utf8'))
  expect(await one.secrets()).toEqual(files)
})

test('a damaged file of keys is refused, not replaced', () => {
  const home = aFolder()
  openKeys(home)
  for (const name of KEY_FILES) {
    const file = join(home.path, name)
    const before = readFileSync(file, 'utf8')
    writeFileSync(file, 'x')
    expect(() => openKeys(home)).toThrow(file)
    expect(readFileSync(file, 'utf8')).toBe('x')
    writeFileSync(file, before)
  }
})
