import { once } from 'node:events'
import { existsSync, writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { join } from 'node:path'
import { stripVTControlCharacters } from 'node:util'
import { expect, onTestFinished, test } from 'vitest'
import { WebSocket } from 'ws'
import { sessionToken } from '../../../src/platform/tokens.ts'
import { aBrowser } from '../../../src/server/browser.testkit.ts'
import { eventually } from '../../kit/fleet.ts'
import { seriesIn, valueIn } from '../../kit/metrics.ts'
import { aScene, type Scene } from '../../kit/scene.ts'

const STAND_IN = join(import.meta.dirname, '../../fixtures/hands')

async function scene(env: Record<string, string> = {}): Promise<Scene & { url: string }> {
  const s = await aScene({
    start: false,
    project: { agent: 'claude', landing: 'review' },
    env: { PATH: `${STAND_IN}:${process.env.PATH}`, ...env },
  })
  return { ...s, url: (await s.fleet.start()).url }
}

/** A mission whose agent is thinking, which is a safe moment to stop it. */
async function thinking(s: Scene): Promise<string> {
  const never = join(s.fleet.root, 'never')
  const { id } = await s.fleet.mission(s.project, `write agent.txt agent\nthink ${never}`)
  await eventually('it thinks', () => existsSync(`${never}.here`))
  return id
}

const post = async (s: Scene, path: string, headers: Record<string, string> = {}) => {
  const answer = await s.fleet.http(path, { method: 'POST', body: '{}', headers })
  return { status: answer.status, json: (await answer.json()) as { ticket: string } }
}

/** Takes it over and waits until its terminal can be opened. */
async function taken(s: Scene, missionId?: string): Promise<string> {
  const id = missionId ?? (await thinking(s))
  expect(await post(s, `/api/missions/${id}/takeover/page`)).toMatchObject({ status: 200 })
  await isReady(s, id)
  return id
}
const isReady = (s: Scene, id: string) =>
  eventually('the conversation can be opened', async () => {
    const { taken_over, sessions } = await s.fleet.show(id)
    return sessions.find(each => each.id === taken_over?.session_id)?.status === 'running'
  })
const ticketFor = async (s: Scene, id: string): Promise<string> =>
  (await post(s, `/api/missions/${id}/terminal`)).json.ticket

const connections = async (s: Scene): Promise<number | undefined> =>
  valueIn(seriesIn(await (await s.fleet.http('/metrics')).text()), 'fleet_websocket_connections')

interface Page {
  socket: WebSocket
  screen(): string
  sees(text: string): Promise<unknown>
  type(text: string): void
  /** The number with which the server closed it; 401 and the like if it never opened. */
  over: Promise<number>
}

function open(url: string, ticket: string, { origin = url, path = '/ws', reads = true } = {}): Page {
  const socket = new WebSocket(url.replace('http', 'ws') + path, ['fleet', `ticket.${ticket}`], { origin })
  let seen = ''
  const over = new Promise<number>(resolve => {
    socket.on('close', code => resolve(code))
    socket.on('unexpected-response', (_, { statusCode }) => resolve(statusCode!))
  })
  socket.on('error', () => {})
  socket.on('open', () => socket.send(JSON.stringify({ kind: 'size', columns: 100, rows: 30 })))
  socket.on('message', (data, isBinary) => {
    seen += isBinary ? data.toString() : `[${data.toString()}]`
    const { length } = data as Buffer
    if (isBinary && reads) socket.send(JSON.stringify({ kind: 'read', bytes: length }))
  })
  onTestFinished(() => socket.terminate())
  const screen = () => stripVTControlCharacters(seen)
  return {
    socket,
    screen,
    sees: text => eventually(`the screen shows ${text}`, () => screen().includes(text) || undefined, screen),
    type: text => socket.send(Buffer.from(text)),
    over,
  }
}

test('a page types into the client, another window takes it, and the mission is handed back', async () => {
  const s = await scene()
  const id = await taken(s)
  expect(await s.fleet.show(id)).toMatchObject({ status: 'needs_input', taken_over: { page: true, gone: false } })
  const first = open(s.url, await ticketFor(s, id))
  await first.sees('tty true')
  first.type('write person.txt by hand\r')
  await first.sees('did write person.txt')

  // A second window takes the terminal with what was shown; the first one is told.
  const second = open(s.url, await ticketFor(s, id))
  await second.sees('did write person.txt')
  expect(await first.over).toBe(4409)
  await eventually('one connection to be counted', async () => (await connections(s)) === 1 || undefined)
  expect(await post(s, `/api/missions/${id}/takeover/page`)).toMatchObject({ status: 409 })
  second.type('exit\r')
  await second.sees('[{"kind":"exited","code":0}]')
  second.socket.terminate()
  await eventually('no connection to be counted', async () => (await connections(s)) === 0 || undefined)
  expect(await post(s, `/api/missions/${id}/hand-back`)).toMatchObject({ status: 200 })
  const done = await s.fleet.until(id, 'review')
  expect(done).toMatchObject({ taken_over: null })
  expect(await s.repo.readOn(done.branch!, 'person.txt')).toBe('by hand')
})

test('a mission that is taken over again gets a new client, though the last page is still open', async () => {
  const s = await scene({ FLEET_TERMINAL_GRACE: '3600' })
  const id = await taken(s)
  const last = open(s.url, await ticketFor(s, id))
  await last.sees('tty true')
  last.type('write person.txt first\r')
  await last.sees('did write person.txt first')
  await handedBack(s, id)

  await taken(s, id)
  const page = open(s.url, await ticketFor(s, id))
  await page.sees('tty true')
  expect(page.screen()).not.toMatch(/did write|exited/)
  page.type('write person.txt second\r')
  await page.sees('did write person.txt second')
  // The page of the last time goes, and takes nothing with it.
  last.socket.terminate()
  await last.over
  const { branch } = await handedBack(s, id)
  expect(await s.repo.readOn(branch!, 'person.txt')).toBe('second')
})

test('a page that still shows the last terminal does not keep the mission taken over', async () => {
  const s = await scene({ FLEET_TERMINAL_GRACE: '2' })
  const id = await taken(s)
  const last = open(s.url, await ticketFor(s, id))
  await last.sees('tty true')
  await handedBack(s, id)
  await taken(s, id)
  expect(await s.fleet.until(id, 'review')).toMatchObject({ taken_over: null })
  expect(last.socket.readyState).toBe(WebSocket.OPEN)
})

async function handedBack(s: Scene, id: string) {
  expect(await post(s, `/api/missions/${id}/hand-back`)).toMatchObject({ status: 200 })
  return s.fleet.until(id, 'review')
}

test('a refused connection is closed, also if the other side keeps it open', async () => {
  const s = await scene()
  const { host, hostname, port } = new URL(s.url)
  const upgrade = `GET /ws HTTP/1.1\r\nHost: ${host}\r\nOrigin: ${s.url}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n`
  const socket = connect({ host: hostname, port: Number(port), allowHalfOpen: true })
  onTestFinished(() => void socket.destroy())
  let answer = ''
  socket.on('data', data => (answer += data))
  const failed = once(socket, 'error')
  const ended = once(socket, 'end')
  socket.write(upgrade)
  await ended
  expect(answer).toMatch(/^HTTP\/1.1 401 /)
  // Whoever writes to a connection that nobody has any more is told so; to one that is half closed, never.
  const writing = setInterval(() => socket.write('x'), 20)
  onTestFinished(() => clearInterval(writing))
  await expect(failed).resolves.toMatchObject([{ code: expect.stringMatching(/EPIPE|ECONNRESET/) }])
}, 10_000)

test('only a fresh ticket from the page itself opens it', async () => {
  const s = await scene()
  const id = await taken(s)
  const ticket = await ticketFor(s, id)
  expect(await open(s.url, 'x'.repeat(43)).over).toBe(401)
  expect(await open(s.url, ticket, { origin: 'https://evil.example' }).over).toBe(403)
  expect(await open(s.url, ticket, { path: `/ws?ticket=${ticket}` }).over).toBe(404)
  const page = open(s.url, ticket)
  await page.sees('tty true')
  expect(await open(s.url, ticket).over).toBe(401)

  // An agent gets no ticket, and takes nothing over.
  const { sessions } = await s.fleet.show(id)
  const session = (await s.fleet.fleet.store.get('sessions', sessions[1]!.id))!.value
  const authorization = `Bearer ${await sessionToken(s.fleet.fleet.keys, session)}`
  for (const what of ['terminal', 'takeover/page'])
    expect(await post(s, `/api/missions/${id}/${what}`, { authorization })).toMatchObject({ status: 403 })

  // Nonsense and too much at once close it.
  page.socket.send('nonsense')
  expect(await page.over).toBe(1008)
  const big = open(s.url, await ticketFor(s, id))
  await big.sees('tty true')
  big.socket.send(Buffer.alloc(100_000))
  expect(await big.over).toBe(1009)
})

test('a phone opens no terminal unless a person allowed it, and a sign-out closes it within a second', async () => {
  const s = await scene({ FLEET_TERMINAL_GRACE: '3600' })
  const id = await taken(s)
  const token = await s.fleet.fleet.keys.ownerToken()
  const agent = (name: string) => ({ headers: { 'user-agent': `Mozilla/5.0 (${name}) Chrome/140` } })
  const phone = await aBrowser(s.url, token, agent('Linux; Android 15; Pixel 9'))
  const refused = await phone.browser.ask('POST', `/api/missions/${id}/terminal`, { body: {} })
  expect([refused.status, refused.json.error.message]).toEqual([409, 'The terminal is not available on phones.'])
  const computer = await aBrowser(s.url, token, agent('X11; Linux x86_64'))
  const { json } = await computer.browser.ask('POST', `/api/missions/${id}/terminal`, { body: {} })
  const page = open(s.url, json.ticket)
  await page.sees('tty true')
  const unused = await computer.browser.ask('POST', `/api/missions/${id}/terminal`, { body: {} })
  const since = performance.now()
  await s.fleet.call('sign_out_device', { device_id: computer.browser.device })
  expect(await page.over).toBe(4401)
  expect(performance.now() - since).toBeLessThan(1000)
  expect(await open(s.url, unused.json.ticket).over).toBe(401)
  // Nobody will come back, so nothing waits for them.
  const back = await s.fleet.until(id, 'review')
  expect(s.fleet.processes(back.sessions[1]!.id)).toEqual([])
})

test('a page that is closed and does not come back hands the mission back, and its client ends', async () => {
  const s = await scene({ FLEET_TERMINAL_GRACE: '3' })
  const id = await taken(s)
  const page = open(s.url, await ticketFor(s, id))
  await page.sees('tty true')
  page.type('write person.txt by hand\r')
  await page.sees('did write')
  page.socket.terminate()
  const back = await s.fleet.until(id, 'review')
  expect(back).toMatchObject({ taken_over: null, status_reason: { code: 'handed_back' } })
  expect(await s.repo.readOn(back.branch!, 'person.txt')).toBe('by hand')
  expect(s.fleet.processes(back.sessions[1]!.id)).toEqual([])
})

test('the time to open the terminal begins when the agent has stopped, however long its tool takes', async () => {
  const s = await scene({ FLEET_TERMINAL_GRACE: '0', FLEET_TAKEOVER_WAIT: '3600' })
  const tool = join(s.fleet.root, 'tool')
  const { id } = await s.fleet.mission(s.project, `wait ${tool} then-think`)
  await eventually('the tool runs', () => existsSync(`${tool}.here`))
  await post(s, `/api/missions/${id}/takeover/page`)
  expect(await s.fleet.show(id)).toMatchObject({ status: 'running', taken_over: { page: true } })
  writeFileSync(tool, '')
  const back = await s.fleet.until(id, 'review')
  expect([back.sessions.length, back.status_reason?.code]).toEqual([2, 'handed_back'])
})

test('a page that opens while the mission is handed back starts no client that nobody would collect from', async () => {
  const s = await scene({ FLEET_TERMINAL_GRACE: '3600' })
  const id = await taken(s)
  const ticket = await ticketFor(s, id)
  expect(await post(s, `/api/missions/${id}/hand-back`)).toMatchObject({ status: 200 })
  const page = open(s.url, ticket)
  expect(await page.over).toBe(4403)
  expect(page.screen()).not.toContain('tty true')
  const back = await s.fleet.until(id, 'review')
  expect(s.fleet.processes(back.sessions[1]!.id)).toEqual([])
})

test.each(['kill', 'stop'] as const)('a server that ends (%s) leaves no mission taken over', async how => {
  const s = await scene({ FLEET_TERMINAL_GRACE: '3600' })
  const id = await taken(s)
  const page = open(s.url, await ticketFor(s, id))
  await page.sees('tty true')
  page.type('write person.txt by hand\r')
  await page.sees('did write')
  const since = performance.now()
  const ending = s.fleet[how]()
  const code = await page.over
  if (how === 'stop') expect([code, performance.now() - since < 1000]).toEqual([1001, true])
  await ending
  await s.fleet.start()
  const back = await s.fleet.until(id, 'review')
  expect(back).toMatchObject({ taken_over: null })
  expect(await s.repo.readOn(back.branch!, 'person.txt')).toBe('by hand')
  expect(s.fleet.processes(back.sessions[1]!.id)).toEqual([])
})

test('an agent that was not stopped yet goes on when the server is killed', async () => {
  const s = await scene()
  const tool = join(s.fleet.root, 'tool')
  const { id } = await s.fleet.mission(s.project, `wait ${tool}\nwrite agent.txt agent`)
  await eventually('the tool runs', () => existsSync(`${tool}.here`))
  await post(s, `/api/missions/${id}/takeover/page`)
  expect(await s.fleet.show(id)).toMatchObject({ status: 'running', taken_over: { session_id: null, page: true } })
  await s.fleet.kill()
  await s.fleet.start()
  await eventually('it is its own again', async () => (await s.fleet.show(id)).taken_over === null)
  writeFileSync(tool, '')
  const done = await s.fleet.until(id, 'review', 'failed')
  expect([done.status, done.sessions.length]).toEqual(['review', 1])
})

test('a page that reads nothing pauses the client instead of filling memory', async () => {
  const s = await scene()
  const id = await taken(s)
  const page = open(s.url, await ticketFor(s, id), { reads: false })
  await page.sees('tty true')
  page.type('flood\r')
  await eventually('it is paused', () => page.screen().length > 400_000 || undefined)
  const length = await steady(() => page.screen().length)
  expect(length).toBeLessThan(2_000_000)
  page.socket.send(JSON.stringify({ kind: 'read', bytes: 10_000_000 }))
  await eventually('it goes on', () => page.screen().length > length || undefined)
})

/** Its value once it no longer changes. */
async function steady(value: () => number): Promise<number> {
  let last = -1
  for (; last !== value(); await new Promise(resolve => setTimeout(resolve, 300))) last = value()
  return last
}
