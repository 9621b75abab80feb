import { generateKeyPairSync, randomBytes } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { connect } from 'node:net'
import { text } from 'node:stream/consumers'
import { expect, onTestFinished, test } from 'vitest'
import { aBrowser, type TestBrowser, tokenIn } from './browser.testkit.ts'
import { aServer, type Running, raw } from './server.testkit.ts'
import { serve } from './server.ts'
import { TOYS } from './toys.testkit.ts'

const OWN_TOY = '/api/toys/mission-of-it'

const { x, y } = generateKeyPairSync('ec', { namedCurve: 'P-256' }).publicKey.export({ format: 'jwk' })
const POINT = Buffer.concat([Buffer.from([4]), ...[x!, y!].map(part => Buffer.from(part, 'base64url'))])
const KEY = { kind: 'p256', value: POINT.toString('base64url') }

async function signedIn(running: Running): Promise<TestBrowser> {
  const { answer, browser } = await aBrowser(running.server.url, tokenIn(await running.server.signInUrl()))
  expect(answer.status).toBe(200)
  return browser
}

test('the printed link signs one browser in, once; looking at it uses nothing up', async () => {
  const running = await aServer(TOYS)
  const link = await running.server.signInUrl()
  expect(link).not.toContain(await running.fleet.keys.ownerToken())
  const { pathname, search } = new URL(link)
  for (let looked = 0; looked < 3; looked++)
    expect(await running.ask('GET', pathname + search, { token: null })).toMatchObject({ status: 200 })
  const { answer, browser } = await aBrowser(running.server.url, tokenIn(link))
  expect(answer).toMatchObject({ status: 200, json: { device: browser.device } })
  // No cookie, which a browser would send to other ports too.
  expect(answer.headers['set-cookie']).toBeUndefined()
  expect((await browser.ask('GET', OWN_TOY)).status).toBe(200)
  expect((await aBrowser(running.server.url, tokenIn(link))).answer.status).toBe(401)
  expect((await browser.ask('GET', OWN_TOY)).status).toBe(200)
})

test("the owner's token signs a browser in too; anything else does not, and a link stops working after ten minutes", async () => {
  const running = await aServer(TOYS)
  const { origin } = new URL(running.server.url)
  const owner = await running.fleet.keys.ownerToken()
  const tryIn = async (token: string, headers = {}) =>
    (await aBrowser(running.server.url, token, { headers })).answer.status
  expect(await tryIn(owner)).toBe(200)
  for (const token of ['wrong', '', owner.slice(1), await running.session('running')])
    expect(await tryIn(token)).toBe(401)
  // Another page could gain from signing somebody in as itself.
  expect(await tryIn(owner, { origin: 'https://elsewhere.example' })).toBe(403)
  expect(await tryIn(owner, { 'sec-fetch-site': 'same-site' })).toBe(403)
  const post = (body: object) =>
    running.ask('POST', '/sign-in', {
      token: null,
      headers: { origin },
      body: { token: owner, ...body },
    })
  for (const key of [undefined, {}, { kind: 'p256', value: 'x'.repeat(87) }, { kind: 'none', value: '' }])
    expect((await post({ key })).status).toBe(400)
  const link = tokenIn(await running.server.signInUrl())
  const later = new Date(Date.now() + 11 * 60_000).toISOString()
  running.fleet.now = () => later
  expect(await tryIn(link)).toBe(401)
})

