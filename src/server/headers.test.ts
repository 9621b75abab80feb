import { once } from 'node:events'
import { type IncomingHttpHeaders, type OutgoingHttpHeaders, request } from 'node:http'
import { connect } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import { VIEWS } from '../../web/src/views.ts'
import { OPERATIONS } from '../operations/index.ts'
import { routeOf } from '../operations/shape.ts'
import { startServer } from './index.ts'
import { aFleet } from './server.testkit.ts'

/** What no page elsewhere may do with an answer: frame it, read it, take it for a script, or learn its address. */
const WANTED: [string, RegExp][] = [
  ['content-security-policy', /default-src 'none'.*base-uri 'none'; form-action 'none'; frame-ancestors 'none'/],
  ['x-frame-options', /^DENY$/],
  ['x-content-type-options', /^nosniff$/],
  ['referrer-policy', /^no-referrer$/],
  ['cross-origin-resource-policy', /^same-origin$/],
  ['cross-origin-opener-policy', /^same-origin$/],
  // Files with a hash in their name never change, and the stream of MCP has what its protocol wants.
  ['cache-control', /^(no-store|public, max-age=31536000, immutable|no-cache, no-transform)$/],
]

const wrongIn = (headers: IncomingHttpHeaders): string[] => [
  ...WANTED.filter(([name, wanted]) => !wanted.test(String(headers[name] ?? ''))).map(([name]) => name),
  ...Object.keys(headers).filter(name => name.startsWith('access-control-') || name === 'set-cookie'),
]

/** Every address of the server, those of pages and of programs. */
const ADDRESSES: [string, string][] = [
  ...OPERATIONS.map((each): [string, string] => {
    const { method, path } = routeOf(each)
    return [method, path.replace(/:\w+/g, 'someid')]
  }),
  ...[...VIEWS, '/docs', '/device', '/sign-in', '/sign-in/provider', '/sign-in/challenge', '/health', '/ready'].map(
    (path): [string, string] => ['GET', path.replace(/:\w+/g, 'someid')],
  ),
  ...['/metrics', '/api/openapi.json', '/pages/proof.js', '/pages/style.css', '/.well-known/jwks.json'].map(
    (path): [string, string] => ['GET', path],
  ),
  ...['/sign-in', '/sign-out', '/sign-in/provider', '/sign-in/provider/finish', '/auth', '/auth/device'].map(
    (path): [string, string] => ['POST', path],
  ),
  ...['/auth/device/token', '/auth/device/find', '/auth/device/decide', '/mcp', '/agent/mcp', '/mcp/messages'].map(
    (path): [string, string] => ['POST', path],
  ),
  ['GET', '/mcp/sse'],
  ['GET', '/nothing/here'],
  ['PATCH', '/api/missions'],
  ['OPTIONS', '/api/missions'],
  ['HEAD', '/'],
  ['GET', '/%zz'],
  ['POST', '/api/missions/%e0%a4%a'],
]

async function aWholeServer() {
  const fleet = await aFleet()
  const server = await startServer(fleet, { port: 0, say: () => {} })
  onTestFinished(() => server.close())
  return { fleet, server, token: await fleet.keys.ownerToken() }
}

/** Only the head: some answers never end. */
function head(url: string, method: string, path: string, headers: OutgoingHttpHeaders, body?: string) {
  return new Promise<{ status: number; headers: IncomingHttpHeaders }>((resolve, reject) => {
    const { hostname, port } = new URL(url)
    const length = body && { 'content-length': Buffer.byteLength(body) }
    const asked = request(
      { hostname, port, method, path, headers: { ...headers, ...length }, agent: false },
      answer => {
        resolve({ status: answer.statusCode!, headers: answer.headers })
        answer.destroy()
      },
    )
    asked.on('error', reject).end(body)
  })
}

