import { createHmac } from 'node:crypto'
import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { expect, onTestFinished, test } from 'vitest'
import { aClientThatAsks } from '../../kit/asking.ts'
import { eventually, type TestFleet } from '../../kit/fleet.ts'
import { call } from '../../kit/inside.ts'
import { aScene } from '../../kit/scene.ts'
import { aWorker } from '../../kit/worker.ts'

interface Heard {
  path: string
  body: Record<string, unknown>
  text: string
  headers: IncomingMessage['headers']
}

/** Stands in for a remote server: records every request, and answers as the test says. */
async function aServer(
  answer: (heard: Heard, before: Heard[]) => { status?: number; json?: object; afterMs?: number } | undefined,
) {
  const heard: Heard[] = []
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk as Buffer)
    const text = Buffer.concat(chunks).toString()
    const one = { path: request.url!, text, body: JSON.parse(text) as Heard['body'], headers: request.headers }
    const { status = 200, json = {}, afterMs = 0 } = answer(one, heard) ?? {}
    heard.push(one)
    await pause(afterMs)
    response.writeHead(status)
    response.end(JSON.stringify(json))
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  const at = (path: string) => heard.filter(each => each.path === path)
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, at }
}

function setUp(fleet: TestFleet, name: string, settings: object): void {
  const folder = join(fleet.root, 'home/plugins')
  mkdirSync(folder, { recursive: true })
  writeFileSync(join(folder, `${name}.json`), JSON.stringify(settings), { mode: 0o600 })
}

/** Stands in for a program: records its arguments, one per line, and prints a given text. */
function standIn(fleet: TestFleet, name: string, says = ''): () => string {
  const folder = join(fleet.root, 'bin')
  mkdirSync(folder, { recursive: true })
  const log = join(fleet.root, `${name}.log`)
  writeFileSync(join(folder, name), `#!/bin/sh\nprintf '%s\\n' "$@" >> '${log}'\ncat <<'END'\n${says}\nEND\n`)
  chmodSync(join(folder, name), 0o755)
  return () => (existsSync(log) ? readFileSync(log, 'utf8') : '')
}

const pathOf = (fleet: TestFleet): Record<string, string> => ({
  PATH: `${join(fleet.root, 'bin')}:${process.env.PATH}`,
})

test('webhook, Slack and the desktop hear what matters, signed and tried again', async () => {
  const { fleet, project } = await aScene({ start: false })
  const elsewhere = await aServer(({ path }, before) => ({
    status: path === '/hook' && before.filter(each => each.path === path).length < 2 ? 503 : 200,
  }))
  const noted = standIn(fleet, 'notify-send')
  setUp(fleet, 'webhook', {
    url: `${elsewhere.url}/hook`,
    secret: 'a secret',
    events: ['landed'],
    allow_private: true,
  })
  setUp(fleet, 'slack', { url: `${elsewhere.url}/slack`, allow_private: true })
  await fleet.start({ env: { ...pathOf(fleet), FLEET_PLUGINS: 'webhook,slack,desktop' } })
  const mission = await fleet.mission(project, 'echo a > a.txt', { title: 'a <b> & $(c)' })
  await fleet.until(mission.id, 'done')

  const sent = await eventually('three tries', () =>
    elsewhere.at('/hook').length === 3 ? elsewhere.at('/hook') : undefined,
  )
  const { text, headers, body } = sent[2]!
  expect(sent.map(each => each.text)).toEqual([text, text, text])
  expect(body).toMatchObject({ event: { kind: 'landed' }, mission: { id: mission.id, result: 'landed' } })
  const timestamp = headers['x-flotilla-timestamp']
  expect(headers['x-flotilla-signature']).toBe(
    `sha256=${createHmac('sha256', 'a secret').update(`${timestamp}.${text}`).digest('hex')}`,
  )
  expect(headers['x-flotilla-delivery']).toBe((body.event as { cursor: string }).cursor)
  await eventually('Slack', () => elsewhere.at('/slack').length)
  expect(elsewhere.at('/slack').map(each => each.body)).toEqual([{ text: 'a &lt;b&gt; &amp; $(c): landed' }])
  await eventually('the desktop', () => noted())
  expect(noted()).toBe('--app-name=Flotilla\n--\nFlotilla\na <b> & $(c): landed\n')
})

