import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { agy } from '../../src/agents/agy.ts'
import type { LaunchRequest } from '../../src/agents/contract.ts'
import { CustomDeclaration, customAgent } from '../../src/agents/custom/adapter.ts'
import { aRequest, aWorkspace, drive, type Workspace } from './drive.ts'
import { startMcpLab } from './mcp.ts'
import { LINER, STAND_INS } from './stand-ins.ts'

let workspace: Workspace
beforeEach(() => {
  workspace = aWorkspace(join(STAND_INS, 'agy'))
})
afterEach(() => workspace.remove())
const file = (name: string) => join(workspace.workingDirectory, name)
const liner = customAgent(CustomDeclaration.parse(LINER))
const request = (prompt: string, more: Partial<LaunchRequest> = {}) => aRequest(workspace, { prompt, ...more })

test('a declared agent is found, edits and runs, and is read as its declaration says', async () => {
  expect(await liner.detect(workspace.environment)).toEqual({
    ...{ installed: true, path: join(STAND_INS, 'liner'), version: '3.2.1' },
  })
  const { events, digest, ending } = await drive(liner, request('do: echo hi >a.txt', { model: 'large' }))
  expect(ending).toMatchObject({ outcome: 'completed' })
  expect(readFileSync(file('a.txt'), 'utf8')).toBe('hi\n')
  expect(events).toEqual([
    { type: 'started', conversation: 't-1', model: null },
    { type: 'tool_call', id: 'c1', name: 'sh', input: { lines: 1 } },
    { type: 'tool_result', id: 'c1', output: 'ran', failed: false },
    {
      type: 'usage',
      usage: expect.objectContaining({ input_tokens: 100, output_tokens: 20, cost_usd: 0.25 }),
      counts: 'more',
    },
    { type: 'result', ok: true, text: 'I ran it.', reason: null },
  ])
  expect(digest).toMatchObject({ conversation: 't-1', openTools: 0, usage: { cost_usd: 0.25 } })
})

test('what it can do follows from what was declared', () => {
  expect(liner.can).toMatchObject({
    resume: true,
    cost: 'money',
    mcp: 'http',
    presets: ['full', 'review'],
    fork: false,
  })
  const bare = customAgent(
    CustomDeclaration.parse({ name: 'bare', kind: 'custom', command: ['bare', '{prompt_file}'] }),
  )
  expect(bare.can).toMatchObject({ resume: false, cost: 'none', mcp: 'no', presets: ['full'] })
})

test('a size of its context window is of use only with a rule that says how much of it is used', () => {
  const declared = (events: object[]) => CustomDeclaration.safeParse({ ...LINER, context_limit: 1000, events })
  expect(declared(LINER.events).error?.issues[0]).toMatchObject({ path: ['context_limit'] })
  const filled = declared([...LINER.events, { event: 'context', used: 'used' }])
  const agent = customAgent(filled.data!)
  expect(agent.can).toMatchObject({ contextWindow: true, usage: 'while working' })
  expect(agent.read('{"used":7}', 'stdout')).toEqual([{ type: 'context', used: 7, window: 1000 }])
})

test('arguments are added where they are wanted, each as one word', async () => {
  const lab = await startMcpLab()
  const mcpServers = { lab: { url: lab.url, headers: { a: 'b' } } }
  const wanted = request('Do it.', { model: 'a b; rm -rf $HOME', resumes: 't-1', preset: 'review', mcpServers })
  const { argv, files } = liner.launch(wanted)
  expect(argv.slice(argv.indexOf('liner'))).toEqual([
    ...['liner', '--read-only', '--model', 'a b; rm -rf $HOME', '--continue=t-1'],
    ...['--mcp', `${wanted.directory}/mcp.json`],
  ])
  expect(JSON.parse(files['mcp.json'] as string)).toEqual({
    mcpServers: { lab: { type: 'http', url: lab.url, headers: { a: 'b' } } },
  })
  await lab.close()
})

test('tools of a server given are called by a declared agent, with the headers given', async () => {
  const lab = await startMcpLab()
  const wanted = request('', { mcpServers: { lab: { url: lab.url, headers: { authorization: 'Bearer mine' } } } })
  const call = join(import.meta.dirname, '../fixtures/call-echo.mjs')
  const { ending } = await drive(liner, { ...wanted, prompt: `do: node ${call} ${wanted.directory}/mcp.json hi` })
  expect(ending.outcome).toBe('completed')
  expect(lab.calls).toEqual([{ text: 'hi', authorization: 'Bearer mine' }])
  await lab.close()
})

