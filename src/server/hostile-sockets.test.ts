import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import type { Fleet } from '../fleet/fleet.ts'
import { addPrincipal } from '../fleet/people/principals.ts'
import { makeToken } from '../fleet/people/tokens.ts'
import { OPERATIONS } from '../operations/index.ts'
import { aServer } from './server.testkit.ts'
import { Allowance, type SocketLimits } from './socket-limits.ts'
import { aReader, type Reader } from './topics.testkit.ts'

const ASK = { operation: 'test', actor: 'person' }

async function aWorld(socketLimits: Partial<SocketLimits> = {}) {
  const running = await aServer(OPERATIONS, { socketLimits })
  const token = await running.fleet.keys.ownerToken()
  const { url } = running.server
  return { ...running, url, token, reader: () => aReader(url, { token }) }
}

/** Fills the store faster than a socket that nobody reads can take. */
async function fills(fleet: Fleet, count: number): Promise<void> {
  const event = () => ({
    kind: 'commented' as const,
    time: fleet.now(),
    actor: 'person',
    data: { padding: 'x'.repeat(20_000) },
  })
  for (let left = count; left > 0; left -= 50)
    await fleet.store.commit({ changes: [], events: Array.from({ length: Math.min(50, left) }, event) })
}

/** Whether somebody who does nothing wrong is served. */
async function isServed(world: { url: string; token: string; fleet: Fleet }): Promise<void> {
  const reader = aReader(world.url, { token: world.token })
  reader.say({ type: 'subscribe', topics: ['fleet'] })
  await reader.hears({ type: 'subscribed' })
  await fills(world.fleet, 1)
  await reader.hears({ type: 'event' })
  reader.socket.terminate()
}

const said: Record<string, [say: (reader: Reader) => void, code: number, words: string | undefined]> = {
  'a binary message': [({ socket }) => socket.send(Buffer.from('{"type":"ping"}')), 4400, 'invalid_input'],
  'no JSON': [({ socket }) => socket.send('{"type":'), 4400, 'invalid_input'],
  'JSON that is no object': [({ socket }) => socket.send('null'), 4400, 'invalid_input'],
  'an unknown type': [({ socket }) => socket.send('{"type":"auth","token":"x"}'), 4400, 'invalid_input'],
  'an unknown field': [({ socket }) => socket.send('{"type":"ping","token":"x"}'), 4400, 'invalid_input'],
  'topics that are no list': [
    ({ socket }) => socket.send('{"type":"subscribe","topics":"fleet"}'),
    4400,
    'invalid_input',
  ],
  'a long message': [({ socket }) => socket.send(`"${'x'.repeat(40_000)}"`), 4400, 'invalid_input'],
  'an enormous message': [({ socket }) => socket.send('x'.repeat(1_000_000)), 1009, undefined],
  'text that is not UTF-8': [
    ({ socket }) => socket.send(Buffer.from([0xff, 0xfe]), { binary: false }),
    1007,
    undefined,
  ],
  'a thousand topics at once': [
    reader => reader.say({ type: 'subscribe', topics: Array.from({ length: 1000 }, (_, n) => `mission:${n}`) }),
    4400,
    'invalid_input',
  ],
  'a thousand subscriptions': [
    reader => {
      for (let n = 0; n < 1000; n++) reader.say({ type: 'subscribe', topics: [`mission:${n}`] })
    },
    4429,
    'too_many',
  ],
  'a flood': [
    ({ socket }) => {
      for (let n = 0; n < 20_000; n++) socket.send('{"type":"ping"}')
    },
    4429,
    'too_many',
  ],
}

test.each(Object.entries(said))('%s is refused in words and closes the connection', async (_, [say, code, words]) => {
  const world = await aWorld()
  const reader = world.reader()
  await once(reader.socket, 'open')
  say(reader)
  expect(await reader.over).toBe(code)
  if (words) expect(reader.heard.findLast(({ type }) => type === 'refused')).toMatchObject({ code: words })
  await isServed(world)
  expect(world.log()).not.toContain('unexpected error')
})

