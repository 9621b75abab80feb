import { generateKeyPairSync } from 'node:crypto'
import { expect, test } from 'vitest'
import { setPassword } from '../fleet/people/passwords.ts'
import { addPrincipal, endPrincipal } from '../fleet/people/principals.ts'
import { makeToken } from '../fleet/people/tokens.ts'
import { OPERATIONS } from '../operations/index.ts'
import { FAILED_SIGN_INS, Limits, PASSWORD_CHANGES, PASSWORDS_FOR_NAME } from './limits.ts'
import { aServer, type Running } from './server.testkit.ts'
import { TOYS } from './toys.testkit.ts'

const ASK = { operation: 'test', actor: 'person' }
const { x, y } = generateKeyPairSync('ec', { namedCurve: 'P-256' }).publicKey.export({ format: 'jwk' })
const POINT = Buffer.concat([Buffer.from([4]), ...[x!, y!].map(part => Buffer.from(part, 'base64url'))])
const KEY = { kind: 'p256', value: POINT.toString('base64url') }
const PASSWORD = 'correct horse battery'

async function aHome() {
  const running = await aServer(TOYS)
  const ada = await addPrincipal(running.fleet, ASK, { kind: 'person', name: 'Ada', grants: [] })
  await setPassword(running.fleet, ASK, ada.id, { password: PASSWORD, current: undefined, isSelf: false })
  return { running, ada }
}

const tryIn = (running: Running, name: string, password: string, more = {}) =>
  running.ask('POST', '/sign-in', {
    token: null,
    headers: { origin: new URL(running.server.url).origin },
    body: { name, password, key: KEY, ...more },
  })

test('a name and its password sign a browser in as that person, and nothing else does', async () => {
  const { running, ada } = await aHome()
  const { status, json } = await tryIn(running, 'ada', PASSWORD)
  expect(status).toBe(200)
  const device = await running.fleet.store.get('devices', json.device)
  expect(device!.value).toMatchObject({ principal_id: ada.id, via: 'password' })
  const refused = await Promise.all([
    tryIn(running, 'Ada', 'wrong horse battery'),
    tryIn(running, 'Nobody', PASSWORD),
    tryIn(running, ada.id, PASSWORD),
    tryIn(running, '', ''),
    tryIn(running, 'Ada', 'x'.repeat(100_000)),
  ])
  // Nobody learns who is here.
  expect(new Set(refused.map(({ status, text }) => `${status} ${text}`)).size).toBe(1)
  expect(refused[0]!.status).toBe(401)
  expect(JSON.stringify(await running.fleet.store.get('principals', ada.id))).not.toContain(PASSWORD)
  expect(running.log()).not.toContain(PASSWORD)
})

test('the password of somebody who is gone signs nobody in', async () => {
  const { running, ada } = await aHome()
  await endPrincipal(running.fleet, ASK, ada.id)
  expect((await tryIn(running, 'Ada', PASSWORD)).status).toBe(401)
})

test('guesses are slowed down before they cost anything', async () => {
  const { running } = await aHome()
  // A wrong token counts as well, and is cheap to try.
  const wrong = () => tryIn(running, '', '', { name: undefined, password: undefined, token: 'wrong' })
  for (let tries = 0; tries < FAILED_SIGN_INS.burst; tries++) expect((await wrong()).status).toBe(401)
  const { status, headers } = await tryIn(running, 'Ada', 'a wrong one')
  expect(status).toBe(429)
  expect(Number(headers['retry-after'])).toBeGreaterThanOrEqual(1)
})

test('who changes their own password says the one until now', async () => {
  const { running, ada } = await aHome()
  const change = (current: string | undefined) =>
    setPassword(running.fleet, ASK, ada.id, { password: 'another long one', current, isSelf: true })
  await expect(change(undefined)).rejects.toThrow('not your password')
  await expect(change('wrong')).rejects.toThrow('not your password')
  await change(PASSWORD)
  expect((await tryIn(running, 'Ada', 'another long one')).status).toBe(200)
  expect((await tryIn(running, 'Ada', PASSWORD)).status).toBe(401)
})

test('who tries passwords of their own account is slowed down, and keeps nobody else from signing in', async () => {
  const running = await aServer(OPERATIONS.filter(({ name }) => name === 'set_password'))
  const { fleet } = running
  const people = ['Ada', 'Bob'].map(name => addPrincipal(fleet, ASK, { kind: 'person', name, grants: [] }))
  const [ada, bob] = await Promise.all(people)
  for (const { id } of [ada!, bob!])
    await setPassword(fleet, ASK, id, { password: PASSWORD, current: undefined, isSelf: false })
  const { token } = await makeToken(fleet, ASK, bob!, { name: 'stolen', grants: null, expires_at: null })
  const tries = Array.from({ length: PASSWORD_CHANGES.burst + 15 }, (_, at) =>
    running.ask('PUT', '/api/me/password', {
      token,
      body: { password: 'another long one', current: `guess ${at}` },
    }),
  )
  const signedIn = tryIn(running, 'Ada', PASSWORD)
  const statuses = (await Promise.all(tries)).map(({ status }) => status)
  expect(statuses.filter(status => status === 403)).toHaveLength(PASSWORD_CHANGES.burst)
  expect(statuses.filter(status => status === 429)).toHaveLength(15)
  expect((await signedIn).status).toBe(200)
})

test('of a name that somebody tries, no more is remembered than a name can have', () => {
  const limits = new Limits()
  const tries = (name: string, at: number) => limits.requirePasswordTry(`10.0.${at >> 8}.${at & 255}`, name)
  // Whoever sends long ones would fill the memory. They count as one, which nobody has.
  for (let at = 0; at < PASSWORDS_FOR_NAME.burst; at++) tries(`${'x'.repeat(1000)}${at}`, at)
  expect(() => tries(`${'x'.repeat(1000)}y`, 1000)).toThrow('too often')
  tries('x'.repeat(80), 1001)
})
