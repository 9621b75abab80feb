import { readFileSync } from 'node:fs'
import { connect } from 'node:net'
import { text } from 'node:stream/consumers'
import { expect, test } from 'vitest'
import { browserToken } from '../tokens.ts'
import { aServer, type Running, raw } from './server.testkit.ts'
import { serve } from './server.ts'
import { TOYS } from './toys.testkit.ts'

const OWN_TOY = '/api/toys/mission-of-it'

async function signedIn(
  running: Running,
): Promise<{ cookie: string; origin: string; setCookie: string; location?: string }> {
  const { pathname, search, origin } = new URL(running.server.signInUrl())
  const { status, headers } = await running.ask('GET', pathname + search, { token: null })
  expect(status).toBe(303)
  const setCookie = headers['set-cookie']![0]!
  return { cookie: setCookie.split(';')[0]!, origin, setCookie, location: headers.location }
}

test('the printed link signs a browser in and leads to an address without a secret', async () => {
  const running = await aServer(TOYS)
  expect(running.server.signInUrl()).not.toContain(running.fleet.home.token)
  const { cookie, setCookie, location } = await signedIn(running)
  expect(location).toBe('/')
  expect(setCookie).toMatch(/; Path=\/; Max-Age=\d+; HttpOnly; SameSite=Strict$/)
  expect((await running.ask('GET', '/', { token: null, headers: { cookie } })).status).toBe(200)
  expect((await running.ask('GET', OWN_TOY, { token: null, headers: { cookie: `other=1; ${cookie}` } })).status).toBe(
    200,
  )
})

test("the owner's token signs a browser in too; anything else does not, and a link stops working after ten minutes", async () => {
  const running = await aServer(TOYS)
  const tryIn = async (token: string) =>
    (await running.ask('GET', `/sign-in?token=${encodeURIComponent(token)}`, { token: null })).status
  expect(await tryIn(running.fleet.home.token)).toBe(303)
  expect(await tryIn('wrong')).toBe(401)
  expect(await tryIn(await running.session('running'))).toBe(401)
  const { search } = new URL(running.server.signInUrl())
  const later = new Date(Date.now() + 11 * 60_000).toISOString()
  running.fleet.now = () => later
  expect((await running.ask('GET', `/sign-in${search}`, { token: null })).status).toBe(401)
})

test('a token that is pasted signs in without being in an address; a wrong one is refused in so many words', async () => {
  const running = await aServer(TOYS)
  const { origin } = new URL(running.server.signInUrl())
  const paste = (body: unknown, headers: Record<string, string> = { origin }) =>
    running.ask('POST', '/sign-in', { token: null, headers, body })
  const { status, headers, text: answer } = await paste({ token: running.fleet.home.token })
  expect([status, answer]).toEqual([204, ''])
  const cookie = headers['set-cookie']![0]!.split(';')[0]!
  expect((await running.ask('GET', '/', { token: null, headers: { cookie } })).status).toBe(200)
  for (const token of ['wrong', '', running.fleet.home.token.slice(1), await running.session('running'), 1, undefined])
    expect(await paste({ token })).toMatchObject({
      status: 401,
      json: { error: { message: expect.stringContaining('not the token') } },
    })
  // Signing somebody in as oneself is what another page would gain from it.
  expect((await paste({ token: running.fleet.home.token }, { origin: 'https://elsewhere.example' })).status).toBe(403)
})

test('signing out takes the cookie away, and only for the page itself', async () => {
  const running = await aServer(TOYS)
  const { cookie, origin } = await signedIn(running)
  const out = (headers: Record<string, string>) => running.ask('POST', '/sign-out', { token: null, headers })
  expect((await out({ cookie })).status).toBe(403)
  const { status, headers } = await out({ cookie, origin })
  expect(status).toBe(204)
  expect(headers['set-cookie']![0]).toMatch(/^fleet_\w+=; Path=\/; Max-Age=0;/)
})

test('a cookie that is forged, expired or a link of another kind opens nothing', async () => {
  const running = await aServer(TOYS)
  const { cookie } = await signedIn(running)
  const name = cookie.split('=')[0]
  const link = new URL(running.server.signInUrl()).searchParams.get('token')
  for (const value of [
    `${cookie.split('=')[1]}x`,
    browserToken(running.fleet.home, Date.now() - 1),
    link,
    '',
    running.fleet.home.token,
  ]) {
    expect((await running.ask('GET', OWN_TOY, { token: null, headers: { cookie: `${name}=${value}` } })).status).toBe(
      401,
    )
  }
})

test('a change with a cookie needs the own Origin; a token in a header does not', async () => {
  const running = await aServer(TOYS)
  const { cookie, origin } = await signedIn(running)
  const post = async (headers: Record<string, string>, token: string | null = null) =>
    (await running.ask('POST', '/api/toys', { token, headers, body: { title: 'kite' } })).status
  expect(await post({ cookie })).toBe(403)
  expect(await post({ cookie, origin: 'null' })).toBe(403)
  expect(await post({ cookie, origin: 'http://localhost:1' })).toBe(403)
  expect(await post({ cookie, origin })).toBe(200)
  expect(await post({}, running.fleet.home.token)).toBe(200)
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
  expect(await get('/', alive)).toBe(403)
  expect((await running.ask('POST', '/api/toys', { token: alive, body: { title: 'kite' } })).status).toBe(403)
  expect(await get(OWN_TOY, ended)).toBe(401)
  expect(await get(OWN_TOY, alive.replace('running', 'forged'))).toBe(401)
})

test('a token outlives the server that first saw it, because nothing is kept in memory', async () => {
  const first = await aServer(TOYS)
  const token = await first.session('running')
  const { cookie } = await signedIn(first)
  const second = await serve(first.fleet, TOYS, { port: 0, say: () => {} })
  expect((await raw(second.url, 'GET', OWN_TOY, { authorization: `Bearer ${token}` })).status).toBe(200)
  expect((await raw(second.url, 'GET', OWN_TOY, { cookie })).status).toBe(200)
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

test('health says status and version to anyone, and pages without a token say how to sign in', async () => {
  const { ask } = await aServer(TOYS)
  const health = await ask('GET', '/health', { token: null })
  expect(Object.keys(health.json)).toEqual(['status', 'version'])
  const page = await ask('GET', '/', { token: null })
  expect(page.status).toBe(401)
  expect(page.text).toContain('fleet up --detach')
  expect((await ask('GET', '/docs', { token: null })).status).toBe(401)
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
  for (const file of ['docs.js', 'dom.js']) {
    expect(readFileSync(new URL(`pages/${file}`, import.meta.url), 'utf8')).not.toMatch(
      /innerHTML|outerHTML|insertAdjacentHTML|document\.write|eval\(/,
    )
  }
})