test('a webhook that would reach a private address says so, and one without an address stays off', async () => {
  const { fleet, project } = await aScene({ start: false })
  const elsewhere = await aServer(() => undefined)
  setUp(fleet, 'webhook', { url: `${elsewhere.url}/hook`, secret: 'a secret', events: ['landed'] })
  await fleet.start({ env: { FLEET_PLUGINS: 'webhook' } })
  expect((await fleet.fleetCommand(['plugin', 'enable', 'slack'])).code).toBe(1)
  const mission = await fleet.mission(project, 'echo a > a.txt')
  await fleet.until(mission.id, 'done')
  interface Listed {
    plugins: { name: string; reason: string | null; last_fault: { text: string } | null }[]
  }
  const listed = async () => ((await (await fleet.http('/api/plugins')).json()) as Listed).plugins
  const of = async (name: string) => (await listed()).find(each => each.name === name)!
  await eventually('the refusal', async () => (await of('webhook')).last_fault?.text.includes('is a private address'))
  expect((await of('slack')).reason).toContain('lack "url"')
  expect(elsewhere.at('/hook')).toEqual([])
})

test('Telegram puts questions to chats on its list, and takes answers from no other', async () => {
  const { fleet, project } = await aScene({ start: false })
  const updates: object[] = []
  const bot = await aServer(({ path, body }) => {
    if (!path.endsWith('/getUpdates')) return undefined
    return { json: { ok: true, result: updates.slice(Number(body.offset)) }, afterMs: 50 }
  })
  const write = (chat: number, text: string, reply?: unknown) =>
    updates.push({
      update_id: updates.length,
      message: { chat: { id: chat }, text, reply_to_message: { text: reply } },
    })
  setUp(fleet, 'telegram', { token: 'T', chats: [42], api: bot.url, allow_private: true, events: ['landed'] })
  await fleet.start({ env: { FLEET_PLUGINS: 'telegram' } })
  const answer = join(fleet.root, 'answer')
  const mission = await fleet.mission(
    project,
    `${call('ask_human', { question: 'Which colour?' }, answer)}; cp '${answer}' a.txt`,
    { title: 'paint' },
  )
  const said = () => bot.at('/botT/sendMessage').map(each => each.body)
  const asked = (await eventually('the question', () => said()[0]))!
  expect(asked).toMatchObject({ chat_id: '42', text: expect.stringContaining('paint asks:\nWhich colour?') })
  write(666, 'black', asked.text)
  write(42, 'hello')
  await eventually('it says what to do', () =>
    said().some(each => String(each.text).startsWith('Reply to the message')),
  )
  expect((await fleet.show(mission.id)).status).toBe('needs_input')
  write(42, 'sea green', asked.text)
  await fleet.until(mission.id, 'done')
  expect(readFileSync(answer, 'utf8')).toContain('sea green')
  const answered = (await fleet.events()).find(event => event.kind === 'answered')
  expect(answered?.actor).toBe('plugin:telegram')
  write(42, 'red', asked.text)
  await eventually('it is over', () => said().some(each => each.text === 'This question is no longer open.'))
  await eventually('it landed', () => said().some(each => each.text === 'paint: landed'))
  expect(said().every(each => String(each.chat_id) === '42')).toBe(true)
  expect(readFileSync(join(fleet.root, 'home/logs/server.log'), 'utf8')).toContain('The chat 666 is not in')
})

