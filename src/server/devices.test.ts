import { expect, onTestFinished, test } from 'vitest'
import { Device } from '../domain/records/device.ts'
import { OPERATIONS, operationNamed } from '../operations/index.ts'
import { takeLock } from '../store/index.ts'
import { aBrowser, type TestBrowser, tokenIn } from './browser.testkit.ts'
import { reachableAt } from './origin.ts'
import { aServer, type Running, raw } from './server.testkit.ts'
import { serve } from './server.ts'

const PHONE = { 'user-agent': 'Mozilla/5.0 (iPhone; CPU iPhone OS 19_0) AppleWebKit/605 Version/19.0 Safari/604.1' }

/** A server that says that others can reach it; the test reaches it as always. */
async function aReachableServer(): Promise<Running> {
  const running = await aServer(OPERATIONS)
  await announce(running, [running.server.url, 'https://fleet.example'])
  return running
}

async function announce({ fleet, server }: Running, reachable_at: string[]): Promise<void> {
  const lease = takeLock(fleet.home.path)!
  onTestFinished(() => lease.release())
  await lease.announce({ pid: process.pid, started: '0', version: '0', host: 'here', url: server.url, reachable_at })
}

/** The token in a link for one device. */
async function aLink(running: Running, input: object = {}): Promise<string> {
  const { status, json } = await running.ask('POST', '/api/devices', { body: input })
  expect(status).toBe(200)
  return tokenIn(json.link.url)
}

const come = ({ server }: Running, token: string) => aBrowser(server.url, token, { headers: PHONE })
const enter = async (running: Running, token: string): Promise<TestBrowser> => {
  const { answer, browser } = await come(running, token)
  expect(answer.status).toBe(200)
  return browser
}
const refused = async (running: Running, token: string) => (await come(running, token)).answer.status
const statusFor = async (browser: TestBrowser) => (await browser.ask('GET', '/api/devices')).status

test('a link lets one device in, which is listed by name and can be shut out again', async () => {
  const running = await aReachableServer()
  const link = await aLink(running)
  const phone = await enter(running, link)
  expect(await refused(running, link)).toBe(401)

  const list = await phone.ask('GET', '/api/devices')
  expect(list.json.devices).toMatchObject([{ name: 'iPhone, Safari', this_one: true, via: 'link', key: 'p256' }])
  const { id } = list.json.devices[0]
  expect((await running.ask('GET', '/api/devices')).json.devices).toMatchObject([{ id, this_one: false }])

  const other = await enter(running, await aLink(running, { name: 'the tablet' }))
  expect((await running.ask('DELETE', `/api/devices/${id.slice(0, 6)}`)).json).toEqual({ device_id: id })
  expect(await statusFor(phone)).toBe(401)
  expect(await statusFor(other)).toBe(200)
  expect((await running.ask('GET', '/api/devices')).json.devices).toMatchObject([{ name: 'the tablet' }])
  expect(await refused(running, link)).toBe(401)
  const kinds = (await running.fleet.store.events({ limit: 10 })).events.map(event => event.kind)
  expect(kinds).toEqual(['device_signed_in', 'device_signed_in', 'device_signed_out'])
})

test('browsers that came by the printed link or with the token are listed too, and shut out alike', async () => {
  const running = await aReachableServer()
  const byLink = await enter(running, tokenIn(await running.server.signInUrl()))
  const byToken = await enter(running, await running.fleet.keys.ownerToken())
  const { devices } = (await running.ask('GET', '/api/devices')).json
  expect(devices.map(({ id, via }: { id: string; via: string }) => [id, via]).toSorted()).toEqual(
    [
      [byLink.device, 'link'],
      [byToken.device, 'token'],
    ].toSorted(),
  )
  for (const browser of [byLink, byToken]) {
    expect((await running.ask('DELETE', `/api/devices/${browser.device}`)).status).toBe(200)
    expect(await statusFor(browser)).toBe(401)
  }
})