test('no answer can be framed or read by another page, whoever asks and however it goes', async () => {
  const { server, token } = await aWholeServer()
  const bearer = { authorization: `Bearer ${token}` }
  const json = { 'content-type': 'application/json' }
  const askers: Record<string, OutgoingHttpHeaders> = {
    'a stranger': {},
    'a token that is none': { authorization: 'Bearer x' },
    'another page': { ...bearer, origin: 'http://evil.example' },
    'another port': { ...bearer, origin: 'http://127.0.0.1:1' },
    'another name': { ...bearer, host: 'evil.example' },
    'a browser that follows a link': { 'sec-fetch-mode': 'navigate', 'sec-fetch-site': 'cross-site' },
  }
  const wrong: string[] = []
  const statuses = new Set<number>()
  let checks = 0
  const look = async (who: string, method: string, path: string, headers: OutgoingHttpHeaders, body?: string) => {
    const answer = await head(server.url, method, path, headers, body)
    checks++
    statuses.add(answer.status)
    const missing = wrongIn(answer.headers)
    if (missing.length) wrong.push(`${method} ${path} for ${who}, ${answer.status}: ${missing.join(', ')}`)
    return answer.status
  }
  for (const [method, path] of ADDRESSES) {
    for (const [who, headers] of Object.entries(askers))
      await look(who, method, path, { ...headers, ...(method !== 'GET' && json) }, method === 'GET' ? undefined : '{}')
    // The owner reads; what would change something is not carried out here.
    if (method === 'GET' && !path.includes('wait')) await look('the owner', method, path, bearer)
  }
  await look('the owner', 'PATCH', '/api/missions', bearer)
  await look('the owner', 'POST', '/api/missions', { ...bearer, 'content-type': 'text/plain' }, 'x')
  await look('the owner', 'POST', '/api/missions', { ...bearer, ...json }, '{')
  await look('the owner', 'POST', '/api/missions', { ...bearer, ...json }, '{}')
  await look('the owner', 'POST', '/api/missions', { ...bearer, ...json }, `"${'x'.repeat(3 * 1024 * 1024)}"`).catch(
    () => {},
  )
  console.log(`${checks} answers, ${wrong.length} wrong, statuses ${[...statuses].toSorted().join(' ')}`)
  expect(wrong).toEqual([])
  for (const status of [200, 400, 401, 403, 404, 405, 415]) expect(statuses, String(status)).toContain(status)
})

test('what is no request, and a connection that is refused, is answered like every other', async () => {
  const { server } = await aWholeServer()
  const upgrade = 'Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Key: x\r\nSec-WebSocket-Version: 13'
  const host = `Host: ${new URL(server.url).host}`
  for (const [text, status] of [
    ['no http at all\r\n\r\n', 400],
    [`GET / HTTP/1.1\r\n${host}\r\nX: ${'x'.repeat(40_000)}\r\n\r\n`, 431],
    [`GET /ws HTTP/1.1\r\n${host}\r\n${upgrade}\r\n\r\n`, 401],
    [`GET /ws HTTP/1.1\r\n${host}\r\n${upgrade}\r\nOrigin: http://evil.example\r\n\r\n`, 403],
    [`GET /else HTTP/1.1\r\n${host}\r\n${upgrade}\r\n\r\n`, 404],
  ] as const) {
    const answer = await said(server.url, text)
    expect(answer).toMatch(new RegExp(`^HTTP/1.1 ${status} `))
    const lines = answer.split('\r\n\r\n')[0]!.split('\r\n').slice(1)
    const headers = Object.fromEntries(lines.map(line => line.split(/: (.*)/).slice(0, 2)))
    expect(
      wrongIn(Object.fromEntries(Object.entries(headers).map(([k, v]) => [k.toLowerCase(), v as string]))),
    ).toEqual([])
  }
})

async function said(url: string, text: string): Promise<string> {
  const socket = connect(Number(new URL(url).port), '127.0.0.1')
  let answer = ''
  socket.on('data', data => {
    answer += data
  })
  socket.write(text)
  await once(socket, 'close')
  return answer
}

test('no other page and no other port changes anything, with whatever a browser would send along', async () => {
  const { server, token, fleet } = await aWholeServer()
  const before = await fleet.store.tail()
  const wrong: string[] = []
  let checks = 0
  const foreign: OutgoingHttpHeaders[] = [
    { origin: 'http://evil.example' },
    { origin: 'http://127.0.0.1:1' },
    { origin: 'null' },
    { 'sec-fetch-site': 'cross-site' },
    { 'sec-fetch-site': 'same-site' },
  ]
  for (const [method, path] of ADDRESSES.filter(([each]) => !['GET', 'HEAD', 'OPTIONS'].includes(each)))
    for (const headers of foreign) {
      const sent = { authorization: `Bearer ${token}`, 'content-type': 'application/json', ...headers }
      const { status } = await head(server.url, method, path, sent, '{}')
      checks++
      if (status !== 403 && !path.includes('%'))
        wrong.push(`${method} ${path} with ${JSON.stringify(headers)}: ${status}`)
    }
  console.log(`${checks} foreign requests, ${wrong.length} wrong`)
  expect(wrong).toEqual([])
  expect(await fleet.store.tail()).toBe(before)
})