test('Telegram: only a word for it decides about a permission', async () => {
  const scene = await aScene({ start: false })
  const { fleet } = scene
  const updates: object[] = []
  const bot = await aServer(({ path, body }) => {
    if (!path.endsWith('/getUpdates')) return undefined
    return { json: { ok: true, result: updates.slice(Number(body.offset)) }, afterMs: 50 }
  })
  const settings = { token: 'T', chats: [42, 43], api: bot.url, allow_private: true }
  setUp(fleet, 'telegram', { ...settings, deciders: ['42=owner'] })
  await fleet.start({ env: { FLEET_PLUGINS: 'telegram' } })
  const agent = await aClientThatAsks(scene)
  const said = () => bot.at('/botT/sendMessage').map(each => String(each.body.text))
  const own = { chat: { id: 42, type: 'private' }, from: { id: 42 } }
  const reply = async (id: string, text: string, by: object = own): Promise<string> => {
    const inBothChats = () => said().filter(each => each.endsWith(`[${id}]`))
    await eventually('the question in both chats', () => inBothChats().length === 2)
    const [asked] = inBothChats()
    const before = said().length
    updates.push({
      update_id: updates.length,
      message: { ...by, text, reply_to_message: { text: asked } },
    })
    return eventually('its answer', () => said()[before])
  }
  for (const [words, decision, answer] of [
    ['Yes', 'allow', 'Allowed.'],
    ['NO', 'deny', 'Denied.'],
    ['ok', 'allow', 'Allowed.'],
  ] as const) {
    const id = await agent.asksLeave()
    for (const neither of ['maybe', 'no, do not', 'yes but'])
      expect(await reply(id, neither), neither).toMatch(/say allow or deny/)
    // In a group nobody knows who may decide.
    for (const by of [
      { chat: { id: 42, type: 'group' }, from: { id: 42 } },
      { chat: { id: 42, type: 'private' }, from: { id: 7 } },
      { chat: { id: 42 } },
    ])
      expect(await reply(id, words, by)).toMatch(/decided by one person/)
    const stranger = { chat: { id: 43, type: 'private' }, from: { id: 43 } }
    expect(await reply(id, words, stranger)).toMatch(/may not decide/)
    expect(await agent.stands(id)).toMatchObject({ status: 'open' })
    expect(await reply(id, words)).toBe(answer)
    expect(await agent.stands(id)).toMatchObject({ answer: { decision }, answered_by: 'plugin:telegram' })
  }
  agent.open()
})

test('a GitHub issue becomes one mission, also across kill -9, and is told what became of it', async () => {
  const { fleet, project } = await aScene({ start: false })
  aWorker(fleet)
  const issue = {
    number: 7,
    title: 'Say hello',
    body: 'do: echo a > a.txt\n\n    touch canary\n`touch canary`',
    url: 'https://github.com/o/r/issues/7',
  }
  const asked = standIn(fleet, 'gh', JSON.stringify([issue]))
  setUp(fleet, 'github', { repo: 'o/r', project: project.id, every_seconds: 5 })
  const env = { ...pathOf(fleet), FLEET_PLUGINS: 'github' }
  await fleet.start({ env })
  const missions = async () =>
    (await fleet.call<{ missions: { id: string; title: string; status: string; metadata: object }[] }>('list_missions'))
      .missions
  const [made] = await eventually('the mission', async () => ((await missions()).length ? missions() : undefined))
  expect(made).toMatchObject({ title: 'Say hello', status: 'draft', metadata: { github: { repo: 'o/r', number: 7 } } })
  expect(asked()).toContain('issue\nlist\n--repo\no/r\n--label\nflotilla\n--state\nopen\n')
  await fleet.kill()
  const before = asked().split('list').length
  await fleet.start({ env })
  await eventually('it is looked at again', () => asked().split('list').length > before)
  await fleet.call('dispatch_mission', { mission_id: made!.id })
  await fleet.until(made!.id, 'done')
  await eventually(
    'the comment',
    () => asked().includes('issue\ncomment\n7\n--repo\no/r\n--body\nDone: landed.\n'),
    asked,
  )
  expect(await missions()).toHaveLength(1)
})