test('a device that signs itself out is shut out, and after thirty days it is a stranger', async () => {
  const running = await aReachableServer()
  const phone = await enter(running, await aLink(running))
  expect((await phone.ask('POST', '/sign-out')).status).toBe(204)
  expect(await statusFor(phone)).toBe(401)
  expect((await running.ask('GET', '/api/devices')).json.devices).toEqual([])
  const tablet = await enter(running, await aLink(running))
  const later = new Date(Date.now() + 31 * 24 * 3600_000).toISOString()
  running.fleet.now = () => later
  expect(await statusFor(tablet)).toBe(401)
})

test('a record of a version that took a cookie for enough lets nobody in, and is not listed', async () => {
  const running = await aReachableServer()
  const old = {
    id: 'device-of-0-1-0',
    name: 'iPhone, Safari',
    user_agent: 'x',
    signed_in_at: running.fleet.now(),
    expires_at: new Date(Date.now() + 24 * 3600_000).toISOString(),
  }
  const value = Device.parse(old)
  await running.fleet.store.commit({ changes: [{ put: 'devices', value, expects: 'absent' }] })
  expect((await running.ask('GET', '/api/devices')).json.devices).toEqual([])
  const proof = `Fleet-Proof ${old.id}.${Date.now()}.${'n'.repeat(16)}..${'s'.repeat(86)}`
  expect((await raw(running.server.url, 'GET', '/api/devices', { authorization: proof })).status).toBe(401)
})

test('of many who come with one link at once, one is let in; a restart changes nothing', async () => {
  const running = await aReachableServer()
  const link = await aLink(running)
  const second = await serve(running.fleet, OPERATIONS, { port: 0, say: () => {} })
  onTestFinished(() => second.close())
  const came = await Promise.all(
    Array.from({ length: 20 }, (_, n) => aBrowser(n % 2 ? running.server.url : second.url, link)),
  )
  expect(came.map(({ answer }) => answer.status).toSorted()).toEqual([200, ...Array(19).fill(401)])
  expect(await statusFor(came.find(({ answer }) => answer.status === 200)!.browser)).toBe(200)
})

test('a link stops working after ten minutes, and looking at it does not use it up', async () => {
  const running = await aReachableServer()
  const [early, late] = [await aLink(running), await aLink(running)]
  await running.ask('GET', `/sign-in?token=${early}`, { token: null })
  expect(await refused(running, `${early}x`)).toBe(401)
  await enter(running, early)
  const later = new Date(Date.now() + 11 * 60_000).toISOString()
  running.fleet.now = () => later
  expect(await refused(running, late)).toBe(401)
})

test('neither an agent nor a plugin lets anybody in, and nothing of a link is in the log', async () => {
  const running = await aReachableServer()
  const token = await running.session('running')
  for (const [method, path] of [
    ['POST', '/api/devices'],
    ['GET', '/api/devices'],
    ['DELETE', '/api/devices/x'],
  ] as const)
    expect((await running.ask(method, path, { token, ...(method === 'POST' && { body: {} }) })).status).toBe(403)
  const operation = operationNamed('continue_on_phone')!
  const context = { fleet: running.fleet, caller: { kind: 'owner' as const, plugin: 'p' } }
  await expect(operation.run({ ...context, signal: new AbortController().signal }, { name: '' })).rejects.toThrow(
    /Only a person/,
  )
  const link = await aLink(running)
  await come(running, link)
  await come(running, link)
  await running.ask('GET', `/sign-in?token=${link}`, { token: null })
  await running.ask('GET', `/nowhere?token=${link}`, { token: null })
  expect(running.log()).not.toContain(link.slice(-43))
})

