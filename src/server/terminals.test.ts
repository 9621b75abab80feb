import { expect, test } from 'vitest'
import { addPrincipal, endPrincipal } from '../fleet/people/principals.ts'
import { TerminalRequests } from '../fleet/people/terminal-requests.ts'
import { makeToken, tokensOf } from '../fleet/people/tokens.ts'
import { OPERATIONS } from '../operations/index.ts'
import { deviceUrl } from '../platform/tokens.ts'
import { aBrowser, type TestBrowser, tokenIn } from './browser.testkit.ts'
import { CODE_TRIES, TERMINAL_REQUESTS } from './limits.ts'
import { aServer } from './server.testkit.ts'

const ASK = { operation: 'test', actor: 'person' }
const GRANT_TYPE = 'urn:ietf:params:oauth:grant-type:device_code'
const USED = OPERATIONS.filter(({ name }) => ['who_am_i', 'list_tokens'].includes(name))

async function aTeam() {
  const running = await aServer(USED)
  const { fleet, server, ask } = running
  const ada = await addPrincipal(fleet, ASK, {
    ...{ kind: 'person', name: 'Ada', grants: [{ role: 'monitor', project_id: null }] },
  })
  const { id, epoch } = ada
  const link = { id: 'link1', name: '', expiresMs: Date.now() + 60_000, principal: { id, epoch } }
  const { browser } = await aBrowser(server.url, tokenIn(await deviceUrl(fleet.keys, server.url, link)))
  const begin = async (client_name = 'ada@laptop') =>
    (await ask('POST', '/auth/device', { token: null, body: { client_name } })).json
  const poll = (device_code: string) =>
    ask('POST', '/auth/device/token', { token: null, body: { grant_type: GRANT_TYPE, device_code } })
  const decide = (by: TestBrowser, user_code: string, allow: boolean) =>
    by.ask('POST', '/auth/device/decide', { body: { user_code, allow } })
  return { ...running, ada, browser, begin, poll, decide }
}

test('a person allows a terminal at a browser, and it gets a token of theirs, once', async () => {
  const { ada, fleet, server, browser, begin, poll, decide, ask, log } = await aTeam()
  const begun = await begin()
  expect(begun).toMatchObject({
    user_code: expect.stringMatching(/^[BCDFGHJKLMNPQRSTVWXZ]{4}-[BCDFGHJKLMNPQRSTVWXZ]{4}$/),
    verification_uri: `${server.url}/device`,
    expires_in: 600,
    interval: 5,
  })
  expect((await poll(begun.device_code)).json.error).toBe('authorization_pending')
  expect((await poll(begun.device_code)).json.error).toBe('slow_down')
  const typed = begun.user_code.toLowerCase().replace('-', ' ')
  const shown = await browser.ask('POST', '/auth/device/find', { body: { user_code: typed } })
  expect(shown.json).toEqual({ name: 'ada@laptop', address: '127.0.0.1', at: expect.any(String) })
  expect((await decide(browser, begun.user_code, true)).status).toBe(200)
  const { status, json } = await poll(begun.device_code)
  expect([status, json.token_type]).toEqual([200, 'Bearer'])
  expect((await ask('GET', '/api/me', { token: json.access_token })).json).toMatchObject({ kind: 'person', id: ada.id })
  expect(await tokensOf(fleet, ada.id)).toMatchObject([{ name: 'terminal ada@laptop', via: 'terminal', grants: null }])
  // Everything of it is used up.
  expect((await poll(begun.device_code)).json.error).toBe('expired_token')
  expect((await decide(browser, begun.user_code, true)).status).toBe(404)
  for (const secret of [begun.device_code, begun.user_code, json.access_token]) expect(log()).not.toContain(secret)

  expect((await ask('POST', '/sign-out', { token: json.access_token })).status).toBe(204)
  expect((await ask('GET', '/api/me', { token: json.access_token })).status).toBe(401)
})