test('a connection, and all of one caller, follow so many topics and no more', async () => {
  const world = await aWorld({ mostTopics: 3, mostTopicsOfOne: 4 })
  for (let n = 0; n < 5; n++) await world.ask('POST', '/api/projects', { body: { name: `p${n}` } })
  const [one, two] = [world.reader(), world.reader()]
  one.say({ type: 'subscribe', topics: [0, 1, 2, 3].map(n => `project:p${n}`) })
  expect((await one.hears({ type: 'subscribed' })).topics).toHaveLength(3)
  expect(await one.hears({ type: 'refused' })).toMatchObject({ topic: 'project:p3', code: 'too_many' })
  two.say({ type: 'subscribe', topics: ['project:p3', 'project:p4'] })
  expect(await two.hears({ type: 'refused' })).toMatchObject({ topic: 'project:p4', code: 'too_many' })
  // What is no longer followed does not count, nor does a topic that is followed anew.
  one.say({ type: 'subscribe', topics: ['project:p1'] })
  one.say({ type: 'unsubscribe', topics: ['project:p0'] })
  await one.hears({ type: 'unsubscribed' })
  two.say({ type: 'subscribe', id: 'again', topics: ['project:p4'] })
  expect((await two.hears({ type: 'subscribed', id: 'again' })).topics).toHaveLength(1)
})

test('one caller has so many connections and no more, and leaves room for others', async () => {
  const world = await aWorld({ mostOfOne: 3 })
  const readers = Array.from({ length: 3 }, () => world.reader())
  for (const reader of readers) {
    reader.say({ type: 'ping' })
    await reader.hears({ type: 'pong' })
  }
  const fourth = world.reader()
  expect(await fourth.over).toBe(4429)
  expect(fourth.heard).toMatchObject([{ type: 'refused', code: 'too_many' }])
  const agent = aReader(world.url, { token: await world.session('running') })
  agent.say({ type: 'ping' })
  await agent.hears({ type: 'pong' })
  readers[0]!.socket.close()
  await readers[0]!.over
  await isServed(world)
})

test('too many connections in all are refused', async () => {
  const world = await aWorld({ mostOpen: 2 })
  for (const reader of [world.reader(), world.reader()]) {
    reader.say({ type: 'ping' })
    await reader.hears({ type: 'pong' })
  }
  expect(await world.reader().over).toBe(429)
})

/** A client that speaks the protocol only as far as the test wants. */
async function aRawClient(url: string, token: string): Promise<Socket> {
  const { host, hostname, port } = new URL(url)
  const socket = connect({ host: hostname, port: Number(port), allowHalfOpen: true })
  onTestFinished(() => void socket.destroy())
  socket.on('error', () => {})
  const key = randomBytes(16).toString('base64')
  socket.write(
    `GET /ws HTTP/1.1\r\nHost: ${host}\r\nAuthorization: Bearer ${token}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: ${key}\r\n\r\n`,
  )
  const [answer] = (await once(socket, 'data')) as [Buffer]
  expect(answer.toString()).toMatch(/^HTTP\/1.1 101 /)
  return socket
}

/** A short text message, masked as a client must. */
function masked(text: string): Buffer {
  const payload = Buffer.from(text)
  return Buffer.concat([Buffer.from([0x81, 0x80 | payload.length, 0, 0, 0, 0]), payload])
}

test('a peer that does not answer pings is dropped, also if it keeps its half open', async () => {
  const world = await aWorld({ pingMs: 100, mostOfOne: 1 })
  const silent = await aRawClient(world.url, world.token)
  silent.resume()
  await once(silent, 'end')
  // Its place is free again.
  await expect.poll(() => isServed(world).then(() => true)).toBe(true)
})