test.each<[string, Partial<LaunchRequest>, RegExp]>([
  ['a preset it has no arguments for', { preset: 'explore' }, /cannot be held to the preset explore/],
  ['a list of tools', { allowedTools: ['Read'] }, /cannot be held to a list of tools/],
  ['a number of turns that nobody could count', { maxTurns: 3 }, /cannot be held to a limit of turns/],
  ['asking a person', { approvals: 'ask' }, /cannot ask for permission/],
  ['a copy of a conversation', { resumes: 't-1', forks: true }, /cannot continue a copy/],
])('%s is refused', (_what, more, sentence) => {
  expect(() => liner.launch(request('Do it.', more))).toThrow(sentence)
})

test('only what is named reaches it', () => {
  const environment = { ...workspace.environment, SECRET: 'canary', LINER_KEY: 'mine' }
  expect(liner.launch(request('Do it.', { environment })).env).toEqual({
    ...{ HOME: workspace.root, PATH: workspace.environment.PATH, LINER_KEY: 'mine', LINER_QUIET: '1' },
  })
})

test('failing says so, ending without a word is no success, and a limit is known by its line', async () => {
  expect((await drive(liner, request('do: exit 3'))).ending).toMatchObject({ outcome: 'failed', reason: 'I ran it.' })
  const silent = customAgent(CustomDeclaration.parse({ ...LINER, command: ['true'] }))
  expect((await drive(silent, request(''))).ending).toMatchObject({ outcome: 'failed' })
  const limited = { kind: 'wait', until: 1_900_000_000, words: 'Slow down.' }
  const script = `#!/bin/sh\necho '${JSON.stringify(limited)}'\nexit 1\n`
  writeFileSync(file('limited'), script, { mode: 0o755 })
  const slow = customAgent(CustomDeclaration.parse({ ...LINER, command: [file('limited')] }))
  expect((await drive(slow, request(''))).ending).toEqual({
    outcome: 'rate_limited',
    reason: "The provider's rate limit was reached. Slow down.",
    until: new Date(1_900_000_000_000).toISOString(),
  })
})

test('200 kB of prompt and instructions arrive byte for byte', async () => {
  const prompt = `"$(touch x)" \\ 'ünï' \u2028 ${'0123456789'.repeat(20_000)}\ndo: true`
  const copier = customAgent(
    CustomDeclaration.parse({
      name: 'cp',
      kind: 'custom',
      command: ['cp', '{prompt_file}', '{working_directory}/got'],
    }),
  )
  await drive(copier, request(prompt, { systemPrompt: 'Mind "this".' }))
  expect(readFileSync(file('got'), 'utf8')).toBe(`Mind "this".\n\n${prompt}`)
})

test('agy, by its stand-in: found, told 200 kB by a file, edits and runs, and is read as plain text', async () => {
  expect(await agy.detect(workspace.environment)).toMatchObject({ installed: true, path: join(STAND_INS, 'agy') })
  const prompt = `${'x'.repeat(200_000)}\ndo: echo made >a.txt; echo 'All done.'`
  const { ending, digest, events } = await drive(agy, request(prompt))
  expect(ending.outcome).toBe('completed')
  expect(readFileSync(file('a.txt'), 'utf8')).toBe('made\n')
  expect(events[0]).toEqual({ type: 'text', text: `I read ${prompt.length} bytes.` })
  expect(digest.lastText).toBe('All done.')
})

test('agy, by its stand-in: JSON where it prints that, and a failure with its last words', async () => {
  const tool = '{"type":"tool_use","tool_id":"1","tool_name":"write_file","parameters":{"path":"a"}}'
  const odd = '{"progress": 3}'
  const { events, ending } = await drive(
    agy,
    request(`do: echo '${tool}'; echo '${odd}'; echo 'no space left' >&2; exit 4`),
  )
  expect(events).toContainEqual({ type: 'tool_call', id: '1', name: 'write_file', input: { path: 'a' } })
  expect(events).toContainEqual({ type: 'text', text: odd })
  expect(ending).toMatchObject({ outcome: 'failed', reason: expect.stringContaining('no space left') })
})

test('agy is held to nothing but full by itself, and to no number of turns', () => {
  expect(() => agy.launch(request('Do it.', { maxTurns: 3 }))).toThrow(/cannot be held to a limit of turns/)
  expect(agy.can.presets).toEqual(['full'])
  expect(() => agy.launch(request('Do it.', { preset: 'review' }))).toThrow(/cannot be held to the preset review/)
})