test('the owner allows one too, and sees and revokes its token like every other', async () => {
  const { fleet, server, begin, poll, decide, ask } = await aTeam()
  const { browser: owner } = await aBrowser(server.url, await fleet.keys.ownerToken())
  const begun = await begin('me@desk')
  await decide(owner, begun.user_code, true)
  const token = (await poll(begun.device_code)).json.access_token
  expect((await ask('GET', '/api/me', { token })).json.kind).toBe('owner')
  expect((await ask('GET', '/api/tokens', { token })).json.tokens).toMatchObject([{ name: 'terminal me@desk' }])
})

test('a terminal that is denied, or whose person has gone, gets nothing', async () => {
  const { ada, fleet, browser, begin, poll, decide } = await aTeam()
  const denied = await begin()
  await decide(browser, denied.user_code, false)
  expect((await poll(denied.device_code)).json.error).toBe('access_denied')
  const late = await begin()
  await decide(browser, late.user_code, true)
  await endPrincipal(fleet, ASK, ada.id)
  expect((await poll(late.device_code)).json.error).toBe('access_denied')
  expect(await tokensOf(fleet, ada.id)).toEqual([])
})

test('only a person at a browser decides: no token, no other page, no guess', async () => {
  const { ada, fleet, browser, begin, ask, poll } = await aTeam()
  const { user_code, device_code } = await begin()
  const { token } = await makeToken(fleet, ASK, ada, { name: 'x', grants: null, expires_at: null })
  const body = { user_code, allow: true }
  const asked = async (how: object) => (await ask('POST', '/auth/device/decide', { body, ...how })).status
  expect(await asked({ token: null })).toBe(401)
  expect(await asked({ token })).toBe(403)
  expect(await asked({})).toBe(403)
  const foreign = { origin: 'https://evil.example' }
  expect((await browser.ask('POST', '/auth/device/decide', { body, headers: foreign })).status).toBe(403)
  expect((await browser.ask('POST', '/auth/device/decide', { body, headers: { origin: undefined } })).status).toBe(403)
  expect((await poll(device_code)).json.error).toBe('authorization_pending')
  for (const wrong of [null, [], { user_code }, { user_code, allow: 'true' }])
    expect((await browser.ask('POST', '/auth/device/decide', { body: wrong as object })).status).toBe(400)
  const answers = new Set<string>()
  let tries = 0
  for (let last = 404; last === 404 && tries < 100; tries++) {
    const { status, text } = await browser.ask('POST', '/auth/device/find', { body: { user_code: `BBBB-BBB${tries}` } })
    last = status
    if (status === 404) answers.add(text)
  }
  expect(tries).toBeLessThanOrEqual(CODE_TRIES.burst + 2)
  expect(answers.size).toBe(1)
})

test('the page that decides cannot be framed, and strangers ask at a slow rate', async () => {
  const { ask, begin } = await aTeam()
  const { headers, status } = await ask('GET', '/device', { token: null })
  expect(status).toBe(200)
  expect(headers['x-frame-options']).toBe('DENY')
  expect(headers['content-security-policy']).toContain("frame-ancestors 'none'")
  for (let asked = 0; asked < TERMINAL_REQUESTS.burst; asked++) await begin()
  expect((await ask('POST', '/auth/device', { token: null, body: {} })).status).toBe(429)
})

test('a code ends after ten minutes, and one address does not push out the requests of others', () => {
  const requests = new TerminalRequests()
  const begin = (address: string, at: number) => requests.begin({ name: 'x', address, at: '' }, at)
  const mine = begin('10.0.0.1', 0)
  for (let count = 0; count < 50; count++) begin('10.0.0.2', 1)
  expect(requests.find(mine.userCode, 2)).toBeDefined()
  expect(requests.poll(mine.deviceCode, 6000)).toEqual({ kind: 'pending' })
  expect(requests.find(mine.userCode, 600_000)).toBeUndefined()
  expect(requests.decide(mine.userCode, 'denied', 600_000)).toBe(false)
  expect(requests.poll(mine.deviceCode, 600_000)).toEqual({ kind: 'expired' })
})