test('a request counts once, for its method, address, body, time and run of the server, and for its own key only', async () => {
  const running = await aServer(TOYS)
  const { url } = running.server
  const browser = await signedIn(running)
  const status = async (method: string, path: string, proof: string, body?: unknown) =>
    (await browser.ask(method, path, { proof, body })).status
  const get = (bent = {}) => browser.proof('GET', OWN_TOY, bent)
  const once = await get()
  expect([await status('GET', OWN_TOY, once), await status('GET', OWN_TOY, once)]).toEqual([200, 401])
  const nonce = randomBytes(12).toString('base64url')
  expect(await status('GET', OWN_TOY, await get({ nonce }))).toBe(200)
  expect(await status('GET', OWN_TOY, await get({ nonce }))).toBe(401)
  expect(await status('GET', '/api/toys/another', await get())).toBe(401)
  expect(await status('GET', `${OWN_TOY}?limit=1`, await get())).toBe(401)
  for (const late of [-61_000, 61_000, 3_600_000]) expect(await status('GET', OWN_TOY, await get({ late }))).toBe(401)
  for (const late of [-50_000, 50_000]) expect(await status('GET', OWN_TOY, await get({ late }))).toBe(200)
  expect(await status('GET', OWN_TOY, await get({ epoch: 'of-another-run-1' }))).toBe(401)

  const kite = JSON.stringify({ title: 'kite' })
  const post = () => browser.proof('POST', '/api/toys', { body: kite })
  expect(await status('POST', '/api/toys', await post(), { title: 'kite' })).toBe(200)
  expect(await status('POST', '/api/toys', await post(), { title: 'bomb' })).toBe(401)
  expect(await status('POST', '/api/toys', await post())).toBe(401)
  expect(await status('POST', '/api/toys', await browser.proof('POST', '/api/toys'), { title: 'kite' })).toBe(401)

  const other = await signedIn(running)
  const asOther = (await get()).replace(browser.device, other.device)
  expect(await status('GET', OWN_TOY, asOther)).toBe(401)
  const [, ...rest] = (await get()).split('.')
  for (const bad of [
    '',
    `Fleet-Proof ${['nobody', ...rest].join('.')}`,
    'Fleet-Proof x',
    `Fleet-Proof ${'a.'.repeat(500)}`,
  ])
    expect(await status('GET', OWN_TOY, bad)).toBe(401)

  // Another run of the server refuses what was signed for this one, and says what to sign.
  const before = await get()
  const second = await serve(running.fleet, TOYS, { port: 0, say: () => {} })
  onTestFinished(() => second.close())
  const refused = await raw(second.url, 'GET', OWN_TOY, { authorization: before })
  expect(refused).toMatchObject({
    status: 401,
    json: { error: { code: 'stale_proof', challenge: { home: running.fleet.home.id } } },
  })
  expect((await raw(url, 'GET', OWN_TOY, { authorization: before })).status).toBe(200)
})

test('signing out ends a session for good, only from its own page; signing in again replaces it', async () => {
  const running = await aServer(TOYS)
  const { origin } = new URL(running.server.url)
  const browser = await signedIn(running)
  expect((await browser.ask('POST', '/sign-out', { headers: { origin: undefined } })).status).toBe(403)
  expect((await browser.ask('POST', '/sign-out', { headers: { origin: 'http://localhost:1' } })).status).toBe(403)
  const body = { token: tokenIn(await running.server.signInUrl()), key: KEY }
  const proof = await browser.proof('POST', '/sign-in', { body: JSON.stringify(body) })
  const again = await running.ask('POST', '/sign-in', { token: null, headers: { authorization: proof, origin }, body })
  expect(again.status).toBe(200)
  expect((await browser.ask('GET', OWN_TOY)).status).toBe(401)
  const third = await signedIn(running)
  expect((await third.ask('POST', '/sign-out')).status).toBe(204)
  expect((await third.ask('GET', OWN_TOY)).json.error).toMatchObject({ code: 'unauthorized' })
})

