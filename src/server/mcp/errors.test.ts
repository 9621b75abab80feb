import { expect, onTestFinished, test } from 'vitest'
import * as z from 'zod'
import { aServer } from '../server.testkit.ts'
import { mcpClient } from './client.testkit.ts'
import { type Endpoint, tool } from './index.ts'

const [PARSE_ERROR, INVALID_REQUEST, METHOD_NOT_FOUND, INVALID_PARAMS, SERVER_ERROR] = [
  -32700, -32600, -32601, -32602, -32000,
]

const endpoint: Endpoint = {
  path: '/toys',
  legacySse: true,
  offer: () => ({
    name: 'toys',
    instructions: 'Play.',
    tools: [
      tool({
        name: 'say',
        summary: 'Say it',
        input: z.object({ words: z.string() }),
        run: async (_, { words }) => words,
      }),
    ],
    resources: [{ uri: 'toys://box', name: 'box', summary: 'All', mimeType: 'text/plain', read: async () => 'ball' }],
    prompts: [{ name: 'play', summary: 'Play', arguments: [], write: async () => 'Play.' }],
  }),
}

const ACCEPT = { accept: 'application/json, text/event-stream', 'content-type': 'application/json' }
const rpc = (method: string, params?: unknown, id: unknown = 1) => ({ jsonrpc: '2.0', id, method, params })
const call = (given: unknown) => rpc('tools/call', { name: 'say', arguments: given })

const started = async () => {
  const running = await aServer([], { endpoints: [endpoint] })
  const post = (body: unknown, more: { headers?: object; token?: string | null; path?: string } = {}) =>
    running.ask('POST', more.path ?? '/toys', { body, headers: { ...ACCEPT, ...more.headers }, token: more.token })
  return { ...running, post }
}

test.each(['{', 'nonsense', '{"jsonrpc":"2.0",}', '\u0000', '{"__proto__":{"a":1}}', ''])(
  'what is no JSON, such as %j',
  async body => {
    const { post, ask } = await started()
    const answer = body ? await post(body) : await ask('POST', '/toys', { headers: ACCEPT })
    expect(answer.status).toBe(400)
    expect(answer.json).toEqual({
      jsonrpc: '2.0',
      id: null,
      error: { code: PARSE_ERROR, message: expect.stringContaining('JSON') },
    })
  },
)

test.each([
  ['a number', 5],
  ['nothing', null],
  ['an object of another protocol', { hello: 'there' }],
  ['another version', { jsonrpc: '1.0', id: 1, method: 'tools/list' }],
  ['no method', { jsonrpc: '2.0', id: 1 }],
  ['a method that is no name', { jsonrpc: '2.0', id: 1, method: 5 }],
  ['an id that is none', rpc('tools/list', {}, { a: 1 })],
  ['parameters by position', rpc('tools/list', ['a'])],
  ['parameters that are none', rpc('tools/list', 'a')],
  ['an empty batch', []],
  ['a batch with something else in it', [rpc('tools/list'), 5]],
  ['a batch that is too long', Array.from({ length: 200 }, (_, id) => rpc('ping', {}, id))],
])('what is no request: %s', async (_, body) => {
  const { post } = await started()
  const { status, json } = await post(JSON.stringify(body))
  expect([status, json]).toMatchObject([400, { jsonrpc: '2.0', error: { code: INVALID_REQUEST } }])
  expect(json.error.message).not.toContain('zod')
})

test.each([
  ['a text for arguments', call('hi')],
  ['a list for arguments', call(['hi'])],
  ['no name', rpc('tools/call', {})],
  ['no parameters', rpc('tools/call')],
  ['a name that is none', rpc('tools/call', { name: 7 })],
  ['an unknown tool', rpc('tools/call', { name: 'nothing' })],
  ['no address', rpc('resources/read', {})],
  ['an unknown prompt', rpc('prompts/get', { name: 'nothing' })],
  ['a prompt without a name', rpc('prompts/get', {})],
  ['a cursor that is none', rpc('resources/list', { cursor: 5 })],
  ['nothing to complete', rpc('completion/complete', { ref: { type: 'ref/prompt', name: 'play' } })],
  ['a greeting without a version', rpc('initialize', {})],
])('parameters that are wrong: %s', async (_, body) => {
  const { post } = await started()
  const { status, json } = await post(body)
  expect([status, json]).toMatchObject([200, { id: 1, error: { code: INVALID_PARAMS } }])
  // It names the field or the thing, in one line, and shows nothing of a parser.
  expect(json.error.message).toMatch(/^(params[.\w]*: |There is no )[^{[\n]*$/)
})

test('arguments that a tool does not take are told to the model, as the protocol wants it', async () => {
  const { post } = await started()
  for (const given of [{}, { words: 5 }, { words: 'a', more: 1 }])
    expect((await post(call(given))).json).toMatchObject({ id: 1, result: { isError: true } })
})

test('a batch answers each of its requests, and notices not at all', async () => {
  const { post } = await started()
  const { status, json } = await post([
    rpc('ping', {}, 'a'),
    { jsonrpc: '2.0', method: 'notifications/initialized' },
    rpc('no/such', {}, 'b'),
    rpc('tools/call', { name: 'say', arguments: 'x' }, 'c'),
  ])
  expect(status).toBe(200)
  const told = json.map(({ id, error }: { id: string; error?: { code: number } }) => [id, error?.code])
  expect(told.toSorted()).toEqual([
    ['a', undefined],
    ['b', METHOD_NOT_FOUND],
    ['c', INVALID_PARAMS],
  ])
  expect(await post({ jsonrpc: '2.0', method: 'notifications/initialized' })).toMatchObject({ status: 202, text: '' })
})

test('a refusal before any message is read has the same form, with the status of HTTP', async () => {
  const { post } = await started()
  const body = rpc('tools/list')
  expect(await post(body, { token: null })).toMatchObject({
    status: 401,
    json: { id: null, error: { code: SERVER_ERROR } },
  })
  expect(await post(body, { headers: { origin: 'http://evil.example' } })).toMatchObject({
    status: 403,
    json: { error: { code: SERVER_ERROR } },
  })
  expect(await post('x'.repeat(3_000_000))).toMatchObject({ status: 413, json: { error: { code: SERVER_ERROR } } })
  expect(await post(body, { headers: { 'content-type': 'text/plain' } })).toMatchObject({
    status: 415,
    json: { error: { code: SERVER_ERROR, data: { code: 'unsupported_media_type' } } },
  })
})

test('the older stream refuses what is no message, and answers wrong parameters alike', async () => {
  const { server, fleet, post } = await started()
  expect(await post('{', { path: '/toys/messages?sessionId=x' })).toMatchObject({
    json: { error: { code: PARSE_ERROR } },
  })
  const { client, close } = await mcpClient(`${server.url}/toys/sse`, await fleet.keys.ownerToken(), 'sse')
  onTestFinished(close)
  await expect(client.request(call('hi') as never, z.object({}))).rejects.toMatchObject({ code: INVALID_PARAMS })
})

test("the SDK's client hears the same", async () => {
  const { server, fleet } = await started()
  const { client, close } = await mcpClient(`${server.url}/toys`, await fleet.keys.ownerToken())
  onTestFinished(close)
  await expect(client.request(call('hi') as never, z.object({}))).rejects.toMatchObject({ code: INVALID_PARAMS })
  await expect(client.request(rpc('no/such') as never, z.object({}))).rejects.toMatchObject({ code: METHOD_NOT_FOUND })
})
