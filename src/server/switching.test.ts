import { expect, test } from 'vitest'
import { addPrincipal } from '../fleet/people/principals.ts'
import { OPERATIONS } from '../operations/index.ts'
import { deviceUrl } from '../platform/tokens.ts'
import { aBrowser, tokenIn } from './browser.testkit.ts'
import { aServer } from './server.testkit.ts'

test('a link of somebody else does not make a signed-in browser theirs unasked', async () => {
  const { fleet, server } = await aServer(OPERATIONS)
  const { browser } = await aBrowser(server.url, await fleet.keys.ownerToken())
  const asked = { operation: 'test', actor: 'person' }
  const mallory = await addPrincipal(fleet, asked, { kind: 'person', name: 'Mallory', grants: [] })
  const expiresMs = Date.parse(fleet.now()) + 60_000
  const link = await deviceUrl(fleet.keys, server.url, { id: 'theirs', name: '', expiresMs, principal: mallory })
  const key = { kind: 'p256', value: 'x' }
  const { publicKey } = await crypto.subtle.generateKey({ name: 'ECDSA', namedCurve: 'P-256' }, true, ['sign'])
  key.value = Buffer.from(await crypto.subtle.exportKey('raw', publicKey)).toString('base64url')
  const come = (more: object) => browser.ask('POST', '/sign-in', { body: { token: tokenIn(link), key, ...more } })
  expect((await come({})).status).toBe(409)
  expect((await browser.ask('GET', '/api/me')).json.kind).toBe('owner')
  // The link was not used up: the person may decide to switch.
  expect((await come({ replace: true })).json).toEqual({ device: 'theirs' })
  expect((await browser.ask('GET', '/api/me')).status).toBe(401)
})

test('a person finds only their own browsers, and signs out under their own name', async () => {
  const { fleet, server } = await aServer(OPERATIONS)
  const asked = { operation: 'test', actor: 'person' }
  const expiresMs = Date.parse(fleet.now()) + 60_000
  const enter = async (name: string, id: string) => {
    const principal = await addPrincipal(fleet, asked, { kind: 'person', name, grants: GRANTS })
    const link = await deviceUrl(fleet.keys, server.url, { id, name: '', expiresMs, principal })
    return { principal, ...(await aBrowser(server.url, tokenIn(link))) }
  }
  const { principal, browser } = await enter('Ada', 'zz-own')
  await enter('Bob', 'aa-one')
  await enter('Eve', 'aa-two')
  const guessed = await browser.ask('DELETE', '/api/devices/aa')
  expect(guessed.status).toBe(404)
  expect(guessed.text).not.toContain('aa-one')
  expect((await browser.ask('POST', '/sign-out')).status).toBe(204)
  const { events } = await fleet.store.events({ limit: 100 })
  expect(events.at(-1)).toMatchObject({ kind: 'device_signed_out', actor: `person:${principal.id}` })
})

const GRANTS = [{ role: 'monitor' as const, project_id: null }]
