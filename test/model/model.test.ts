import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { type Model, type Step, startModel, steps } from './index.ts'
import { momentAt, scriptIn } from './scenario.ts'

let model: Model
beforeEach(async () => {
  model = await startModel()
})
afterEach(() => model.close())

const TOOLS = [{ name: 'Write' }, { name: 'Bash' }]

/** Requests the turn after this many others. */
async function ask(script: Step[], turnsTaken = 0, more: object = {}) {
  const taken = Array.from({ length: turnsTaken }, () => [
    { role: 'assistant', content: [{ type: 'text', text: 'x' }] },
    { role: 'user', content: [{ type: 'tool_result', content: steps({ say: 'of a tool, not of the user' }) }] },
  ])
  const messages = [{ role: 'user', content: `Do it.\n${steps(...script)}` }, ...taken.flat()]
  return fetch(`${model.url}/v1/messages`, {
    method: 'POST',
    body: JSON.stringify({ messages, tools: TOOLS, ...more }),
  })
}
const contentOf = async (response: Promise<Response>) =>
  ((await (await response).json()) as { content: unknown[] }).content

test('the step is the number of turns in the request itself', async () => {
  const script: Step[] = [{ write: 'a', content: 'b' }, { run: 'ls' }, { say: 'bye' }]
  expect(await contentOf(ask(script, 1))).toMatchObject([{ type: 'tool_use', name: 'Bash', input: { command: 'ls' } }])
  expect(await contentOf(ask(script, 0))).toMatchObject([{ name: 'Write', input: { file_path: 'a', content: 'b' } }])
  expect(await contentOf(ask(script, 2))).toMatchObject([{ type: 'text', text: 'bye' }])
  expect(await contentOf(ask(script, 3))).toMatchObject([{ type: 'text', text: 'Done.' }])
})

test('a failure is no turn: it is used up or lasts', async () => {
  const twice: Step[] = [{ fail: 429, times: 2, retryAfter: 1 }, { say: 'fine' }]
  const first = await ask(twice)
  expect([first.status, first.headers.get('retry-after')]).toEqual([429, '1'])
  expect((await ask(twice)).status).toBe(429)
  expect(await contentOf(ask(twice))).toMatchObject([{ text: 'fine' }])
  for (let i = 0; i < 4; i++) expect((await ask([{ fail: 500 }])).status).toBe(500)
})

test('what is streamed is what is said at once', async () => {
  const response = await ask([{ think: 'hm', run: 'echo "ä"', tokens: { input: 7, output: 9 } }], 0, { stream: true })
  const events = (await response.text())
    .split('\n')
    .filter(line => line.startsWith('data: '))
    .map(line => JSON.parse(line.slice(6)))
  expect(events.map(event => event.type)).toEqual([
    'message_start',
    ...['content_block_start', 'content_block_delta', 'content_block_delta', 'content_block_stop'],
    ...['content_block_start', 'content_block_delta', 'content_block_delta', 'content_block_stop'],
    ...['message_delta', 'message_stop'],
  ])
  const json = events.map(event => event.delta?.partial_json ?? '').join('')
  expect(JSON.parse(json).command).toBe('echo "ä"')
  expect(events.find(event => event.type === 'message_delta').usage).toMatchObject({
    input_tokens: 7,
    output_tokens: 9,
  })
})

test('a request without tools is not the script', async () => {
  expect(await contentOf(ask([{ fail: 500 }], 0, { tools: [] }))).toMatchObject([{ text: 'No script was given.' }])
})

test('the small questions are answered and everything is recorded', async () => {
  expect((await fetch(`${model.url}/api/hello`, { method: 'HEAD' })).status).toBe(200)
  expect((await fetch(`${model.url}/v1/models`)).status).toBe(200)
  const counted = await fetch(`${model.url}/v1/messages/count_tokens`, { method: 'POST', body: '{"messages":[]}' })
  expect(await counted.json()).toEqual({ input_tokens: expect.any(Number) })
  expect((await fetch(`${model.url}/nowhere`)).status).toBe(404)
  expect(model.requests.map(({ method, path }) => `${method} ${path}`)).toEqual([
    'HEAD /api/hello',
    'GET /v1/models',
    'POST /v1/messages/count_tokens',
    'GET /nowhere',
  ])
})

test('a hanging turn ends with the client or the server', async () => {
  const waiting = ask([{ hang: true }]).catch(error => error)
  while (!model.requests.length) await new Promise(setImmediate)
  await model.close()
  expect(await waiting).toBeInstanceOf(Error)
  model = await startModel()
})

test('the newest script counts, also one with another inside it', () => {
  const outer = steps({ tool: 'Task', input: { prompt: `p\n${steps({ say: 'inner' })}` } })
  expect(scriptIn(`${steps({ say: 'old' })}\n${outer}\nrest`)?.script).toMatchObject([{ tool: 'Task' }])
  expect(scriptIn(`${steps({ say: 'a]b' })} and more [text]`)?.script).toEqual([{ say: 'a]b' }])
  expect(scriptIn('no script')).toBeUndefined()
})

test('failures belong to the turn they stand before', () => {
  const script: Step[] = [{ say: 'a' }, { fail: 500 }, { fail: 401 }, { say: 'b' }, { fail: 429 }]
  expect(momentAt(script, 0).failures).toEqual([])
  expect(momentAt(script, 1)).toEqual({ turn: { say: 'b' }, failures: [{ fail: 500 }, { fail: 401 }] })
  expect(momentAt(script, 2).failures).toEqual([{ fail: 429 }])
  expect(momentAt(script, 3).failures).toEqual([])
})

test('a script that cannot be read is refused with a reason', async () => {
  const messages = [{ role: 'user', content: '[[steps]] {"say":' }]
  const response = await fetch(`${model.url}/v1/messages`, {
    method: 'POST',
    body: JSON.stringify({ messages, tools: TOOLS }),
  })
  expect([response.status, await response.text()]).toEqual([400, expect.stringContaining('not a script')])
})

test('it runs as a program of its own', async () => {
  const node = join(import.meta.dirname, '../../node_modules/.bin/node')
  const program = spawn(node, [join(import.meta.dirname, 'main.ts'), '--port', '0'], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const [printed] = await once(program.stdout, 'data')
  expect((await fetch(`${String(printed).trim()}/v1/models`)).status).toBe(200)
  program.kill()
  await once(program, 'exit')
})
