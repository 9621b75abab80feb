import { once } from 'node:events'
import { connect } from 'node:net'
import { setTimeout as passed } from 'node:timers/promises'
import { expect, onTestFinished, test } from 'vitest'
import * as z from 'zod'
import { NotAllowed, NotFound } from '../../domain/errors.ts'
import { aServer } from '../server.testkit.ts'
import { mcpClient } from './client.testkit.ts'
import { type Endpoint, type Offer, tool } from './index.ts'

const waiting = new EventTarget()

const OFFER: Offer = {
  name: 'toys',
  instructions: 'Play.',
  tools: [
    tool({
      name: 'say',
      summary: 'Say it back',
      input: z.object({ words: z.string(), times: z.number().int().default(1) }),
      readOnly: true,
      run: async (caller, { words, times }, { key }) => ({ said: words.repeat(times), by: caller.kind, key }),
    }),
    tool({
      name: 'refuse',
      summary: 'Refuse',
      input: z.object({}),
      run: async () => {
        throw new NotAllowed('Not today.', { try: 'Come back tomorrow.' })
      },
    }),
    tool({
      name: 'break',
      summary: 'Fail as nobody expected',
      input: z.object({}),
      run: async () => {
        throw new Error('a secret of the inside')
      },
    }),
    tool({
      name: 'count',
      summary: 'Count to three',
      input: z.object({}),
      long: true,
      run: async (_, __, { progress }) => {
        for (const done of [1, 2, 3]) {
          progress({ done, total: 3, message: `${done} of 3` })
          // The client would handle an answer that comes right after the step before the step.
          await passed(10)
        }
        return 'counted'
      },
    }),
    tool({
      name: 'wait',
      summary: 'Wait until nobody listens any more',
      input: z.object({}),
      long: true,
      run: async (_, __, { signal }) => {
        waiting.dispatchEvent(new Event('began'))
        await passed(60_000, undefined, { signal }).catch(() => {})
        waiting.dispatchEvent(new Event('over'))
        return 'as far as it came'
      },
    }),
  ],
  resources: [
    { uri: 'toys://box', name: 'box', summary: 'All toys', mimeType: 'text/plain', read: async () => 'ball, doll' },
    {
      uri: 'toys://pages/{page}{?line}',
      name: 'page',
      summary: 'A page of the book',
      mimeType: 'text/plain',
      list: async (_, cursor = '1') => ({
        items: [{ uri: `toys://pages/${cursor}`, name: `page ${cursor}` }],
        cursor: cursor === '1' ? '2' : undefined,
      }),
      complete: { page: async (_, typed) => ['1', '12', '2'].filter(page => page.startsWith(typed)) },
      read: async (_, { page, line }) => {
        if (page === '9') throw new NotFound('page', page)
        return `page ${page}${line ? ` line ${line}` : ''}`
      },
    },
  ],
  prompts: [
    {
      name: 'play',
      summary: 'Play with something',
      arguments: [{ name: 'toy', description: 'which', required: true }],
      write: async (_, { toy }) => `Play with the ${toy}.`,
    },
  ],
}

const endpoint: Endpoint = { path: '/toys', offer: () => OFFER, legacySse: true }

const started = async () => {
  const running = await aServer([], { endpoints: [endpoint] })
  return { ...running, url: `${running.server.url}/toys`, token: await running.fleet.keys.ownerToken() }
}

async function connected(by: 'streamable' | 'sse') {
  const { url, token } = await started()
  const client = await mcpClient(by === 'sse' ? `${url}/sse` : url, token, by)
  onTestFinished(() => client.close())
  return client
}

test.each(['streamable', 'sse'] as const)('tools are listed and called, and fail in words: %s', async by => {
  const { client, call } = await connected(by)

  const { tools } = await client.listTools()
  expect(tools.map(({ name }) => name)).toEqual(['say', 'refuse', 'break', 'count', 'wait'])
  expect(tools[0]).toMatchObject({ inputSchema: { required: ['words'] }, annotations: { readOnlyHint: true } })

  expect(JSON.parse((await call('say', { words: 'ab', times: 2 })).text)).toMatchObject({ said: 'abab', by: 'owner' })
  expect(await call('refuse')).toEqual({ isError: true, text: 'Not today. Come back tomorrow.' })
  expect(await call('say', { word: 'ab' })).toMatchObject({
    isError: true,
    text: expect.stringContaining('words: is missing'),
  })
  const broken = await call('break')
  expect(broken.isError).toBe(true)
  expect(broken.text).not.toContain('secret')
  await expect(client.callTool({ name: 'nothing' })).rejects.toThrow('There is no tool nothing')
})

test.each(['streamable', 'sse'] as const)('progress arrives before the answer: %s', async by => {
  const { call } = await connected(by)
  const steps: (string | undefined)[] = []
  expect(await call('count', {}, { onprogress: step => steps.push(step.message) })).toMatchObject({ text: 'counted' })
  expect(steps).toEqual(['1 of 3', '2 of 3', '3 of 3'])
})

