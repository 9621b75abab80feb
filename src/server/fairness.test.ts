import { Agent, request } from 'node:http'
import { setImmediate as later } from 'node:timers/promises'
import { expect, onTestFinished, test, vi } from 'vitest'
import * as z from 'zod'
import { addPrincipal } from '../fleet/people/principals.ts'
import { makeToken } from '../fleet/people/tokens.ts'
import { query } from '../operations/operation.ts'
import { startServer } from './index.ts'
import { MOST_AT_WORK, MOST_UNDER_WAY, REQUESTS } from './limits.ts'
import { UsedOnce } from './proof.ts'
import { aFleet, raw } from './server.testkit.ts'
import { serve } from './server.ts'
import { aReader } from './topics.testkit.ts'

async function twoServices(operations?: Parameters<typeof serve>[1]) {
  const fleet = await aFleet()
  const options = { port: 0, say: () => {} }
  const server = await (operations ? serve(fleet, operations, options) : startServer(fleet, options))
  onTestFinished(() => server.close())
  const enter = async (name: string) => {
    const ask = { operation: 'test', actor: 'person' }
    const grants = [{ role: 'monitor' as const, project_id: null }]
    const service = await addPrincipal(fleet, ask, { kind: 'service', name, grants })
    return (await makeToken(fleet, ask, service, { name: 't', grants: null, expires_at: null })).token
  }
  return { server, fleet, flood: await enter('flood'), other: await enter('other') }
}

const headersOf = (token: string) => ({
  ...{ authorization: `Bearer ${token}`, 'content-type': 'application/json' },
  accept: 'application/json, text/event-stream',
})

test('many calls in one request count as many', async () => {
  const { server, flood, other } = await twoServices()
  const call = (id: number) => ({ jsonrpc: '2.0', id, method: 'tools/call', params: { name: 'list_missions' } })
  const batch = (token: string, length: number) =>
    raw(
      server.url,
      'POST',
      '/mcp',
      headersOf(token),
      Array.from({ length }, (_, id) => call(id)),
    )
  const refused = await batch(flood, REQUESTS.burst + 50)
  expect(refused.status, refused.text.slice(0, 200)).toBe(429)
  expect(Number(refused.headers['retry-after'])).toBeGreaterThan(0)
  expect((await batch(other, 5)).status).toBe(200)
})

test('opening a live connection is a request like every other', async () => {
  const { server, flood, other } = await twoServices()
  // No request is free again before the test is over, however slow the machine is.
  vi.useFakeTimers({ toFake: ['Date'], now: Date.now() })
  onTestFinished(() => void vi.useRealTimers())
  const many = Array.from({ length: REQUESTS.burst + 50 }, (_, id) => ({ jsonrpc: '2.0', id, method: 'ping' }))
  expect((await raw(server.url, 'POST', '/mcp', headersOf(flood), many)).status).toBe(429)
  expect(await aReader(server.url, { token: flood }).over).toBe(429)
  const reader = aReader(server.url, { token: other })
  reader.say({ type: 'ping', id: 1 })
  await reader.hears({ type: 'pong', id: 1 })
})

test('whoever asks for much at once waits for their own requests, and nobody else does', async () => {
  const done: string[] = []
  const dig = query({
    ...{ name: 'dig', may: 'missions.read', mcp: false, summary: 'Work for a while', http: 'GET /api/dig/:who' },
    input: z.object({ who: z.string() }),
    output: z.object({}),
    run: async (_, { who }) => {
      for (let turn = 0; turn < 5; turn++) {
        await later()
        for (const end = performance.now() + 2; performance.now() < end; );
      }
      done.push(who)
      return {}
    },
  })
  const { server, flood, other } = await twoServices([dig])
  const agent = new Agent({ keepAlive: true })
  onTestFinished(() => agent.destroy())
  const ask = (token: string, path: string) =>
    new Promise<number | undefined>((resolve, reject) => {
      const asking = request(`${server.url}${path}`, { agent, headers: headersOf(token) }, answer =>
        answer.resume().on('end', () => resolve(answer.statusCode)),
      )
      asking.on('error', reject).end()
    })
  // The connections are open before, because the system hands over new ones one after the other.
  await Promise.all(Array.from({ length: 91 }, () => ask(flood, '/health')))
  const flooding = Array.from({ length: 90 }, () => ask(flood, '/api/dig/flood'))
  expect(await ask(other, '/api/dig/other')).toBe(200)
  const waitedFor = done.indexOf('other')
  console.log(`one request waited for ${waitedFor} of 90 that somebody else had sent`)
  expect(waitedFor).toBeLessThan(MOST_AT_WORK * 3)
  expect(new Set(await Promise.all(flooding))).toEqual(new Set([200]))
})

test('what only waits takes nobody a turn', async () => {
  let release = () => {}
  const released = new Promise<void>(resolve => {
    release = resolve
  })
  const wait = query({
    ...{ name: 'rest', may: 'missions.read', mcp: false, summary: 'Wait', http: 'GET /api/rest/:how' },
    input: z.object({ how: z.enum(['long', 'short']) }),
    output: z.object({}),
    run: async (_, { how }) => {
      if (how === 'long') await released
      return {}
    },
  })
  const { server, flood } = await twoServices([wait])
  const ask = (how: string) => raw(server.url, 'GET', `/api/rest/${how}`, headersOf(flood))
  const waiting = Array.from({ length: MOST_AT_WORK * 2 }, () => ask('long'))
  expect((await ask('short')).status).toBe(200)
  release()
  await Promise.all(waiting)
})

test('nobody keeps more connections open than they may, whatever they are for', async () => {
  const { server, fleet, flood, other } = await twoServices()
  const open = async (path: string) => {
    const ending = new AbortController()
    const answer = await fetch(server.url + path, { headers: headersOf(flood), signal: ending.signal })
    return { status: answer.status, end: () => ending.abort() }
  }
  const opened = []
  for (let one = 0; one < MOST_UNDER_WAY; one++) opened.push(await open('/mcp/sse'))
  expect(new Set(opened.map(({ status }) => status))).toEqual(new Set([200]))
  expect((await open('/mcp/sse')).status).toBe(429)
  expect((await open('/api/me')).status).toBe(429)
  expect((await raw(server.url, 'GET', '/api/me', headersOf(other))).status).toBe(200)
  expect(fleet.refusals).toBeDefined()
  for (const { end } of opened) end()
  await expect.poll(async () => (await open('/api/me')).status, { timeout: 5000 }).toBe(200)
})

test('signed requests of one person use up no room that others need', () => {
  const used = new UsedOnce()
  let taken = 0
  for (let n = 0; n < 300_000; n++) if (used.take(`ada.${n}`, 'ada', n / 10)) taken++
  expect(taken).toBeLessThan(30_000)
  expect(used.take('bob.1', 'bob', 30_000)).toBe(true)
  expect(used.take('bob.1', 'bob', 30_000)).toBe(false)
  expect(used.take('owner.1', null, 30_000)).toBe(true)
})
