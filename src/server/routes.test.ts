import { expect, test } from 'vitest'
import { aServer } from './server.testkit.ts'
import { TOYS } from './toys.testkit.ts'

const aToyServer = () => aServer(TOYS)

test('an input is read from the path and the query, each field as what it is', async () => {
  const { ask } = await aToyServer()
  const { status, json } = await ask('GET', '/api/toys/bear?limit=7&live=true&tags=a,b&tags=c&colour=red')
  expect(status).toBe(200)
  expect(json).toEqual({ toy_id: 'bear', limit: 7, live: true, tags: ['a', 'b', 'c'], colour: 'red' })
})

test('a command takes JSON and an idempotency key, and shows only what its output declares', async () => {
  const { ask } = await aToyServer()
  const { json } = await ask('POST', '/api/toys', { body: { title: 'kite' }, headers: { 'idempotency-key': 'k-1' } })
  expect(json).toEqual({ title: 'kite', bytes: 4, key: 'k-1' })
})

test('a prompt of 200 kB with quotes, newlines and signs from everywhere arrives byte for byte', async () => {
  const { ask } = await aToyServer()
  const title = `"'\`$(rm)\n\\ ü 漢 🚢 `.repeat(9000)
  const { json } = await ask('POST', '/api/toys', { body: { title } })
  expect(json.title === title).toBe(true)
  expect(json.bytes).toBeGreaterThan(200_000)
})

test.each([
  ['GET', '/api/toys/bear?limit=many', undefined, 'limit', /must be a number/],
  ['GET', '/api/toys/bear?limit=101', undefined, 'limit', /must be at most 100/],
  ['GET', '/api/toys/bear?colour=green', undefined, 'colour', /must be red or blue/],
  ['GET', '/api/toys/bear?limit=1&limit=2', undefined, 'limit', /must be a number/],
  ['POST', '/api/toys', {}, 'title', /is missing; it must be text/],
  ['POST', '/api/toys', { title: 3 }, 'title', /must be text/],
  ['POST', '/api/toys', [], 'body', /must be a JSON object/],
  ['POST', '/api/toys', '{"title":', 'body', /not valid JSON/],
])('wrong input names the field: %s %s %j', async (method, path, body, field, problem) => {
  const { ask } = await aToyServer()
  const { status, json } = await ask(method, path, { body })
  expect(status).toBe(400)
  expect(json.error).toMatchObject({ code: 'invalid_input', field })
  expect(json.error.message).toMatch(problem)
})

test('an idempotency key that cannot be one is refused by name', async () => {
  const { ask } = await aToyServer()
  const { status, json } = await ask('POST', '/api/toys', {
    body: { title: 'kite' },
    headers: { 'idempotency-key': 'x'.repeat(201) },
  })
  expect([status, json.error.field]).toEqual([400, 'Idempotency-Key'])
})

test('a body above the limit, an unknown address, a wrong method and a broken address are refused in the same form', async () => {
  const { ask } = await aToyServer()
  const tooLarge = await ask('POST', '/api/toys', { body: { title: 'x'.repeat(2 * 1024 * 1024) } })
  expect([tooLarge.status, tooLarge.json.error.code]).toEqual([413, 'too_large'])
  const wide = await ask('POST', '/api/toys/bear/wide', { body: { title: 'x'.repeat(2 * 1024 * 1024) } })
  expect(wide.json).toEqual({ bytes: 2 * 1024 * 1024 })
  const tooWide = await ask('POST', '/api/toys/bear/wide', { body: { title: 'x'.repeat(3 * 1024 * 1024) } })
  expect(tooWide.json.error).toMatchObject({ code: 'too_large', limit_bytes: 3 * 1024 * 1024 })
  const unknown = await ask('GET', '/api/nothing')
  expect([unknown.status, unknown.json.error.code]).toEqual([404, 'not_found'])
  const wrong = await ask('PUT', '/api/toys/bear')
  expect([wrong.status, wrong.json.error.code, wrong.headers.allow]).toEqual([405, 'method_not_allowed', 'GET'])
  const broken = await ask('GET', '/api/toys/%ff')
  expect([broken.status, broken.json.error.code]).toEqual([400, 'invalid_input'])
})

test('a person who types an unknown address into a browser reads a page, signed in or not', async () => {
  const { ask } = await aToyServer()
  const typed = { 'sec-fetch-mode': 'navigate' }
  const unknown = await ask('GET', '/mision', { headers: typed })
  expect([unknown.status, unknown.headers['content-type']]).toEqual([404, 'text/html; charset=utf-8'])
  expect(unknown.text).toContain('There is no page at this address')
  const stranger = await ask('GET', '/mision', { headers: typed, token: null })
  expect([stranger.status, stranger.text]).toEqual([404, unknown.text])
  const closed = await ask('GET', '/api/toys/bear', { headers: typed, token: null })
  expect([closed.status, closed.headers['content-type']]).toEqual([401, 'text/html; charset=utf-8'])
  const program = await ask('GET', '/mision', { token: null })
  expect([program.status, program.json.error.code]).toEqual([401, 'unauthorized'])
})

test('an unexpected error shows no stack and no message, only an id that is in the log', async () => {
  const { ask, log, said } = await aToyServer()
  const { status, json, text } = await ask('POST', '/api/toys/bear/break', { body: { words: 'inner workings' } })
  expect(status).toBe(500)
  expect(text).not.toMatch(/inner workings|\.ts/)
  expect(log()).toContain(json.error.id)
  expect(log()).toContain('inner workings')
  expect(said.some(line => line.includes(json.error.id))).toBe(true)
})

test('the OpenAPI document describes every operation', async () => {
  const { ask } = await aToyServer()
  const { json } = await ask('GET', '/api/openapi.json')
  expect(json.openapi).toBe('3.1.0')
  const { get } = json.paths['/api/toys/{toy_id}']
  expect(get.operationId).toBe('echo_query')
  expect(
    get.parameters.map((p: { name: string; in: string; required: boolean }) => [p.name, p.in, p.required]),
  ).toEqual([
    ['toy_id', 'path', true],
    ['limit', 'query', false],
    ['live', 'query', false],
    ['tags', 'query', false],
    ['colour', 'query', false],
  ])
  expect(json.paths['/api/toys'].post.requestBody.content['application/json'].schema.required).toEqual(['title'])
  expect(json.paths['/api/toys/{toy_id}/stream'].get.responses['200'].content).toHaveProperty('text/event-stream')
})
