import { once } from 'node:events'
import { createServer } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import { expect, onTestFinished, test, vi } from 'vitest'
import { aServer, type Running, raw } from './server.testkit.ts'
import { frame, STREAM_LIMITS, Watcher } from './sse.ts'
import { counting, TOYS } from './toys.testkit.ts'

const STREAM = '/api/toys/bear/stream'
const idsIn = (text: string) => Array.from(text.matchAll(/^id: (.*)$/gm), match => match[1])

async function open({ server, fleet }: Running, path: string, signal?: AbortSignal): Promise<Response> {
  return fetch(server.url + path, { signal, headers: { authorization: `Bearer ${await fleet.keys.ownerToken()}` } })
}

test('items carry cursor, kind and data', async () => {
  const { ask } = await aServer(TOYS)
  const { text, headers } = await ask('GET', STREAM)
  expect(headers['content-type']).toBe('text/event-stream')
  expect(headers['x-content-type-options']).toBe('nosniff')
  expect(text).toContain('id: 1\nevent: number\ndata: {"n":1,"padding":""}\n\n')
})

test('a reader goes on after the last id it saw, which counts more than the address it first used', async () => {
  const { ask } = await aServer(TOYS)
  expect(idsIn((await ask('GET', `${STREAM}?after=3`)).text)).toEqual(['4', '5', '6'])
  expect(idsIn((await ask('GET', `${STREAM}?after=3`, { headers: { 'last-event-id': '6' } })).text)).toEqual([
    '7',
    '8',
    '9',
  ])
})

test('a refusal at the start is an answer with its own status; a failure later is the last event', async () => {
  const { ask, log } = await aServer(TOYS)
  const refused = await ask('GET', '/api/toys/nothing/stream')
  expect([refused.status, refused.json.error.code]).toEqual([404, 'not_found'])
  const broken = await ask('GET', '/api/toys/broken/stream')
  expect(idsIn(broken.text)).toEqual(['1', '2', '3'])
  const last = JSON.parse(/event: refusal\ndata: (.*)\n\n$/.exec(broken.text)![1]!)
  expect(last.error.code).toBe('internal')
  expect(log()).toContain(last.error.id)
})

test('what comes together travels in one write', async () => {
  let writes = 0
  const http = createServer((_, response) => {
    const write = vi.spyOn(response, 'write')
    const watcher = new Watcher(response, {}, STREAM_LIMITS)
    for (let n = 0; n < 100; n++) void watcher.send(frame({ cursor: String(n), kind: 'number', data: n }))
    watcher.end()
    writes = write.mock.calls.length
  }).listen(0, '127.0.0.1')
  onTestFinished(() => void http.close())
  await once(http, 'listening')
  const { text } = await raw(`http://127.0.0.1:${(http.address() as AddressInfo).port}`, 'GET', '/', {})
  expect(idsIn(text).length).toBe(100)
  expect(writes).toBe(2)
})

test('a reader that does not read is cut off, and what is kept for it is bounded', async () => {
  const running = await aServer(TOYS, { streamLimits: { maxUnreadBytes: 100_000, stuckMs: 200 } })
  const { port } = new URL(running.server.url)
  const socket = connect(Number(port), '127.0.0.1')
  const closed = new Promise(resolve => socket.once('close', resolve))
  socket.on('error', () => {})
  socket.write(
    `GET /api/toys/endless/stream HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nAuthorization: Bearer ${await running.fleet.keys.ownerToken()}\r\n\r\n`,
  )
  socket.pause()
  await vi.waitFor(() => expect(counting).toContain('endless'))
  await vi.waitFor(() => expect(counting).not.toContain('endless'), { timeout: 20_000 })
  socket.resume()
  await closed
})

test('when the reader leaves, the operation is told', async () => {
  const running = await aServer(TOYS)
  const leaving = new AbortController()
  await open(running, '/api/toys/waiting/stream', leaving.signal)
  expect(counting).toContain('waiting')
  leaving.abort()
  await vi.waitFor(() => expect(counting).not.toContain('waiting'))
})

test('a quiet stream gives signs of life', async () => {
  const running = await aServer(TOYS, { streamLimits: { quietMs: 20 } })
  const leaving = new AbortController()
  const reader = (await open(running, '/api/toys/waiting/stream', leaving.signal))
    .body!.pipeThrough(new TextDecoderStream())
    .getReader()
  let text = ''
  while (!text.includes('\n\n:\n\n:\n\n')) text += (await reader.read()).value
  leaving.abort()
})

test('closing the server ends streams at once and in good order', async () => {
  const running = await aServer(TOYS)
  const text = (await open(running, '/api/toys/waiting/stream')).text()
  const before = performance.now()
  await running.server.close()
  expect(performance.now() - before).toBeLessThan(1500)
  expect(idsIn(await text)).toEqual(['1', '2', '3'])
})