test('a reader that never reads is told of the gap, continues from its cursor and misses nothing', async () => {
  const slowMs = 100
  const world = await aWorld({ slowMs })
  const reader = world.reader()
  reader.say({ type: 'subscribe', topics: ['fleet'] })
  const { topics } = await reader.hears({ type: 'subscribed' })
  reader.socket.pause()
  await fills(world.fleet, 1000)
  // Others are served for longer than it may take to read.
  for (const from = performance.now(); performance.now() - from < 5 * slowMs; ) await isServed(world)
  // As long as it does not read, only its unread messages are held.
  reader.socket.resume()
  let { cursor } = await reader.hears({ type: 'gap', topic: 'fleet', reason: 'slow' })
  const seen = () => reader.heard.filter(({ type }) => type === 'event').map(each => each.cursor)
  expect(seen().at(-1)).toBe(cursor)
  expect(seen().length).toBeLessThan(1000)
  const all = (await world.fleet.store.events({ after: topics[0].cursor, limit: 5000 })).events.map(each => each.cursor)
  // Asked for once: what is asked for again and again takes the event from the one who waits for it.
  const last = reader.hears({ type: 'event', cursor: all.at(-1) })
  for (;;) {
    reader.say({ type: 'subscribe', topics: ['fleet'], after: cursor })
    await Promise.race([last, reader.hears({ type: 'gap' })])
    if (seen().at(-1) === all.at(-1)) break
    cursor = seen().at(-1)
  }
  expect(seen()).toEqual(all)
})

test('a reader that stays stuck is closed, and nothing is kept for it', async () => {
  const world = await aWorld({ slowMs: 100, stuckMs: 400 })
  const stuck = await aRawClient(world.url, world.token)
  stuck.pause()
  stuck.write(masked('{"type":"subscribe","topics":["fleet"]}'))
  const ended = new Promise(resolve => stuck.once('close', resolve))
  let gone = false
  ended.then(() => {
    gone = true
  })
  const writing = (async () => {
    while (!gone) await fills(world.fleet, 100).then(() => new Promise(resolve => setImmediate(resolve)))
  })()
  // Whoever writes to a connection that nobody has any more is told so.
  const poking = setInterval(() => stuck.write(masked('{"type":"ping"}')), 50)
  onTestFinished(() => clearInterval(poking))
  await ended
  await writing
  await isServed(world)
})

test('a connection that ends leaves nobody behind who watches the store', async () => {
  const world = await aWorld()
  const { store } = world.fleet
  const watch = store.watch.bind(store)
  const watching = new Set<object>()
  store.watch = hint => {
    const stop = watch(hint)
    const one = {}
    watching.add(one)
    return () => {
      watching.delete(one)
      stop()
    }
  }
  await world.ask('POST', '/api/projects', { body: { name: 'p' } })
  const readers = Array.from({ length: 10 }, () => world.reader())
  const token = await world.session('running')
  readers.push(aReader(world.url, { token }))
  for (const reader of readers) {
    reader.say({ type: 'subscribe', topics: ['fleet', 'project:p', 'claude-fleet', 'session:session-running'] })
    await reader.hears({ type: 'subscribed' })
  }
  expect(watching.size).toBeGreaterThan(40)
  readers.forEach((reader, n) => {
    if (n % 2) reader.socket.terminate()
    else reader.socket.close()
  })
  await expect.poll(() => watching.size).toBe(0)
})

test('an allowance is used up, and comes back with time', () => {
  const allowance = new Allowance({ messagesPerSecond: 10, burst: 5 }, 0)
  expect(Array.from({ length: 6 }, () => allowance.take(1, 0))).toEqual([true, true, true, true, true, false])
  expect(allowance.take(1, 300)).toBe(true)
  expect(allowance.take(6, 10_000)).toBe(false)
})

test('those who hold all live connections keep nobody out who has none', async () => {
  const world = await aWorld({ mostOpen: 2, mostOfOne: 2 })
  const [greedy, other, third] = await Promise.all(
    ['greedy', 'other', 'third'].map(async name => {
      const service = await addPrincipal(world.fleet, ASK, { kind: 'service', name, grants: [] })
      return (await makeToken(world.fleet, ASK, service, { name: 'test', grants: null, expires_at: null })).token
    }),
  )
  const opens = async (token: string) => {
    const reader = aReader(world.url, { token })
    reader.say({ type: 'ping' })
    return Promise.race([reader.hears({ type: 'pong' }).then(() => 'open'), reader.over])
  }
  expect([await opens(greedy!), await opens(greedy!)]).toEqual(['open', 'open'])
  expect(await opens(greedy!)).toBe(429)
  expect(await opens(other!)).toBe('open')
  expect(await opens(other!)).toBe(429)
  expect(await opens(third!)).toBe('open')
  // There is an end to it all the same.
  expect(await opens(world.token)).toBe(429)
})