test('what a device that was signed out had opened tells it nothing more', async () => {
  const running = await aReachableServer()
  const phone = await enter(running, await aLink(running))
  const authorization = await phone.proof('GET', '/api/events/stream')
  const response = await fetch(`${running.server.url}/api/events/stream`, { headers: { authorization } })
  const heard: string[] = []
  const over = (async () => {
    for await (const bytes of response.body!) heard.push(Buffer.from(bytes).toString())
  })()
  const happen = (n: number) =>
    running.fleet.store.commit({
      changes: [],
      events: [{ kind: 'paused', time: running.fleet.now(), actor: 'person', data: { n } }],
    })
  await happen(1)
  await expect.poll(() => heard.join('')).toContain('"n":1')
  // Even if nothing more is sent on it.
  await running.ask('DELETE', `/api/devices/${phone.device}`)
  const started = performance.now()
  await over
  expect(performance.now() - started).toBeLessThan(5000)
})

test('a browser is no MCP client', async () => {
  const running = await aServer(OPERATIONS, {
    endpoints: [{ path: '/mcp', offer: () => ({}) as never, legacySse: true }],
  })
  const browser = await enter(running, await running.fleet.keys.ownerToken())
  const call = { jsonrpc: '2.0', id: 1, method: 'tools/list' }
  expect((await browser.ask('POST', '/mcp', { body: call })).status).toBe(403)
  expect((await browser.ask('GET', '/mcp/sse')).status).toBe(403)
})

test('where no other machine reaches the server, the answer is what to do', async () => {
  const running = await aServer(OPERATIONS)
  const { json } = await running.ask('POST', '/api/devices', { body: {} })
  expect(json).toMatchObject({ link: null, addresses: [] })
  expect(json.advice.map(({ command }: { command: string }) => command).join()).toMatch(/--tls-cert.*--allow-host/)
  const wrong = await running.ask('POST', '/api/devices', { body: { address: 'https://evil.example' } })
  expect(wrong.status).toBe(400)
})

test('a code to scan is the link, at the address that was chosen', async () => {
  const running = await aReachableServer()
  const { json } = await running.ask('POST', '/api/devices', { body: { address: 'https://fleet.example' } })
  expect(json.link.url).toMatch(/^https:\/\/fleet\.example\/sign-in\?token=/)
  expect(json.link).toMatchObject({ encrypted: true, qr: { svg: expect.stringContaining('<svg') } })
  const { modules } = json.link.qr
  expect(modules.every((row: boolean[]) => row.length === modules.length)).toBe(true)
})

test('where a server is reached follows from how it was started', () => {
  const place = { host: '127.0.0.1', port: 3847, tls: false, allowedHosts: [] as string[] }
  const lan = ['192.168.1.5', 'fd00::5']
  expect(reachableAt(place, lan)).toEqual([])
  expect(reachableAt({ ...place, allowedHosts: ['fleet.example'] }, lan)).toEqual(['https://fleet.example'])
  expect(reachableAt({ ...place, host: '0.0.0.0', tls: true, allowedHosts: ['box.lan'] }, lan)).toEqual([
    'https://box.lan:3847',
    'https://192.168.1.5:3847',
    'https://[fd00::5]:3847',
  ])
  expect(reachableAt({ ...place, host: '10.0.0.7' }, lan)).toEqual(['http://10.0.0.7:3847'])
})

test('one that listens on every address answers to the one it was asked for by number, and to no foreign name', async () => {
  const running = await aServer(OPERATIONS, { host: '0.0.0.0', allowInsecure: true })
  const { port } = new URL(running.server.url)
  const there = `127.0.0.2:${port}`
  const authorization = `Bearer ${await running.fleet.keys.ownerToken()}`
  const get = async (headers: Record<string, string>) =>
    (await raw(`http://${there}`, 'GET', '/api/devices', { authorization, ...headers })).status
  expect(await get({ host: there })).toBe(200)
  expect(await get({ host: there, origin: `http://${there}` })).toBe(200)
  expect(await get({ host: there, origin: `http://127.0.0.3:${port}` })).toBe(403)
  expect(await get({ host: `127.0.0.3:${port}` })).toBe(403)
  expect(await get({ host: `evil.example:${port}` })).toBe(403)
})
