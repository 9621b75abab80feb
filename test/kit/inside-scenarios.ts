import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { INSIDE } from '../../src/operations/index.ts'
import { startMcpLab } from '../agents/mcp.ts'
import { type Step, steps } from '../model/index.ts'
import { eventually, NODE, ROOT, type TestFleet } from './fleet.ts'
import { report } from './inside.ts'
import { prompt } from './mission-scenarios.ts'
import type { Scene } from './scene.ts'

type Result = { output: string; failed: boolean }

/** The answers of the tools in a session, in the order of the calls. */
async function resultsOf(fleet: TestFleet, sessionId: string): Promise<Result[]> {
  const stream = await (await fleet.http(`/api/sessions/${sessionId}/stream`)).text()
  return [...stream.matchAll(/^event: tool_result\ndata: (.*)$/gm)].map(([, data]) => JSON.parse(data!) as Result)
}

interface Differing {
  settings?: object
  /** It reports which server did not start, or at least that one did not. */
  saysWhatFails?: boolean
  /** It accepts a variable's name instead of its value, so not even what is sent to it contains secrets. */
  takesNames?: boolean
  /** It calls the server before it uses a tool, and so waits while there is none. */
  waitsForServer?: boolean
}

const STDIO_LAB = join(ROOT, 'test/fixtures/stdio-lab.mjs')
const NAMED = `\${LAB_SECRET}`
const SECRET = 'just-a-name-of-no-use'

/** Everything written about a session, and everything anyone can read about it. */
async function everythingAbout(
  fleet: TestFleet,
  sessionId: string,
  project: { id: string },
  files: readonly string[],
): Promise<string> {
  const folder = `${fleet.fleet.home.session(sessionId)}/agent-1`
  const printed = files.map(name => join(folder, name)).filter(file => existsSync(file))
  const answers = [`/api/sessions/${sessionId}/stream`, `/api/sessions/${sessionId}`, `/api/projects/${project.id}`]
  const told = await Promise.all(answers.map(async path => (await fleet.http(path)).text()))
  const logs = readdirSync(fleet.fleet.home.logs).map(name => join(fleet.fleet.home.logs, name))
  return [...[...printed, ...logs].map(file => readFileSync(file, 'utf8')), ...told].join('\n')
}

