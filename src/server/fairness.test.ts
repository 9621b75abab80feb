import { expect, onTestFinished, test } from 'vitest'
import { addPrincipal } from '../fleet/people/principals.ts'
import { makeToken } from '../fleet/people/tokens.ts'
import { startServer } from './index.ts'
import { MOST_UNDER_WAY, REQUESTS } from './limits.ts'
import { UsedOnce } from './proof.ts'
import { aFleet, raw } from './server.testkit.ts'

async function twoServices() {
  const fleet = await aFleet()
  const server = await startServer(fleet, { port: 0, say: () => {} })
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
