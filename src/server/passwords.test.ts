import { generateKeyPairSync } from 'node:crypto'
import { expect, test } from 'vitest'
import { setPassword } from '../fleet/people/passwords.ts'
import { addPrincipal, endPrincipal } from '../fleet/people/principals.ts'
import { FAILED_SIGN_INS } from './limits.ts'
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
