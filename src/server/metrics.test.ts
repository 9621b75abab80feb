import { randomBytes } from 'node:crypto'
import { request } from 'node:http'
import { expect, test } from 'vitest'
import { identities, seriesIn, valueIn } from '../../test/kit/metrics.ts'
import { OPERATIONS } from '../operations/index.ts'
import { jsonSchema, routeOf } from '../operations/shape.ts'
import { takeLease } from '../store/index.ts'
import { inside } from './mcp/inside.ts'
import { outside } from './mcp/outside.ts'
import { aServer, type Running } from './server.testkit.ts'

const scrape = async ({ ask }: Running, token?: string) => {
  const answer = await ask('GET', '/metrics', token === undefined ? {} : { token })
  return { ...answer, series: answer.status === 200 ? seriesIn(answer.text) : [] }
}

const aToken = async ({ ask }: Running): Promise<string> =>
  (await ask('POST', '/api/metrics/token', { body: {} })).json.token

test('/health needs no token, has status and version, and nothing else', async () => {
  const { ask } = await aServer(OPERATIONS)
  const { status, json } = await ask('GET', '/health', { token: null })
  expect([status, json]).toEqual([200, { status: 'ok', version: expect.stringMatching(/^\d+\.\d+\.\d+/) }])
})

test('/ready says in words what is missing, and names nothing of the home', async () => {
  const { ask, fleet } = await aServer(OPERATIONS)
  const before = await ask('GET', '/ready', { token: null })
  expect([before.status, before.json]).toMatchObject([
    503,
    { ready: false, store: 'reachable', lease: 'unknown', migrations: 'pending', work: 'starting' },
  ])
  expect(before.json.reasons.join(' ')).toMatch(/up to date.*decides.*starting/)
  expect(before.text).not.toContain(fleet.home.path)
  fleet.store.get = () => Promise.reject(new Error('the disk is gone: /secret/path'))
  const without = await ask('GET', '/ready', { token: null })
  expect([without.status, without.json.reasons[0]]).toEqual([503, 'The store does not answer.'])
  expect(without.text).not.toContain('/secret')
})

test('metrics are in the format of Prometheus, and in JSON with the same values', async () => {
  const running = await aServer(OPERATIONS)
  const { status, headers, series, text } = await scrape(running)
  expect([status, headers['content-type']]).toEqual([200, 'text/plain; version=0.0.4; charset=utf-8'])
  expect(text).toContain('# TYPE fleet_missions gauge')
  expect(text).toContain('# TYPE fleet_http_request_seconds histogram')
  expect(valueIn(series, 'fleet_missions', { status: 'running' })).toBe(0)
  expect(valueIn(series, 'process_start_time_seconds')).toBeGreaterThan(1e9)
  expect(valueIn(series, 'fleet_event_loop_lag_seconds', { percentile: '99' })).toBeTypeOf('number')
  // Each series once.
  expect(new Set(identities(series)).size).toBe(series.length)
  const { json } = await running.ask('GET', '/metrics/json')
  const missions = json.metrics.find(({ name }: { name: string }) => name === 'fleet_missions')
  expect(missions.samples).toContainEqual({ labels: { status: 'running' }, value: 0 })
})

test('the first scrape takes the lease and readiness from what the daemon knows', async () => {
  const running = await aServer(OPERATIONS)
  const { store } = running.fleet
  await store.commit({
    changes: [
      { put: 'lease', value: { id: 'decider', epoch: 3, taken_at: null, home: null, server: null }, expects: 'absent' },
    ],
  })
  const lease = await takeLease(store, running.fleet.now())
  Object.assign(running.fleet, { daemon: Object.create(running.fleet, { requireLease: { value: lease.require } }) })
  const held = await scrape(running)
  expect([valueIn(held.series, 'fleet_lease_held'), valueIn(held.series, 'fleet_server_starts_total')]).toEqual([1, 4])
  await takeLease(store, running.fleet.now())
  const lost = await scrape(running)
  expect([lost.status, valueIn(lost.series, 'fleet_lease_held')]).toEqual([200, 0])
})

test('a store that does not answer leaves its gauges out, and the scrape still answers', async () => {
  const running = await aServer(OPERATIONS)
  const { Unavailable } = await import('../domain/errors.ts')
  const { store } = running.fleet
  for (const name of ['get', 'find', 'events'] as const)
    Object.assign(store, { [name]: () => Promise.reject(new Unavailable('no answer')) })
  const { status, series } = await scrape(running)
  expect([status, valueIn(series, 'fleet_ready'), valueIn(series, 'fleet_missions')]).toEqual([200, 0, undefined])
})

test('a thousand random addresses and methods add no series', async () => {
  const running = await aServer(OPERATIONS, { endpoints: [] })
  await scrape(running)
  const before = (await scrape(running)).series
  const methods = ['GET', 'POST', 'PUT', 'DELETE', 'PATCH', 'HEAD', 'OPTIONS', 'PROPFIND', 'SEARCH', 'TRACE']
  const prefixes = ['/', '/api/', '/api/missions/', '/metrics/', '/mcp/', '/pages/', '/ws/', '/%ff']
  for (let i = 0; i < 1000; i++) {
    const name = randomBytes(8).toString(i % 2 ? 'hex' : 'base64url')
    const path = `${prefixes[i % prefixes.length]}${name}/${name}?${name}=${name}`
    await running.ask(methods[i % methods.length]!, path, { token: i % 3 ? undefined : name })
  }
  const after = (await scrape(running)).series
  expect(identities(after)).toEqual(identities(before))
  const unknown = { operation: 'unknown', status: '4xx' }
  const counted =
    valueIn(after, 'fleet_http_requests_total', unknown)! - valueIn(before, 'fleet_http_requests_total', unknown)!
  expect(counted).toBe(1000)
})

