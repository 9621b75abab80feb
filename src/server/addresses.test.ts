import { expect, test } from 'vitest'
import { addPrincipal } from '../fleet/people/principals.ts'
import { makeToken } from '../fleet/people/tokens.ts'
import { OPERATIONS } from '../operations/index.ts'
import { neighbourhood, trustedAt } from './addresses.ts'
import { FAILED_SIGN_INS } from './limits.ts'
import { aServer, type Running } from './server.testkit.ts'
import { aReader } from './topics.testkit.ts'
import { TOYS } from './toys.testkit.ts'

test.each([
  ['10.0.0.5', '10.0.0.5', true],
  ['10.0.0.5', '::ffff:10.0.0.5', true],
  ['10.0.0.5', '10.0.0.6', false],
  ['10.0.0.0/8', '10.200.0.1', true],
  ['10.0.0.0/8', '11.0.0.1', false],
  ['fd00::/8', 'fd00::1', true],
  ['10.0.0.0/8', 'unknown', false],
])('who trusts %s trusts %s: %s', (place, address, trusts) => expect(trustedAt([place])(address)).toBe(trusts))

test.each(['proxy', '10.0.0.0/33', '10.0.0.0/', '10.0.0', 'fd00::/129', '*'])('%j is no proxy', place => {
  expect(() => trustedAt([place])).toThrow('no address and no network')
})

test.each([
  ['192.0.2.1', '192.0.2.1'],
  ['192.0.2.1:51000', '192.0.2.1'],
  ['::ffff:192.0.2.1', '192.0.2.1'],
  ['fe80::1%eth0', 'fe80:0:0:0::/64'],
  ['2001:db8::', '2001:db8:0:0::/64'],
])('%s counts as %s', (address, counted) => expect(neighbourhood(address)).toBe(counted))

const wrongFrom = (running: Running, forwarded: string) =>
  running.ask('POST', '/auth', { token: 'wrong', headers: { 'x-forwarded-for': forwarded }, body: { handle: 'x' } })

test('behind a proxy that is trusted, whoever guesses slows only themselves down', async () => {
  const running = await aServer(TOYS, { trustedProxies: ['127.0.0.1', '10.9.0.0/16'] })
  // What they send themselves is in front, and counts for nothing.
  for (let time = 0; time < FAILED_SIGN_INS.burst; time++)
    expect((await wrongFrom(running, `203.0.113.${time + 20}, 198.51.100.7, 10.9.0.1`)).status).toBe(401)
  expect((await wrongFrom(running, '198.51.100.7, 10.9.0.1')).status).toBe(429)
  expect((await wrongFrom(running, '198.51.100.8, 10.9.0.1')).status).toBe(401)
})

test('without one that is trusted, what a request says of its address counts for nothing', async () => {
  const running = await aServer(TOYS)
  for (let time = 0; time < FAILED_SIGN_INS.burst; time++)
    expect((await wrongFrom(running, `203.0.113.${time}`)).status).toBe(401)
  expect((await wrongFrom(running, '203.0.113.99')).status).toBe(429)
})

test('the audit log has the address in front of the proxy, also of a WebSocket', async () => {
  const { fleet, server } = await aServer(OPERATIONS, { trustedProxies: ['127.0.0.1'] })
  const ask = { operation: 'test', actor: 'person' }
  const service = await addPrincipal(fleet, ask, { kind: 'service', name: 'ci', grants: [] })
  const { token } = await makeToken(fleet, ask, service, { name: 'x', grants: null, expires_at: null })
  const headers = { 'x-forwarded-for': '198.51.100.7' }
  await fetch(`${server.url}/api/missions`, { headers: { ...headers, authorization: `Bearer ${token}` } })
  const reader = aReader(server.url, { token, headers })
  reader.say({ type: 'subscribe', topics: ['fleet'] })
  await reader.hears({ type: 'refused' })
  await fleet.refusals.flush()
  const { items } = await fleet.store.find('audit', { index: 'at', limit: 10 })
  expect(items.map(({ value: { way, address } }) => `${way} ${address}`).toSorted()).toEqual([
    'rest 198.51.100.7',
    'websocket 198.51.100.7',
  ])
})
