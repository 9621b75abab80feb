import { afterEach, beforeEach, expect, test } from 'vitest'
import { type Model, type Step, startModel, steps } from './index.ts'

let model: Model
beforeEach(async () => {
  model = await startModel()
})
afterEach(() => model.close())

const OUTPUT = { type: 'function_call_output', output: 'x' }
const message = (role: string, text: string) => ({ type: 'message', role, content: [{ type: 'input_text', text }] })

/** Requests the next turn. Returns the items of the answer, and its usage. */
async function ask(
  script: Step[],
  taken: object[] = [],
  tools: object[] = [{ type: 'function', name: 'exec_command' }],
) {
  const input = [message('user', `Do it.\n${steps(...script)}`), ...taken]
  const response = await fetch(`${model.url}/v1/responses`, { method: 'POST', body: JSON.stringify({ input, tools }) })
  const events = (await response.text()).split('\n').filter(line => line.startsWith('data: '))
  const { output, usage } = JSON.parse(events.at(-1)!.slice(6)).response
  return { output, usage }
}

const SCRIPT: Step[] = [
  { think: 'hm', write: 'a', content: 'b\n' },
  { run: 'ls' },
  { tool: 'mcp__lab__echo', input: { text: 'hi' } },
  { say: 'bye' },
]

test('what the model said in one breath is one turn', async () => {
  expect((await ask(SCRIPT)).output).toMatchObject([
    { type: 'reasoning' },
    { type: 'custom_tool_call', name: 'apply_patch' },
  ])
  const first = [{ type: 'reasoning' }, { type: 'custom_tool_call' }, { type: 'custom_tool_call_output', output: 'x' }]
  expect((await ask(SCRIPT, first)).output).toMatchObject([{ type: 'function_call', name: 'exec_command' }])
  const second = [...first, { type: 'function_call' }, OUTPUT]
  expect((await ask(SCRIPT, second)).output).toMatchObject([
    { namespace: 'mcp__lab', name: 'echo', arguments: '{"text":"hi"}' },
  ])
  // A message of the user in between is not a turn.
  const third = [...second, { type: 'function_call' }, OUTPUT, message('user', 'Hurry.')]
  expect((await ask(SCRIPT, third)).output).toMatchObject([{ type: 'message', content: [{ text: 'bye' }] }])
})

test('a model that only writes programs calls its tools from one', async () => {
  const late = { type: 'additional_tools', tools: [{ type: 'custom', name: 'exec' }] }
  const { output } = await ask([{ run: 'echo "ä"' }], [late], [])
  expect(output).toMatchObject([{ type: 'custom_tool_call', name: 'exec' }])
  expect(output[0].input).toContain(JSON.stringify({ cmd: 'echo "ä"', yield_time_ms: 30_000 }))
})

test('cached tokens are part of the input', async () => {
  const { usage } = await ask([{ say: 'hi', tokens: { input: 7, cacheRead: 5, output: 9 } }])
  expect(usage).toMatchObject({ input_tokens: 12, input_tokens_details: { cached_tokens: 5 }, output_tokens: 9 })
})