test('requests are counted by operation, refusals by code', async () => {
  const running = await aServer(OPERATIONS)
  await running.ask('GET', '/api/missions/nobody')
  await running.ask('GET', '/api/missions', { token: null })
  const { series } = await scrape(running)
  expect(valueIn(series, 'fleet_http_requests_total', { operation: 'get_mission', status: '4xx' })).toBe(1)
  expect(valueIn(series, 'fleet_http_request_seconds_count', { operation: 'get_mission' })).toBe(1)
  expect(valueIn(series, 'fleet_refusals_total', { code: 'not_found' })).toBe(1)
  expect(valueIn(series, 'fleet_refusals_total', { code: 'unauthorized' })).toBe(1)
})

test('an open stream is counted while it is open', async () => {
  const running = await aServer(OPERATIONS)
  const token = await running.fleet.keys.ownerToken()
  const opened = Promise.withResolvers<void>()
  const stream = request(
    `${running.server.url}/api/events/stream`,
    { headers: { authorization: `Bearer ${token}` } },
    () => opened.resolve(),
  )
  stream.on('error', () => {})
  stream.end()
  await opened.promise
  expect(valueIn((await scrape(running)).series, 'fleet_live_streams')).toBe(1)
  stream.destroy()
  await expect.poll(async () => valueIn((await scrape(running)).series, 'fleet_live_streams')).toBe(0)
  // Its duration says how long somebody watched.
  expect(
    valueIn((await scrape(running)).series, 'fleet_http_request_seconds_count', { operation: 'stream_events' }),
  ).toBeUndefined()
})

test('a scrape token reads measurements, and opens nothing else', async () => {
  const running = await aServer(OPERATIONS)
  const endpoints = [outside(running.fleet), inside(running.fleet)]
  const whole = await aServer(OPERATIONS, { endpoints: endpoints.map(each => ({ ...each })) })
  const token = await aToken(whole)
  expect((await scrape(whole, token)).status).toBe(200)
  expect((await whole.ask('GET', '/metrics/json', { token })).status).toBe(200)

  const opened: string[] = []
  let walked = 0
  for (const operation of OPERATIONS) {
    const { method, path, pathFields, rest } = routeOf(operation)
    const { required = [] } = jsonSchema(operation.input, 'input')
    const query = rest === 'query' ? required.filter(name => !pathFields.includes(name)) : []
    const address = `${path.replace(/:\w+/g, 'someid')}?${query.map(name => `${name}=someid`).join('&')}`
    const { status } = await whole.ask(method, address, { token, body: rest === 'body' ? {} : undefined })
    walked++
    if (status !== 403) opened.push(operation.name)
  }
  expect([opened, walked]).toEqual([['get_metrics'], OPERATIONS.length])
  const rpc = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'get_metrics', arguments: {} } }
  for (const [method, path, body] of [
    ['POST', '/mcp', rpc],
    ['POST', '/agent/mcp', rpc],
    ['GET', '/api/openapi.json', undefined],
    ['POST', '/sign-out', {}],
    ['GET', '/nothing-here', undefined],
  ] as const)
    expect([path, (await whole.ask(method, path, { token, body })).status]).toEqual([path, 403])
  // It signs no browser in either.
  const key = { kind: 'shared', value: 'k'.repeat(43) }
  const signIn = await whole.ask('POST', '/sign-in', {
    token: null,
    body: { token, key },
    headers: { origin: whole.server.url },
  })
  expect(signIn.status).toBeGreaterThanOrEqual(400)
})

test('only a hash of the scrape token is kept; a new one replaces it, and it can be revoked', async () => {
  const running = await aServer(OPERATIONS)
  expect((await running.ask('DELETE', '/api/metrics/token')).json).toEqual({ revoked: false })
  const first = await aToken(running)
  expect(first).toMatch(/^fleet_scrape_[\w-]{43}$/)
  const stored = JSON.stringify((await running.fleet.store.get('fleet', 'fleet'))!.value)
  expect(stored).not.toContain(first.slice(-20))
  const { json } = await running.ask('POST', '/api/metrics/token', { body: {} })
  expect(json.replaced).toBe(true)
  expect([(await scrape(running, first)).status, (await scrape(running, json.token)).status]).toEqual([401, 200])
  expect((await running.ask('DELETE', '/api/metrics/token')).json).toEqual({ revoked: true })
  expect((await scrape(running, json.token)).status).toBe(401)
  expect(running.log()).not.toContain(json.token)
  const events = await running.fleet.store.events({ limit: 50 })
  expect(events.events.map(({ kind }) => kind)).toEqual([
    'scrape_token_made',
    'scrape_token_made',
    'scrape_token_revoked',
  ])
})

test.each(['', 'x', 'fleet_scrape_', `fleet_scrape_${'A'.repeat(43)}`])('%j is no scrape token', async token => {
  const running = await aServer(OPERATIONS)
  await aToken(running)
  expect((await scrape(running, token)).status).toBe(401)
})

test('an agent and a plugin get neither measurements nor a token', async () => {
  const running = await aServer(OPERATIONS)
  const token = await running.session('running')
  for (const [method, path] of [
    ['GET', '/metrics'],
    ['GET', '/metrics/json'],
    ['POST', '/api/metrics/token'],
    ['DELETE', '/api/metrics/token'],
  ] as const)
    expect([
      path,
      (await running.ask(method, path, { token, body: method === 'POST' ? {} : undefined })).status,
    ]).toEqual([path, 403])
  const { askAsPlugin } = await import('../operations/ask.ts')
  await expect(askAsPlugin(running.fleet, 'nosy', 'create_scrape_token', {})).rejects.toThrow('Only a person')
})