/** What any real client must do with the tools of the fleet; `named` is its name for one of them. */
export function insideScenarios(
  named: (tool: string, server?: string) => string,
  scene: () => Promise<Scene>,
  { settings = {}, saysWhatFails = true, takesNames = true, waitsForServer = false }: Differing = {},
): void {
  const use = (tool: string, input: Record<string, unknown> = {}): Step => ({ tool: named(tool), input })

  test('is given the servers of its project in its own form, with secrets that nobody is shown', async () => {
    const lab = await startMcpLab()
    onTestFinished(() => lab.close())
    const { fleet, project } = await scene()
    await fleet.stop()
    await fleet.start({ env: { LAB_SECRET: SECRET } })
    const add = (server: object) => fleet.call('add_mcp_server', { project_id: project.id, ...server })
    await add({ name: 'far', url: lab.url, headers: { Authorization: `Bearer ${NAMED}`, 'X-Lab': 'plain' } })
    await add({ name: 'near', command: [NODE, STDIO_LAB], env: { LAB_SECRET: NAMED } })
    await add({ name: 'broken', command: [NODE, '/nowhere/server.mjs'] })
    const off = await add({ name: 'off', command: [NODE, '/nowhere/off.mjs'] })
    await fleet.call('disable_mcp_server', { server_id: off.id })
    const script = prompt(
      { tool: named('echo', 'far'), input: { text: 'hi' } },
      { tool: named('hint', 'near'), input: {} },
      { write: 'made.txt', content: 'x\n' },
      { say: 'Done.' },
    )
    const { id } = await fleet.mission(project, script, settings)
    const done = await fleet.until(id, 'done', 'failed', 'needs_input')

    expect(done, JSON.stringify(done.status_reason)).toMatchObject({ status: 'done' })
    const session = done.sessions[0]!.id
    expect((await resultsOf(fleet, session)).map(({ output }) => output)).toEqual([
      expect.stringContaining('echo: hi'),
      expect.stringContaining(`begins with ${SECRET.slice(0, 4)}`),
      expect.anything(),
    ])
    expect(lab.calls).toEqual([{ text: 'hi', authorization: `Bearer ${SECRET}` }])
    const everything = await everythingAbout(fleet, session, project, [
      ...['stdout', 'stderr'],
      ...(takesNames ? ['sent'] : []),
    ])
    expect(everything).not.toContain(SECRET)
    expect(everything).not.toContain('The MCP server off')
    if (saysWhatFails)
      expect(everything).toMatch(/"type":"warning","text":"(The MCP server broken|An MCP server) did not start/)
  })

  test('calls every tool of the fleet, is resumed with the reports of its sub-missions and with an answer', async () => {
    const { fleet, repo, project } = await scene()
    const earlier = await fleet.mission(project, 'echo earlier > earlier.txt', { agent: 'shell' })
    await fleet.until(earlier.id, 'done')
    const first: [string, Record<string, unknown>?][] = [
      ['get_mission_context'],
      ['get_project_context'],
      ['get_session_history'],
      ['get_team_context'],
      ['read_past_reports', { mission_id: earlier.id }],
      ['list_project_missions', { status: 'done' }],
      ['note', { text: 'The door is red.' }],
      ['create_sub_mission', { title: 'part', detailed_prompt: 'echo part > part.txt', agent: 'shell' }],
      ['request_review', { description: 'Look at it.', files_to_review: 'made.txt' }],
      ['get_sub_mission_status'],
      ['wait_for_sub_missions'],
    ]
    const script = [
      ...first.map(([tool, input]) => use(tool, input)),
      { say: 'I wait.' },
      use('ask_human', { question: 'Which colour?', wait_seconds: 0 }),
      { say: 'I have asked.' },
    ]
    const { id } = await fleet.mission(project, prompt(...script), settings)
    await fleet.until(id, 'needs_input', 'done', 'failed')
    const asking = await eventually('it is put aside', async () => {
      const mission = await fleet.show(id)
      return mission.sessions.every(({ status }) => status === 'ended') ? mission : undefined
    })

    expect(
      asking.sessions.map(({ outcome }) => outcome),
      JSON.stringify(asking.status_reason),
    ).toEqual(['parked', 'parked'])
    const answers = await resultsOf(fleet, asking.sessions[0]!.id)
    const called = [...first.map(([tool]) => tool), 'ask_human', 'submit_report']
    expect(answers.map(({ failed }, at) => [first[at]![0], failed])).toEqual(first.map(([tool]) => [tool, false]))
    expect(answers[0]!.output).toContain(id)
    expect(answers[4]!.output).toContain('earlier.txt')
    expect(answers[10]!.output).toContain('End your turn now')
    expect(asking.children.map(({ status }) => status)).toEqual(['done', 'done'])
    expect((await resultsOf(fleet, asking.sessions[1]!.id))[0]).toMatchObject({
      output: expect.stringContaining('end your turn, you will be resumed'),
    })

    const last = [use('submit_report', report('painted')), { write: 'door.txt', content: 'blue\n' }, { say: 'Done.' }]
    const { questions } = await fleet.call<{ questions: { id: string }[] }>('list_inbox')
    await fleet.call('answer_question', { question_id: questions[0]!.id, text: `Blue.\n${steps(...last)}` })
    const done = await fleet.until(id, 'done', 'failed', 'needs_input')
    expect(done, JSON.stringify(done.status_reason)).toMatchObject({
      ...{ status: 'done', result: 'landed' },
      report: { source: 'agent', summary: 'painted', next_steps: ['Rest.'] },
    })
    expect(new Set(done.sessions.map(({ conversation }) => conversation)).size).toBe(1)
    expect(await repo.filesOn('main')).toEqual(expect.arrayContaining(['door.txt', 'part.txt']))
    expect(called.toSorted()).toEqual(INSIDE.map(({ name }) => name).toSorted())
  }, 180_000)

  test('its tools go on after kill -9 of the server, and a report for a server that is down is not lost', async () => {
    const { fleet, project, gate } = await scene()
    const [restart, kill, start] = ['restart', 'kill', 'start'].map(gate)
    const script = prompt(
      use('get_mission_context'),
      { run: restart!.wait },
      use('get_project_context'),
      { run: kill!.wait },
      use('submit_report', report('said to nobody')),
      { run: start!.wait },
      use('submit_report', report('said again')),
      { write: 'made.txt', content: 'x\n' },
      { say: 'Done.' },
    )
    const { id } = await fleet.mission(project, script, settings)
    await eventually('the first gate', () => restart!.reached())
    await fleet.kill()
    await fleet.start()
    restart!.open()
    await eventually('the second gate', () => kill!.reached())
    await fleet.kill()
    kill!.open()
    if (!waitsForServer) await eventually('the third gate', () => start!.reached(), undefined, 60_000)
    await fleet.start()
    start!.open()
    const done = await fleet.until(id, 'done', 'failed', 'needs_input')
    const calls = await resultsOf(fleet, done.sessions[0]!.id)
    expect(
      [0, 2, 4, 6].map(at => calls[at]!.failed),
      JSON.stringify(calls),
    ).toEqual([false, false, waitsForServer ? expect.any(Boolean) : true, false])
    expect(done).toMatchObject({ status: 'done', report: { source: 'agent', summary: 'said again' } })
    expect(done.sessions).toHaveLength(1)
  }, 180_000)
}
