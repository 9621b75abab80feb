import { mkdtempSync, realpathSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { secretsIn } from '../runner/secrets.ts'
import { tokenFor } from './client.ts'
import { forgetLogin, loginsFile, loginTo, saveLogin } from './logins.ts'
import { homeHere, namedServer } from './server.ts'

function aPlace() {
  const HOME = mkdtempSync(join(tmpdir(), 'fleet-logins-'))
  onTestFinished(() => rmSync(HOME, { recursive: true }))
  return { env: { HOME } as NodeJS.ProcessEnv, note: () => {} }
}
const [A, B] = ['https://a.example', 'https://b.example:8443']

test('a token is kept where only its person can read it, and is gone after signing out', () => {
  const { env } = aPlace()
  expect(loginTo(env)).toBeUndefined()
  saveLogin(env, { url: A, token: 'one' })
  saveLogin(env, { url: B, token: 'two' })
  expect(statSync(loginsFile(env)).mode & 0o777).toBe(0o600)
  expect(loginTo(env)).toEqual({ url: B, token: 'two' })
  expect(loginTo(env, `${A}/missions`)?.token).toBe('one')
  saveLogin(env, { url: A, token: 'three' })
  expect(loginTo(env)).toEqual({ url: A, token: 'three' })
  forgetLogin(env, A)
  expect(loginTo(env)?.url).toBe(B)
  forgetLogin(env, B)
  expect(() => statSync(loginsFile(env))).toThrow('ENOENT')
})

test('commands ask the fleet that is named, then the one that this terminal is signed in to', () => {
  const { env, note } = aPlace()
  expect(namedServer({ env })).toBeUndefined()
  saveLogin(env, { url: A, token: 'one' })
  expect(namedServer({ env })).toBe(A)
  expect(namedServer({ env, url: B })).toBe(B)
  expect(namedServer({ env, home: '/tmp/x' })).toBeUndefined()
  expect(namedServer({ env: { ...env, FLEET_HOME: '/tmp/x' } })).toBeUndefined()
  expect(namedServer({ env: { ...env, FLEET_URL: B } })).toBe(B)
  expect(() => homeHere({ env }, 'fleet backup')).toThrow('fleet backup works with the files of a home')
  expect(homeHere({ env, home: '/tmp/x', ...{ note } }, 'fleet backup')).toBe('/tmp/x')
})

test('a token goes to the server that it is for, and the token of the home never goes elsewhere', async () => {
  const place = aPlace()
  const home = join(place.env.HOME!, 'home')
  saveLogin(place.env, { url: A, token: 'one' })
  expect(await tokenFor(A, place)).toBe('one')
  expect(await tokenFor(A, { ...place, env: { ...place.env, FLEET_TOKEN: 'other' } })).toBe('one')
  expect(await tokenFor(B, { ...place, url: B, env: { ...place.env, FLEET_TOKEN: 'other' } })).toBe('other')
  await expect(tokenFor(B, { ...place, url: B, home })).rejects.toThrow(`not signed in to ${B}`)
  await expect(tokenFor('http://127.0.0.1:1', { ...place, home })).rejects.toThrow('not signed in')
})

test('a damaged file is said, not overwritten', () => {
  const { env } = aPlace()
  saveLogin(env, { url: A, token: 'one' })
  writeFileSync(loginsFile(env), '{')
  expect(() => loginTo(env)).toThrow('is damaged')
})

test('agents behind walls do not see where their person is signed in', () => {
  const { env } = aPlace()
  saveLogin(env, { url: A, token: 'one' })
  const { folders } = secretsIn(env.HOME!, [])
  expect(folders.some(folder => realpathSync(loginsFile(env)).startsWith(`${folder}/`))).toBe(true)
})
