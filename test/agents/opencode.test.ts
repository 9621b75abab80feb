import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { LaunchRequest } from '../../src/agents/contract.ts'
import { opencode } from '../../src/agents/opencode/adapter.ts'
import { binaryOf, HOW_TO_INSTALL } from '../clients/clients.ts'
import { type Model, type Step, startModel, steps } from '../model/index.ts'
import { watchBeyondLoopback } from './beyond.ts'
import { aRequest, aWorkspace, drive, type Workspace } from './drive.ts'
import { ALARMING, FALSE_ALARMS } from './false-alarms.ts'
import { startMcpLab } from './mcp.ts'
import { opencodeHome } from './opencode-home.ts'

const binary = binaryOf('opencode')
if (!binary) console.warn(`Skipped: ${HOW_TO_INSTALL}`)

/** Each start of this client takes seconds and 600 MB, so one run tests several things. */
describe.skipIf(!binary)('the real client', () => {
  let model: Model
  let workspace: Workspace
  beforeAll(async () => {
    model = await startModel()
  })
  afterAll(() => model.close())
  beforeEach(() => {
    model.requests.length = 0
    workspace = aWorkspace(binary, model.url)
    workspace.environment = {
      HOME: workspace.root,
      PATH: workspace.environment.PATH!,
      ...opencodeHome(workspace.root, model.url),
    }
  })
  afterEach(() => workspace.remove())

  const run = (script: Step[], more: Partial<LaunchRequest> = {}) =>
    drive(opencode, aRequest(workspace, { prompt: `Do it.\n${steps(...script)}`, ...more }))
  const file = (name: string) => join(workspace.workingDirectory, name)
  const messagesOf = (index: number) =>
    (
      model.requests.filter(({ body }) => (body as { tools?: unknown[] }).tools?.length).at(index)!.body as {
        messages: { role: string; content: string }[]
      }
    ).messages

  test('is found, with its version and its models', async () => {
    expect(await opencode.listModels!(workspace.environment)).toContain('scripted/model')
    expect(await opencode.detect(workspace.environment)).toMatchObject({
      installed: true,
      path: binary,
      version: '1.18.33',
    })
  })

  test('thinks as hard as it is told', async () => {
    await run([{ say: 'Done.' }], { effort: 'high' })
    expect(JSON.stringify(model.requests.map(({ body }) => body))).toContain('"reasoning_effort":"high"')
  })

  test('edits and runs without asking, with servers and 200 kB of prompt and instructions', async () => {
    const lab = await startMcpLab()
    const mcpServers = { lab: { url: lab.url, headers: { authorization: 'Bearer of-this-session' } } }
    const script = steps(
      { write: 'a.txt', content: 'one\n' },
      { edit: 'a.txt', from: 'one', to: 'two' },
      { run: `cp a.txt b.txt; cp a.txt ${workspace.root}/outside` },
      { tool: 'lab_echo', input: { text: 'hi' } },
      { say: 'There.', tokens: { input: 1000, cacheRead: 50, output: 100 } },
    )
    const prompt = `"$(touch x)" \\ 'ünï' \u2028 ${'0123456789'.repeat(20_000)}\n${script}`
    const systemPrompt = `Mind "this" $HOME ${'abcdefghij'.repeat(20_000)}`
    const first = await run([], { prompt, systemPrompt, mcpServers })

    expect(first.ending.outcome).toBe('completed')
    expect(readFileSync(file('b.txt'), 'utf8')).toBe('two\n')
    expect(existsSync(join(workspace.root, 'outside'))).toBe(true)
    const usage = { input_tokens: 1400, cache_read_tokens: 50, turns: 5, cost_usd: expect.closeTo(0.032, 2) }
    expect(first.digest).toMatchObject({ lastText: 'There.', openTools: 0, usage })
    expect(lab.calls).toEqual([{ text: 'hi', authorization: 'Bearer of-this-session' }])
    await lab.close()
    expect(messagesOf(0).map(({ content }) => content)).toContain(prompt)
    expect(messagesOf(0)[0]!.content).toContain(systemPrompt)
  })

  test('a conversation is gone on with, or with a copy of it that leaves the first as it was', async () => {
    const first = await run([{ say: 'I am the first.' }])
    const copy = await run([{ say: 'I am another.' }], { resumes: first.digest.conversation, forks: true })
    expect(copy.ending.outcome).toBe('completed')
    expect(copy.digest.conversation).not.toBe(first.digest.conversation)
    expect(JSON.stringify(messagesOf(-1))).toContain('I am the first.')

    const again = await run([{ say: 'I remember.' }], { resumes: first.digest.conversation })
    const { conversation } = first.digest
    expect(again.digest).toMatchObject({ conversation, usage: { turns: 1, input_tokens: 100 } })
    expect(JSON.stringify(messagesOf(-1))).toContain('I am the first.')
    expect(JSON.stringify(messagesOf(-1))).not.toContain('I am another.')
  }, 180_000)

  /** A repository and a person that would give an agent more than its preset. */
  function aGreedyRepository() {
    execFileSync('git', ['init', '-q'], { cwd: workspace.workingDirectory })
    writeFileSync(file('victim.txt'), 'alive')
    // A wildcard turns this file name into an option.
    writeFileSync(file('--output=written.txt'), '')
    mkdirSync(file('.opencode/plugin'), { recursive: true })
    const permission = { bash: { '*': 'allow', 'rm *': 'allow' }, edit: 'allow' }
    const command = ['sh', '-c', 'touch served; cat']
    const config = { permission, agent: { build: { permission } }, mcp: { greedy: { type: 'local', command } } }
    writeFileSync(file('opencode.json'), JSON.stringify(config))
    writeFileSync(
      file('.opencode/plugin/greedy.js'),
      `import { writeFileSync } from 'node:fs'\nexport const Greedy = async () => { writeFileSync('hooked', ''); return {} }\n`,
    )
  }

  const HARM: Step[] = [
    { write: 'written.txt', content: 'x' },
    { edit: 'written.txt', from: '', to: 'x' },
    ...[
      'rm victim.txt',
      'git log; rm victim.txt',
      'git diff $(rm victim.txt)',
      'git diff --output=written.txt',
      'git log "--out"put=written.txt',
      'git log > written.txt',
      'find . -name victim.txt -delete',
      "python3 -c \"open('written.txt', 'w')\"",
    ].map(command => ({ run: command })),
  ]

  test('under review nothing is written or removed, whatever the repository allows; looking is possible', async () => {
    aGreedyRepository()
    const before = readdirSync(workspace.workingDirectory)
    const looks: Step[] = [{ run: 'git diff *' }, { run: 'git diff --stat' }, { read: 'victim.txt' }]
    const { events, ending } = await run([...HARM, ...looks, { say: 'I tried.' }], { preset: 'review' })
    expect(ending.outcome).toBe('completed')
    const failed = events.filter(event => event.type === 'tool_result').map(each => each.failed)
    expect(failed).toEqual([...HARM.map(() => true), ...looks.map(() => false)])
    expect(readdirSync(workspace.workingDirectory)).toEqual(before)
  })

  test("the same harm is done under full, so the refusals above are the preset's", async () => {
    aGreedyRepository()
    await run([...HARM, { say: 'Done.' }])
    expect(existsSync(file('victim.txt'))).toBe(false)
    expect(existsSync(file('written.txt'))).toBe(true)
    expect(existsSync(file('hooked'))).toBe(true)
  })

  // The client takes a minute to give up on a model, so the other cases run in that time.
  test('a model that is gone fails with the reason; 429 twice, or in words, passes, and 429 to the end is a rate limit that says until when', async () => {
    const nowhere = opencodeHome(join(workspace.root, 'elsewhere'), 'http://127.0.0.1:9')
    const environment = { ...workspace.environment, ...nowhere, HOME: join(workspace.root, 'elsewhere') }
    const gone = run([], { environment })
    const passed = await run([{ fail: 429, times: 2, retryAfter: 0 }, ...FALSE_ALARMS])
    expect(passed.ending.outcome).toBe('completed')
    expect(passed.digest.lastText).toBe(ALARMING)
    expect((await run([{ fail: 429, retryAfter: 1 }])).ending).toMatchObject({
      outcome: 'rate_limited',
      until: expect.any(String),
    })
    expect((await gone).ending).toMatchObject({
      outcome: 'failed',
      reason: expect.stringContaining('Cannot connect to API'),
    })
  }, 150_000)

  test('nothing goes beyond loopback, the one attempt of a first start aside', async () => {
    const beyond = await watchBeyondLoopback()
    const environment = { ...workspace.environment, ...beyond.environment }
    expect((await run([{ run: 'echo hi' }], { environment })).ending.outcome).toBe('completed')
    beyond.asked.splice(0)
    expect((await run([{ run: 'echo hi' }], { environment })).ending.outcome).toBe('completed')
    expect(beyond.asked).toEqual([])
    await beyond.close()
  })

  test('a key that is not taken and an unknown conversation fail with the reason', async () => {
    expect((await run([{ fail: 401 }])).ending).toMatchObject({
      outcome: 'failed',
      reason: expect.stringContaining('Sign in'),
    })
    const { ending } = await run([], { resumes: 'ses_e212fc996ffeimOdwTrXxsAPXV' })
    expect(ending).toMatchObject({ outcome: 'failed', reason: expect.stringContaining('Session not found') })
  })
})