test('a cookie opens nothing, whatever is in it; the page that asks to sign in says why and takes it away', async () => {
  const running = await aServer(TOYS)
  const browser = await signedIn(running)
  const name = `fleet_${running.fleet.home.id}`
  for (const value of [
    browser.device,
    await running.fleet.keys.ownerToken(),
    tokenIn(await running.server.signInUrl()),
    '',
  ]) {
    const headers = { cookie: `${name}=${value}`, origin: running.server.url }
    expect(await running.ask('GET', OWN_TOY, { token: null, headers })).toMatchObject({
      status: 401,
      json: { error: { message: 'A cookie is not enough.' } },
    })
    const page = await running.ask('GET', '/sign-in', { token: null, headers })
    expect(page.text).toContain('data-reason="cookie"')
    expect(page.headers['set-cookie']![0]).toMatch(/^fleet_\w+=; Path=\/; Max-Age=0;/)
  }
})

test('a change with a proof needs the own Origin; a token in a header does not', async () => {
  const running = await aServer(TOYS)
  const browser = await signedIn(running)
  const post = async (headers: Record<string, string | undefined>) =>
    (await browser.ask('POST', '/api/toys', { headers, body: { title: 'kite' } })).status
  expect(await post({ origin: undefined })).toBe(403)
  expect(await post({ origin: 'null' })).toBe(403)
  expect(await post({ origin: 'http://localhost:1' })).toBe(403)
  expect(await post({})).toBe(200)
  expect((await running.ask('POST', '/api/toys', { body: { title: 'kite' } })).status).toBe(200)
})

