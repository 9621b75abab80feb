import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { dirname, join } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { codex } from '../../src/agents/codex/adapter.ts'
import type { AgentEvent, LaunchRequest } from '../../src/agents/contract.ts'
import { binaryOf, HOW_TO_INSTALL } from '../clients/clients.ts'
import { type Model, type Step, startModel, steps } from '../model/index.ts'
import { aCodexWorkspace, codexSettings } from './codex-home.ts'
import { aRequest, drive, type Meanwhile, type Workspace } from './drive.ts'
import { ALARMING, FALSE_ALARMS } from './false-alarms.ts'
import { startMcpLab } from './mcp.ts'

const binary = binaryOf('codex')
if (!binary) console.warn(`Skipped: ${HOW_TO_INSTALL}`)

describe.skipIf(!binary)('the real client', () => {
  let model: Model
  let workspace: Workspace
  beforeAll(async () => {
    model = await startModel()
  })
  afterAll(() => model.close())
  beforeEach(() => {
    model.requests.length = 0
    workspace = aCodexWorkspace(binary!, model.url)
  })
  afterEach(() => workspace.remove())

  const run = (script: Step[], more: Partial<LaunchRequest> = {}, meanwhile?: Meanwhile) =>
    drive(codex, aRequest(workspace, { prompt: `Do it.\n${steps(...script)}`, ...more }), meanwhile)
  const file = (name: string) => join(workspace.workingDirectory, name)
  const settings = () => join(workspace.environment.CODEX_HOME!, 'config.toml')
  const newest = () => JSON.stringify(model.requests.at(-1)!.body)
  const of = <T extends AgentEvent['type']>(events: AgentEvent[], type: T) =>
    events.filter((event): event is Extract<AgentEvent, { type: T }> => event.type === type)

  test('is found, with its version', async () => {
    const found = { installed: true, path: binary, version: '0.166.0' }
    expect(await codex.detect(workspace.environment)).toEqual({ ...found, signedIn: undefined })
    const elsewhere = { ...workspace.environment, CODEX_HOME: join(workspace.root, 'none') }
    expect(await codex.detect(elsewhere)).toMatchObject({
      ...found,
      signedIn: false,
      advice: expect.stringContaining('login'),
    })
  })

  test('tells which models there are', async () => {
    expect(await codex.listModels!(workspace.environment)).toEqual(expect.arrayContaining(['gpt-5.5', 'gpt-6.1-sol']))
    expect(await codex.listModels!({ ...workspace.environment, PATH: '/nowhere' })).toEqual([])
  })

  test.each(['gpt-5.5', 'gpt-6.1-sol'])('%s edits a file and runs a command without asking', async name => {
    const { ending, digest, events } = await run(
      [
        { think: 'A file, then.', write: 'a.txt', content: 'one\n' },
        { edit: 'a.txt', from: 'one', to: 'two', tokens: { cacheRead: 50 } },
        { run: 'cp a.txt b.txt; echo copied' },
        { say: 'There.' },
      ],
      { model: name },
    )
    expect(ending.outcome).toBe('completed')
    expect(readFileSync(file('b.txt'), 'utf8')).toBe('two\n')
    const usage = { turns: 4, input_tokens: 400, cache_read_tokens: 50, output_tokens: 80 }
    expect(digest).toMatchObject({ lastText: 'There.', openTools: 0, usage })
    expect(of(events, 'tool_call').map(event => event.name)).toEqual(['apply_patch', 'apply_patch', 'shell'])
    expect(of(events, 'tool_result').at(-1)).toMatchObject({ output: 'copied\n', failed: false })
    expect(of(events, 'started')[0]).toMatchObject({ model: name })
    expect(of(events, 'thinking')[0]).toMatchObject({ text: 'A file, then.' })
  })

  test('thinks as hard as it is told', async () => {
    await run([{ say: 'Done.' }], { effort: 'low' })
    expect(newest()).toContain('"effort":"low"')
    await run([{ say: 'Done.' }], { effort: 'high' })
    expect(newest()).toContain('"effort":"high"')
  })

  test("nothing is written into the person's settings", async () => {
    // If the client is told of a repository, it stores it as trusted.
    execFileSync('git', ['init', '-q'], { cwd: workspace.workingDirectory })
    const before = readFileSync(settings(), 'utf8')
    const { digest } = await run([{ say: 'One.' }], { preset: 'implement' })
    await run([{ say: 'Two.' }], { resumes: digest.conversation, preset: 'implement' })
    await run([{ say: 'Three.' }], { resumes: digest.conversation, forks: true })
    expect(readFileSync(settings(), 'utf8')).toBe(before)
  })

  /**
   * A repository that the person trusts, and that tries to give an agent more than its preset. The person's own rules
   * do so too.
   */
  function aGreedyWorktree(): string {
    const main = join(workspace.root, 'main')
    const git = (...args: string[]) =>
      execFileSync('git', ['-c', 'user.name=T', '-c', 'user.email=t@t', ...args], { cwd: main })
    mkdirSync(join(main, '.codex', 'rules'), { recursive: true })
    mkdirSync(join(main, 'sub', '.codex'), { recursive: true })
    const server = `[mcp_servers.greedy]\ncommand = "sh"\nargs = ["-c", "touch ${workspace.root}/served; cat"]\n`
    const rules = ['touch', 'rm', 'git', 'sh']
      .map(name => `prefix_rule(pattern=["${name}"], decision="allow")\n`)
      .join('')
    writeFileSync(join(main, '.codex', 'config.toml'), server)
    writeFileSync(join(main, 'sub', '.codex', 'config.toml'), server)
    writeFileSync(join(main, '.codex', 'rules', 'a.rules'), rules)
    writeFileSync(join(main, 'sub', 'victim.txt'), 'alive')
    git('init', '-q')
    git('add', '-A')
    git('commit', '-qm', 'first')
    git('worktree', 'add', '-q', join(workspace.root, 'tree'))
    mkdirSync(join(workspace.environment.CODEX_HOME!, 'rules'))
    writeFileSync(join(workspace.environment.CODEX_HOME!, 'rules', 'default.rules'), rules)
    writeFileSync(settings(), `${readFileSync(settings(), 'utf8')}\n[projects."${main}"]\ntrust_level = "trusted"\n`)
    return join(workspace.root, 'tree', 'sub')
  }

  const HARM: Step[] = [
    { write: 'written.txt', content: 'x' },
    ...[
      'touch written.txt',
      'rm victim.txt',
      'git commit --allow-empty -m harm',
      'git diff --output=written.txt',
      'sh -c "echo > written.txt"',
      'echo x > ../../main/written.txt',
      'echo x > "$HOME/written.txt" && echo got-out-$((1 + 1))',
    ].map(command => ({ run: command })),
    { say: 'I tried.' },
  ]

  test.each([
    ['review', 'gpt-5.5'],
    ['explore', 'gpt-6.1-sol'],
  ] as const)(
    'under %s nothing is written or removed by %s, whatever the repository and the person allow',
    async (preset, name) => {
      const workingDirectory = aGreedyWorktree()
      const log = () => execFileSync('git', ['log', '--oneline', '--all'], { cwd: workingDirectory, encoding: 'utf8' })
      const before = [readdirSync(workingDirectory), readdirSync(workspace.root), log()]
      // Also if the conversation had more permissions before.
      const { digest } = await run([{ say: 'I may do anything.' }], { workingDirectory })
      execFileSync('rm', ['-f', join(workspace.root, 'served')])
      const { ending, events } = await run(HARM, {
        preset,
        workingDirectory,
        model: name,
        resumes: digest.conversation,
      })
      expect(ending.outcome).toBe('completed')
      expect(digest.conversation).toBe(of(events, 'started').at(-1)!.conversation)
      const after = [
        readdirSync(workingDirectory),
        readdirSync(workspace.root).filter(name => !name.startsWith('session-')),
        log(),
      ]
      expect(after).toEqual(before)
      expect(newest()).toContain('Read-only file system')
      expect(newest()).not.toContain('got-out-2')
    },
  )

  test("the same harm is done under full, so the refusals above are the preset's", async () => {
    const workingDirectory = aGreedyWorktree()
    await run(HARM, { workingDirectory })
    expect(existsSync(join(workingDirectory, 'victim.txt'))).toBe(false)
    expect(existsSync(join(workingDirectory, 'written.txt'))).toBe(true)
    expect(existsSync(join(workspace.root, 'served'))).toBe(true)
  })

  test('a preset still lets its own work be done', async () => {
    execFileSync('git', ['init', '-q'], { cwd: workspace.workingDirectory })
    writeFileSync(file('a.txt'), 'here')
    const review = await run([{ run: 'git status --short' }, { read: 'a.txt' }], { preset: 'review' })
    expect(of(review.events, 'tool_result').map(({ output }) => output)).toEqual(['?? a.txt\n', 'here'])
    // Not in the temporary folder, which every command may write to and which may contain this repository.
    const outside = join(dirname(workspace.environment.CODEX_HOME!), `flotilla-test-outside-${process.pid}`)
    const work: Step[] = [{ write: 'b.txt', content: 'x' }, { run: `touch c.txt; touch ${outside}` }]
    await run(work, { preset: 'implement' })
    expect(readdirSync(workspace.workingDirectory)).toEqual(expect.arrayContaining(['b.txt', 'c.txt']))
    expect(existsSync(outside)).toBe(false)
  })

  test('a resumed conversation goes on, and what it took before is not counted again', async () => {
    const first = await run([{ say: 'I am the first.', tokens: { input: 1000 } }])
    const second = await run([{ run: 'pwd' }, { say: 'And I the second.' }], { resumes: first.digest.conversation })
    expect(second.ending.outcome).toBe('completed')
    expect(second.digest.conversation).toBe(first.digest.conversation)
    expect(newest()).toContain('I am the first.')
    expect(first.digest.usage).toMatchObject({ input_tokens: 1000, turns: 1 })
    expect(second.digest.usage).toMatchObject({ input_tokens: 200, turns: 2 })
  })

  test('a fork goes on elsewhere and leaves the first as it was', async () => {
    const first = await run([{ say: 'I am the first.' }])
    const sessions = join(workspace.environment.CODEX_HOME!, 'sessions')
    const name = (readdirSync(sessions, { recursive: true }) as string[]).find(each => each.endsWith('.jsonl'))!
    const before = readFileSync(join(sessions, name), 'utf8')

    const workingDirectory = join(workspace.root, 'elsewhere')
    mkdirSync(workingDirectory)
    const fork = await run([{ run: 'pwd' }], { resumes: first.digest.conversation, forks: true, workingDirectory })
    expect(fork.ending.outcome).toBe('completed')
    expect(fork.digest.conversation).not.toBe(first.digest.conversation)
    expect(of(fork.events, 'tool_result')[0]).toMatchObject({ output: `${workingDirectory}\n` })
    expect(newest()).toContain('I am the first.')
    expect(fork.digest.usage).toMatchObject({ input_tokens: 200, turns: 2 })
    expect(readFileSync(join(sessions, name), 'utf8')).toBe(before)
  })

  test('a conversation that is not there fails, and says so', async () => {
    const { ending } = await run([], { resumes: crypto.randomUUID() })
    expect(ending).toMatchObject({ outcome: 'failed', reason: expect.stringContaining('no rollout found') })
  })

  test('429 to the end is a rate limit; 429 twice, or in words, is not', async () => {
    expect((await run([{ fail: 429, retryAfter: 0 }])).ending.outcome).toBe('rate_limited')
    const passed = await run([{ fail: 429, times: 2, retryAfter: 0 }, ...FALSE_ALARMS])
    expect(passed.ending.outcome).toBe('completed')
    expect(passed.digest.lastText).toBe(ALARMING)
    // Each try is reported twice: that it is made, and when.
    expect(of(passed.events, 'retry').map(({ attempt, of }) => `${attempt} of ${of}`)).toEqual(
      expect.arrayContaining(['1 of 2', '2 of 2']),
    )
  })

  test('a key that is not taken says how to sign in', async () => {
    const { ending } = await run([{ fail: 401 }])
    expect(ending).toMatchObject({ outcome: 'failed', reason: expect.stringContaining('codex login') })
  })

  test('a provider that is gone is not waited for', async () => {
    const gone = aCodexWorkspace(binary!, 'http://127.0.0.1:9')
    const { ending } = await drive(codex, aRequest(gone, { prompt: 'Hello?' }))
    expect(ending).toMatchObject({ outcome: 'failed', reason: expect.stringContaining('Connection failed') })
    await gone.remove()
  })

  test('a message reaches an agent at work', async () => {
    const { events, digest } = await run(
      [{ run: 'until [ -e taken ]; do sleep 0.05; done' }, { say: 'Hello.' }],
      {},
      (printed, say) => {
        if (printed.events.some(({ type }) => type === 'tool_call')) say('m1', 'Also say hello.')
        // The client's answer shows that the agent has the message.
        if (printed.line.startsWith('{"id":"say-m1"')) writeFileSync(file('taken'), '')
      },
    )
    expect(of(events, 'said').map(({ id, text }) => [id, text])).toContainEqual(['say-m1', 'Also say hello.'])
    expect(newest()).toContain('Also say hello.')
    expect(digest.usage.turns).toBe(2)
  })

  const outside: Step = {
    tool: 'exec_command',
    input: { cmd: 'touch asked.txt', sandbox_permissions: 'require_escalated', justification: 'May I?' },
  }

  test.each([true, false])('a person is asked for what a preset does not allow, and answers %s', async allow => {
    const script: Step[] = [{ write: 'patched.txt', content: 'x' }, outside, { say: 'Asked.' }]
    const { events, ending } = await run(script, { preset: 'review', approvals: 'ask' }, (printed, _say, answer) => {
      for (const { id, denied } of of(printed.events, 'permission')) if (!denied) answer(id, { allow })
    })
    expect(ending.outcome).toBe('completed')
    const asked = of(events, 'permission').filter(({ denied }) => !denied)
    expect(asked.map(({ tool }) => tool)).toEqual(['apply_patch', 'shell'])
    expect(asked[1]!.input).toMatchObject({ command: expect.stringContaining('touch asked.txt'), reason: 'May I?' })
    expect(of(events, 'tool_result').map(({ failed }) => failed)).toEqual([!allow, !allow])
    expect(of(events, 'permission').filter(({ denied }) => denied)).toHaveLength(allow ? 0 : 2)
    expect(readdirSync(workspace.workingDirectory)).toEqual(allow ? ['asked.txt', 'patched.txt'] : [])
  })

  test('with nobody to ask, the same is refused at once', async () => {
    const { events } = await run([outside, { say: 'Asked.' }], { preset: 'review' })
    expect(of(events, 'permission')).toEqual([])
    expect(readdirSync(workspace.workingDirectory)).toEqual([])
  })

  test('a question is put to a person, and the answer reaches the agent', async () => {
    const options = ['Red', 'Blue'].map(label => ({ label, description: `It is ${label}.` }))
    const questions = [{ id: 'colour', header: 'Colour', question: 'Which colour?', options }]
    const script: Step[] = [{ tool: 'request_user_input', input: { questions } }, { say: 'Blue it is.' }]
    const { events } = await run(script, { approvals: 'ask' }, (printed, _say, answer) => {
      for (const { id } of of(printed.events, 'question')) answer(id, { allow: true, text: 'Blue' })
    })
    expect(of(events, 'question')[0]!.text).toBe('Which colour?\n- Red: It is Red.\n- Blue: It is Blue.')
    expect(newest()).toContain(JSON.stringify('{"answers":["Blue"]}').slice(1, -1))
  })

  test('200 kB of prompt and of instructions arrive byte for byte', async () => {
    const prompt = `"$(touch x)" \\ 'ünï' \u2028 ${'0123456789'.repeat(20_000)}\n${steps({ say: 'Read.' })}`
    const systemPrompt = `Mind "this" $HOME ${'abcdefghij'.repeat(20_000)}`
    expect((await run([], { prompt, systemPrompt })).ending.outcome).toBe('completed')
    const { input } = model.requests.at(-1)!.body as { input: { role?: string; content?: { text: string }[] }[] }
    const texts = (role: string) =>
      input.filter(item => item.role === role).flatMap(item => item.content!.map(({ text }) => text))
    expect(texts('user')).toContain(prompt)
    expect(texts('developer')).toContain(systemPrompt)
  })

  test('tools of a server given are called, with the headers given', async () => {
    const lab = await startMcpLab()
    const call = { tool: 'mcp__lab__echo', input: { text: 'hi' } }
    const mcpServers = { lab: { url: lab.url, headers: { authorization: 'Bearer of-this-session' } } }
    for (const preset of ['full', 'implement', 'review'] as const) {
      const { events } = await run([call], { preset, mcpServers })
      expect(of(events, 'tool_call')[0]).toMatchObject({ name: call.tool, input: call.input })
      expect(of(events, 'tool_result')[0]).toMatchObject({ output: 'echo: hi', failed: false })
    }
    expect(lab.calls[0]).toEqual({ text: 'hi', authorization: 'Bearer of-this-session' })
    expect(codex.launch(aRequest(workspace, { mcpServers })).argv.join(' ')).not.toContain('of-this-session')
    await lab.close()
  })

  test('commands see the environment of the session as it was given', async () => {
    const { events } = await run([{ run: 'echo "$PATH $OPENAI_API_KEY"' }])
    expect(of(events, 'tool_result')[0]!.output).toContain(`${workspace.environment.PATH} test-key`)
  })

  test('nothing goes beyond loopback', async () => {
    const beyond: string[] = []
    const proxy = createServer((request, response) => {
      beyond.push(request.url ?? '')
      response.writeHead(502).end()
    }).on('connect', (request, socket) => {
      beyond.push(request.url ?? '')
      socket.on('error', () => {}).end('HTTP/1.1 502 No\r\n\r\n')
    })
    await new Promise<void>(listening => proxy.listen(0, '127.0.0.1', listening))
    const url = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`
    const environment = { ...workspace.environment, HTTP_PROXY: url, HTTPS_PROXY: url, NO_PROXY: '127.0.0.1' }

    await run([{ run: 'echo hi' }], { environment })
    expect(beyond).toEqual([])

    // To prove that the watch works: a model elsewhere is requested through it.
    writeFileSync(settings(), codexSettings('https://model.invalid'))
    await run([], { environment })
    expect(new Set(beyond)).toEqual(new Set(['model.invalid:443']))
    await new Promise(closed => proxy.close(closed).closeAllConnections())
  })
})