test('resources are listed page by page and read, and prompts are written', async () => {
  const { client } = await connected('streamable')

  const first = await client.listResources()
  const second = await client.listResources({ cursor: first.nextCursor! })
  expect([...first.resources, ...second.resources].map(({ uri }) => uri)).toEqual([
    'toys://box',
    'toys://pages/1',
    'toys://pages/2',
  ])
  expect(second.nextCursor).toBeUndefined()
  expect((await client.listResourceTemplates()).resourceTemplates[0]).toMatchObject({ name: 'page' })
  const read = async (uri: string) => (await client.readResource({ uri })).contents[0]
  expect(await read('toys://box')).toMatchObject({ text: 'ball, doll' })
  expect(await read('toys://pages/7?line=3')).toMatchObject({ text: 'page 7 line 3' })
  await expect(read('toys://pages/9')).rejects.toMatchObject({
    code: -32002,
    message: expect.stringContaining('There is no page "9".'),
  })
  await expect(read('toys://nowhere')).rejects.toMatchObject({ code: -32002 })

  const typed = async (uri: string, name: string, value = '1') =>
    (await client.complete({ ref: { type: 'ref/resource', uri }, argument: { name, value } })).completion
  expect(await typed('toys://pages/{page}{?line}', 'page')).toEqual({ values: ['1', '12'], total: 2, hasMore: false })
  expect((await typed('toys://pages/{page}{?line}', 'line')).values).toEqual([])
  await expect(typed('toys://nowhere/{x}', 'x')).rejects.toMatchObject({ code: -32602 })

  expect((await client.getPrompt({ name: 'play', arguments: { toy: 'ball' } })).messages).toEqual([
    { role: 'user', content: { type: 'text', text: 'Play with the ball.' } },
  ])
  await expect(client.getPrompt({ name: 'play' })).rejects.toThrow('The argument toy is missing.')
})

const ACCEPT = { accept: 'application/json, text/event-stream' }
const rpc = (method: string, params?: object) => ({ jsonrpc: '2.0', id: 1, method, params })

test('every request stands for itself: no greeting is needed, and the answer is plain JSON', async () => {
  const { ask } = await started()
  const { status, headers, json } = await ask('POST', '/toys', {
    headers: { ...ACCEPT, 'idempotency-key': 'k1' },
    body: rpc('tools/call', { name: 'say', arguments: { words: 'hi' } }),
  })
  expect(status).toBe(200)
  expect(headers['mcp-session-id']).toBeUndefined()
  expect(JSON.parse(json.result.content[0].text)).toEqual({ said: 'hi', by: 'owner', key: 'k1' })
})

test('an unknown method is refused at once, whatever version the client says it speaks', async () => {
  const { ask } = await started()
  const { json } = await ask('POST', '/toys', {
    headers: { ...ACCEPT, 'mcp-protocol-version': '2099-01-01' },
    body: rpc('server/discover'),
  })
  expect(json).toMatchObject({ id: 1, error: { code: -32601 } })
})

test('a key is for one call, so a batch may have none', async () => {
  const { ask } = await started()
  const body = [rpc('tools/list'), rpc('tools/list')]
  expect((await ask('POST', '/toys', { body, headers: ACCEPT })).status).toBe(200)
  const refused = await ask('POST', '/toys', { body, headers: { ...ACCEPT, 'idempotency-key': 'k' } })
  expect(refused.json.error.message).toContain('is for one call')
})

test('there is no stream to open and no session to end', async () => {
  const { ask } = await started()
  expect((await ask('GET', '/toys', { headers: ACCEPT })).status).toBe(405)
  expect((await ask('DELETE', '/toys')).status).toBe(405)
})

test('strangers, foreign pages and foreign names are turned away', async () => {
  const { ask } = await started()
  const body = rpc('tools/list')
  for (const path of ['/toys', '/toys/messages?sessionId=x']) {
    expect((await ask('POST', path, { body, headers: ACCEPT, token: null })).status).toBe(401)
    expect((await ask('POST', path, { body, headers: { ...ACCEPT, origin: 'http://evil.example' } })).status).toBe(403)
    expect((await ask('POST', path, { body, headers: { ...ACCEPT, host: 'evil.example' } })).status).toBe(403)
  }
  expect((await ask('GET', '/toys/sse', { token: null })).status).toBe(401)
  expect((await ask('POST', '/toys/messages?sessionId=x', { body })).json.error.data.try).toBe(
    'Open GET /toys/sse again.',
  )
})

test.each(['streamable', 'sse'] as const)('a call whose asker goes away ends: %s', async by => {
  const { call, close } = await connected(by)
  const [began, over] = [once(waiting, 'began'), once(waiting, 'over')]
  call('wait').catch(() => {})
  await began
  await close()
  await over
})

test('a server that stops lets calls under way answer, and ends open streams', async () => {
  const { server, url, token } = await started()
  const [client, listener] = [await mcpClient(url, token), await mcpClient(`${url}/sse`, token, 'sse')]
  onTestFinished(() => listener.close())
  onTestFinished(() => client.close())
  const began = once(waiting, 'began')
  const answer = client.call('wait')
  await began

  const before = Date.now()
  await server.close()
  expect(await answer).toEqual({ isError: false, text: 'as far as it came' })
  expect(Date.now() - before).toBeLessThan(1500)
})

test('a client of the older stream that does not read is cut off', async () => {
  const { ask, url, token } = await started()
  const { host, port } = new URL(url)
  const stream = connect(Number(port), '127.0.0.1')
  onTestFinished(() => void stream.destroy())
  stream.write(`GET /toys/sse HTTP/1.1\r\nHost: ${host}\r\nAuthorization: Bearer ${token}\r\n\r\n`)
  let opening = ''
  while (!opening.includes('sessionId=')) opening += (await once(stream, 'data'))[0]
  stream.pause()
  const [path] = /\/toys\/messages\?sessionId=[\w-]+/.exec(opening)!
  const say = async () => {
    const body = rpc('tools/call', { name: 'say', arguments: { words: 'x'.repeat(1000), times: 1000 } })
    return (await ask('POST', path, { body })).status
  }
  await expect.poll(say, { timeout: 20_000, interval: 1 }).toBe(404)
})