test('a key that a page can read is taken only at an address where browsers offer no other', async () => {
  const running = await aServer(TOYS, { allowedHosts: ['box.lan', 'fleet.example'] })
  const { url, signInUrl } = running.server
  const { port } = new URL(url)
  const at = async (origin: string) => {
    const headers = { origin, host: origin.replace(/^https?:\/\//, '') }
    return aBrowser(url, tokenIn(await signInUrl()), { kind: 'shared', headers })
  }
  for (const origin of [
    `http://127.0.0.1:${port}`,
    `http://localhost:${port}`,
    `http://[::1]:${port}`,
    'https://fleet.example',
  ])
    expect([origin, (await at(origin)).answer.status]).toEqual([origin, 400])
  const { answer, browser } = await at(`http://box.lan:${port}`)
  expect(answer.status).toBe(200)
  expect((await browser.ask('GET', OWN_TOY)).status).toBe(200)
  const once = await browser.proof('GET', OWN_TOY)
  expect((await browser.ask('GET', '/api/toys/another', { proof: once })).status).toBe(401)
})

test.each(['cross-site', 'same-site'])('what a browser calls %s is refused, but a link to a page works', async site => {
  const running = await aServer(TOYS)
  const headers = { 'sec-fetch-site': site }
  expect((await running.ask('GET', OWN_TOY, { headers })).status).toBe(403)
  expect((await running.ask('GET', '/api/toys/bear/stream', { headers })).status).toBe(403)
  expect((await running.ask('GET', '/', { headers })).status).toBe(200)
})

test("a session's token reaches only what is for agents, only about its own, and only while it lives", async () => {
  const running = await aServer(TOYS)
  const [alive, ended] = [await running.session('running'), await running.session('ended')]
  const get = async (path: string, token: string) => (await running.ask('GET', path, { token })).status
  expect(await get(OWN_TOY, alive)).toBe(200)
  expect(await get('/api/toys/of-another', alive)).toBe(403)
  expect((await running.ask('POST', '/api/toys', { token: alive, body: { title: 'kite' } })).status).toBe(403)
  expect(await get(OWN_TOY, ended)).toBe(401)
  expect(await get(OWN_TOY, alive.replace('running', 'forged'))).toBe(401)
})

test('a token outlives the server that first saw it, because nothing is kept in memory', async () => {
  const first = await aServer(TOYS)
  const token = await first.session('running')
  const browser = await signedIn(first)
  const second = await serve(first.fleet, TOYS, { port: 0, say: () => {} })
  expect((await raw(second.url, 'GET', OWN_TOY, { authorization: `Bearer ${token}` })).status).toBe(200)
  const { json: server } = await raw(second.url, 'GET', '/sign-in/challenge', {})
  const authorization = await browser.proof('GET', OWN_TOY, { epoch: server.epoch })
  expect((await raw(second.url, 'GET', OWN_TOY, { authorization })).status).toBe(200)
  await second.close()
})

test('only names of its own are answered, with the port, and those that were allowed', async () => {
  const running = await aServer(TOYS, { allowedHosts: ['Fleet.example'] })
  const { port } = new URL(running.server.url)
  const status = async (host: string) =>
    (await running.ask('GET', '/health', { headers: { host }, token: null })).status
  for (const host of [
    `127.0.0.1:${port}`,
    `localhost:${port}`,
    `LOCALHOST:${port}`,
    `[::1]:${port}`,
    'fleet.example',
    `fleet.example:${port}`,
  ]) {
    expect([host, await status(host)]).toEqual([host, 200])
  }
  for (const host of [
    'evil.example',
    `evil.example:${port}`,
    'localhost',
    'localhost:1',
    `localhost:${port}.evil.example`,
  ]) {
    expect([host, await status(host)]).toEqual([host, 403])
  }
  const socket = connect(Number(port), '127.0.0.1')
  socket.write('GET /health HTTP/1.0\r\n\r\n')
  expect(await text(socket)).toMatch(/^HTTP\/1.1 403 /)
})

test('documents are for anyone and hold nothing of the fleet; what holds something needs a token', async () => {
  const { ask, fleet } = await aServer(TOYS)
  const health = await ask('GET', '/health', { token: null })
  expect(Object.keys(health.json)).toEqual(['status', 'version'])
  await fleet.store.commit({
    changes: [],
    events: [{ kind: 'paused', time: fleet.now(), actor: 'person', data: { secret: 'of-the-fleet' } }],
  })
  const sent = async (path: string) => {
    const { status, text } = await ask('GET', path, { token: null })
    expect(status).toBe(200)
    return text.replace(/<meta name="(server|style-nonce)"[^>]*>/g, '')
  }
  for (const path of ['/', '/missions', '/docs', '/sign-in']) {
    const before = await sent(path)
    await fleet.store.commit({
      changes: [],
      events: [{ kind: 'paused', time: fleet.now(), actor: 'person', data: {} }],
    })
    expect(await sent(path)).toBe(before)
  }
  expect((await ask('GET', '/sign-in', { token: null })).text).toContain('fleet up --detach')
  const typed = await ask('GET', OWN_TOY, { token: null, headers: { 'sec-fetch-mode': 'navigate' } })
  expect(typed).toMatchObject({ status: 401, text: expect.stringContaining('not signed in') })
  expect((await ask('GET', '/api/openapi.json', { token: null })).status).toBe(401)
  expect((await ask('GET', '/pages/style.css', { token: null })).status).toBe(200)
  expect((await ask('GET', '/pages/..%2fserver.ts', { token: null })).status).toBe(401)
})

test('pages run only scripts of our own, and no page elsewhere may frame or read them', async () => {
  const { ask } = await aServer(TOYS)
  for (const path of ['/', '/docs']) {
    const { headers, text } = await ask('GET', path)
    expect(headers['content-security-policy']).toContain("default-src 'none'; script-src 'self'; style-src 'self'")
    expect(headers['content-security-policy']).toContain("frame-ancestors 'none'")
    expect(Object.keys(headers).filter(name => name.startsWith('access-control'))).toEqual([])
    expect(text).not.toMatch(/<script(?![^>]*src=)|<style|\son\w+=|\sstyle=/)
  }
  for (const file of ['docs.js', 'dom.js', 'sign-in.js', 'proof.js']) {
    expect(readFileSync(new URL(`pages/${file}`, import.meta.url), 'utf8')).not.toMatch(
      /innerHTML|outerHTML|insertAdjacentHTML|document\.write|eval\(/,
    )
  }
})
