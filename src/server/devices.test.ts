import { expect, onTestFinished, test } from 'vitest'
import { OPERATIONS, operationNamed } from '../operations/index.ts'
import { takeLease } from '../store/index.ts'
import { reachableAt } from './origin.ts'
import { aServer, type Running, raw } from './server.testkit.ts'
import { serve } from './server.ts'

const PHONE = { 'user-agent': 'Mozilla/5.0 (iPhone; CPU iPhone OS 19_0) AppleWebKit/605 Version/19.0 Safari/604.1' }

/** A server that says of itself that others reach it; the test reaches it as always. */
async function aReachableServer(): Promise<Running> {
  const running = await aServer(OPERATIONS)
  await announce(running, [running.server.url, 'https://fleet.example'])
  return running
}

async function announce({ fleet, server }: Running, reachable_at: string[]): Promise<void> {
  const lease = takeLease(fleet.home.path)!
  onTestFinished(() => lease.release())
  await lease.announce({ pid: process.pid, started: '0', version: '0', host: 'here', url: server.url, reachable_at })
}

async function aLink(running: Running, input: object = {}): Promise<string> {
  const { status, json } = await running.ask('POST', '/api/devices', { body: input })
  expect(status).toBe(200)
  const { pathname, search } = new URL(json.link.url)
  return pathname + search
}

const come = (running: Running, link: string, headers = {}) =>
  running.ask('GET', link, { token: null, headers: { ...PHONE, ...headers } })
const cookieIn = (answer: { headers: { 'set-cookie'?: string[] } }) => answer.headers['set-cookie']![0]!.split(';')[0]!
const statusFor = async (running: Running, cookie: string) =>
  (await running.ask('GET', '/api/devices', { token: null, headers: { cookie } })).status

test('a link lets one device in, which is listed by name and can be shut out again', async () => {
  const running = await aReachableServer()
  const link = await aLink(running)
  const first = await come(running, link)
  expect(first).toMatchObject({ status: 303, headers: { location: '/' } })
  const cookie = cookieIn(first)
  expect((await come(running, link)).status).toBe(401)

  const list = await running.ask('GET', '/api/devices', { token: null, headers: { cookie } })
  expect(list.json.devices).toMatchObject([{ name: 'iPhone, Safari', this_one: true }])
  const { id } = list.json.devices[0]
  expect((await running.ask('GET', '/api/devices')).json.devices).toMatchObject([{ id, this_one: false }])

  const other = cookieIn(await come(running, await aLink(running, { name: 'the tablet' })))
  expect((await running.ask('DELETE', `/api/devices/${id.slice(0, 6)}`)).json).toEqual({ device_id: id })
  expect(await statusFor(running, cookie)).toBe(401)
  expect(await statusFor(running, other)).toBe(200)
  expect((await running.ask('GET', '/api/devices')).json.devices).toMatchObject([{ name: 'the tablet' }])
  expect((await come(running, link)).status).toBe(401)
  const kinds = (await running.fleet.store.events({ limit: 10 })).events.map(event => event.kind)
  expect(kinds).toEqual(['device_signed_in', 'device_signed_in', 'device_signed_out'])
})

test('a device that signs itself out is shut out, whoever has copied its cookie', async () => {
  const running = await aReachableServer()
  const cookie = cookieIn(await come(running, await aLink(running)))
  const headers = { cookie, origin: running.server.url }
  expect((await running.ask('POST', '/sign-out', { token: null, headers })).status).toBe(204)
  expect(await statusFor(running, cookie)).toBe(401)
  expect((await running.ask('GET', '/api/devices')).json.devices).toEqual([])
})

test('of many who come with one link at once, one is let in; a restart changes nothing', async () => {
  const running = await aReachableServer()
  const link = await aLink(running)
  const second = await serve(running.fleet, OPERATIONS, { port: 0, say: () => {} })
  onTestFinished(() => second.close())
  const answers = await Promise.all(
    Array.from({ length: 20 }, (_, n) => (n % 2 ? come(running, link) : raw(second.url, 'GET', link, PHONE))),
  )
  expect(answers.map(({ status }) => status).toSorted()).toEqual([303, ...Array(19).fill(401)])
  const cookie = cookieIn(answers.find(({ status }) => status === 303)!)
  expect(await statusFor(running, cookie)).toBe(200)
  expect((await raw(second.url, 'GET', '/api/devices', { cookie })).status).toBe(200)
})

test('a link stops working after ten minutes, and a browser that only looks ahead does not use it up', async () => {
  const running = await aReachableServer()
  const [early, late] = [await aLink(running), await aLink(running)]
  expect((await come(running, early, { 'sec-purpose': 'prefetch;prerender' })).status).toBe(401)
  expect((await come(running, `${early}x`)).status).toBe(401)
  expect((await come(running, early)).status).toBe(303)
  const later = new Date(Date.now() + 11 * 60_000).toISOString()
  running.fleet.now = () => later
  expect((await come(running, late)).status).toBe(401)
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
  expect(running.log()).not.toContain(new URLSearchParams(link.split('?')[1]).get('token')!.slice(-43))
})

test('what a device that was signed out had opened tells it nothing more', async () => {
  const running = await aReachableServer()
  const cookie = cookieIn(await come(running, await aLink(running)))
  const [{ id }] = (await running.ask('GET', '/api/devices')).json.devices
  const response = await fetch(`${running.server.url}/api/events/stream`, { headers: { cookie } })
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
  await running.ask('DELETE', `/api/devices/${id}`)
  const started = performance.now()
  const telling = setInterval(() => void happen(2), 100)
  await over
  clearInterval(telling)
  expect(performance.now() - started).toBeLessThan(10_000)
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
  const authorization = `Bearer ${running.fleet.home.token}`
  const get = async (headers: Record<string, string>) =>
    (await raw(`http://${there}`, 'GET', '/api/devices', { authorization, ...headers })).status
  expect(await get({ host: there })).toBe(200)
  expect(await get({ host: there, origin: `http://${there}` })).toBe(200)
  expect(await get({ host: there, origin: `http://127.0.0.3:${port}` })).toBe(403)
  expect(await get({ host: `127.0.0.3:${port}` })).toBe(403)
  expect(await get({ host: `evil.example:${port}` })).toBe(403)
})
