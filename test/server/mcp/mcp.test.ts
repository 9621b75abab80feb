import { existsSync } from 'node:fs'
import { expect, onTestFinished, test } from 'vitest'
import { sessionToken } from '../../../src/platform/tokens.ts'
import { type Connected, mcpClient } from '../../../src/server/mcp/client.testkit.ts'
import { eventually } from '../../kit/fleet.ts'
import { aPlanner, planOf } from '../../kit/planner.ts'
import { aScene, type Scene } from '../../kit/scene.ts'

const WORKERS = [
  'healthcheck',
  'create_worker',
  'get_worker_status',
  'list_workers',
  'collect_worker_result',
  'cancel_worker',
  'cleanup_worker',
]

interface World extends Scene {
  url: string
  mcp: Connected
  /** The result of a tool. The test fails if the tool fails. */
  // biome-ignore lint/suspicious/noExplicitAny: each test says what it expects of an answer
  call(tool: string, input?: object): Promise<any>
  refused(tool: string, input?: object): Promise<string>
}

async function aWorld(options: { path?: string } = {}): Promise<World> {
  const scene = await aScene({ start: false })
  const { url } = await scene.fleet.start()
  const mcp = await mcpClient(url + (options.path ?? '/mcp'), await scene.fleet.fleet.keys.ownerToken())
  onTestFinished(() => mcp.close())
  const call = async (tool: string, input?: object) => {
    const { text, isError } = await mcp.call(tool, input)
    expect(isError, text).toBe(false)
    return JSON.parse(text)
  }
  const refused = async (tool: string, input?: object) => {
    const { text, isError } = await mcp.call(tool, input)
    expect(isError, text).toBe(true)
    return text
  }
  return { ...scene, url, mcp, call, refused }
}

test('a client makes a project, a mission and another that depends on it, waits and reads the reports', async () => {
  const { repository, call, refused } = await aWorld()
  const repo = await repository()
  const { project_id } = await call('create_project', { name: 'here', path: repo.path })
  expect(await refused('create_project', { name: 'again', path: repo.path })).toContain('already is the project here')
  const made = await call('create_project', { name: 'Somewhere new' })
  expect(made.path).toContain('/projects/somewhere-new-')
  expect(existsSync(made.path)).toBe(true)

  const first = await call('create_mission', {
    ...{ project_id, title: 'one', agent: 'shell' },
    prompt: 'echo 1 > one.txt; echo Made one.',
  })
  expect(first).toMatchObject({ status: 'draft', elapsed_seconds: 0, progress: expect.stringContaining('0 of 4') })
  expect(await refused('wait_for_mission', { mission_id: first.mission_id })).toContain('dispatch_mission')
  expect(await refused('get_report', { mission_id: first.mission_id })).toContain('dispatch_mission')
  const second = await call('create_mission', {
    project_id,
    title: 'two',
    agent: 'shell',
    prompt: 'cat one.txt > two.txt; echo Made two.',
    depends_on: [first.mission_id],
    auto_dispatch: true,
  })
  expect(second).toMatchObject({ status: 'queued', summary: expect.stringContaining('waiting for one') })

  await call('dispatch_mission', { mission_id: first.mission_id })
  expect(await call('wait_for_mission', { mission_id: second.mission_id })).toMatchObject({
    answer: 'over',
    status: 'done',
    result: 'landed',
    summary: expect.stringMatching(/^two: done after .* s, landed as [0-9a-f]{10} on main$/),
    progress: '[########] 4 of 4, done',
  })
  expect(await call('get_report', { mission_id: second.mission_id })).toMatchObject({
    title: 'two',
    summary: 'Made two.',
    files_changed: [{ path: 'two.txt', change: 'added' }],
  })
  expect(await repo.readOn('main', 'two.txt')).toBe('1')

  expect((await call('list_projects')).projects.map(({ name }: { name: string }) => name)).toEqual([
    'Somewhere new',
    'here',
    'test',
  ])
  expect((await call('list_missions', { project_id, status: 'done' })).missions).toHaveLength(2)
  expect(await call('get_dashboard')).toMatchObject({ missions: { done: 2 }, running: [], needs_input: [] })
})

test('waiting says running when its time is up, and tells progress', async () => {
  const { fleet, project, gate, call, mcp } = await aWorld()
  const held = gate('held')
  const { id } = await fleet.mission(project, `${held.wait}; echo done > it.txt`)
  await eventually('it runs', () => held.reached())
  expect(await call('wait_for_mission', { mission_id: id, timeout_seconds: 0.2 })).toMatchObject({
    answer: 'running',
    status: 'running',
    summary: expect.stringMatching(/^a mission: running for \d+ s with shell$/),
  })

  const steps: (string | undefined)[] = []
  const waited = mcp.call('wait_for_mission', { mission_id: id }, { onprogress: ({ message }) => steps.push(message) })
  await eventually('progress was told', () => steps.includes('a mission is running'))
  held.open()
  expect(JSON.parse((await waited).text)).toMatchObject({ answer: 'over', status: 'done' })
})

test('waiting ends within 100 ms of the mission', async () => {
  const { fleet, project, call } = await aWorld()
  const late: number[] = []
  // The mission's end time is taken before the end is on disk, and other tests may keep the disk busy. One fast round
  // is enough.
  for (let tries = 0; tries < 5 && !late.some(ms => ms < 100); tries++) {
    const { id } = await fleet.mission(project, 'sleep 0.3; echo I looked.', { mission_type: 'explore' })
    const { answer } = await call('wait_for_mission', { mission_id: id })
    const answered = Date.now()
    expect(answer).toBe('over')
    late.push(answered - Date.parse((await fleet.show(id)).ended_at!))
  }
  console.log(`wait_for_mission answered ${late.join(', ')} ms after the end`)
  expect(Math.min(...late)).toBeLessThan(100)
})

test('a mission that needs a person, or is blocked by one that failed, is not waited for', async () => {
  const { fleet, project, call } = await aWorld()
  const failing = await fleet.mission(project, 'exit 3')
  const blocked = await fleet.mission(project, 'true', { depends_on: [failing.id] })
  expect(await call('wait_for_mission', { mission_id: failing.id })).toMatchObject({ answer: 'over', status: 'failed' })
  expect(await call('wait_for_mission', { mission_id: blocked.id })).toMatchObject({
    answer: 'needs_person',
    summary: expect.stringContaining('blocked by a mission'),
  })
  const reviewed = await fleet.mission(project, 'echo 1 > one.txt', { landing: 'review' })
  expect(await call('wait_for_mission', { mission_id: reviewed.id })).toMatchObject({
    answer: 'needs_person',
    status: 'review',
  })
})

test('a plan is asked for, shown and approved, and its missions run', async () => {
  const { fleet, repo, call, refused } = await aWorld()
  const planner = aPlanner(fleet)
  const steps = [
    { key: 'a', script: 'echo a > a.txt' },
    { key: 'b', script: 'cat a.txt > b.txt', after: ['a'] },
  ]
  planner.says(planOf(...steps))
  planner.first('sleep 1')
  const early = await call('plan_project', {
    prompt: 'Two files',
    project_path: repo.path,
    agent: 'planner',
    scripts: true,
    timeout_seconds: 0.1,
  })
  expect(early).toMatchObject({ status: 'planning', plan_id: expect.any(String) })
  expect(await call('get_plan', { plan_id: early.plan_id })).toMatchObject({
    status: 'proposed',
    steps: [['a'], ['b']],
  })

  const { missions } = await call('approve_plan', { plan_id: early.plan_id })
  expect(await call('wait_for_mission', { mission_id: missions[1].mission_id })).toMatchObject({
    answer: 'over',
    status: 'done',
  })
  expect(await repo.readOn('main', 'b.txt')).toBe('a')
  expect(await refused('get_plan', { plan_id: 'none' })).toContain('There is no plan "none"')
})

test('workers are made, followed, collected, cancelled and cleaned up', async () => {
  const { repository, call, gate, mcp, refused } = await aWorld({ path: '/mcp?tools=workers' })
  expect((await mcp.client.listTools()).tools.map(({ name }) => name)).toEqual(WORKERS)
  expect(await call('healthcheck')).toMatchObject({ app: 'flotilla', shell_found: true })
  const repo = await repository()
  const before = await repo.tip()
  await repo.write('later.txt', 'later')
  await repo.git('add', '-A')
  await repo.git('commit', '-qm', 'later')

  const held = gate('held')
  const made = await call('create_worker', {
    repo_path: repo.path,
    task_name: 'make it',
    prompt: `${held.wait}; ls > seen.txt; echo I looked.`,
    base_ref: before,
    executor: 'shell',
    timeout_seconds: 600,
    tags: ['mine'],
    metadata: { ticket: 7 },
  })
  await eventually('it runs', () => held.reached())
  expect(await call('get_worker_status', { worker_id: made.worker_id })).toMatchObject({
    worker_id: made.worker_id,
    status: 'running',
    executor: 'shell',
    tags: ['mine'],
    metadata: { ticket: 7 },
    timeout_seconds: 600,
    summary_line: expect.stringMatching(/^\[RUNNING\] make it \(shell\/default\) — \d+s$/),
  })
  expect(await call('collect_worker_result', { worker_id: made.worker_id })).toMatchObject({ result: null })
  expect(await refused('cleanup_worker', { worker_id: made.worker_id })).toContain('cancel_worker')

  const child = await call('create_worker', {
    repo_path: repo.path,
    task_name: 'part of it',
    executor: 'shell',
    prompt: 'echo 1 > part.txt; sleep 60',
    parent_worker_id: made.worker_id,
  })
  expect((await call('list_workers', { statuses: ['running', 'pending'] })).workers).toHaveLength(2)
  expect(await call('cancel_worker', { worker_id: child.worker_id })).toMatchObject({ status: 'cancelled' })
  await eventually('the child is cancelled', async () => {
    const { workers } = await call('list_workers', { statuses: ['cancelled'], limit: 1 })
    return workers[0]?.worker_id === child.worker_id
  })

  held.open()
  const over = await eventually('it is over', async () => {
    const { status } = await call('get_worker_status', { worker_id: made.worker_id })
    return status === 'succeeded'
  })
  expect(over).toBe(true)
  const result = await call('collect_worker_result', { worker_id: made.worker_id, include_logs: true })
  expect(result).toMatchObject({
    status: 'succeeded',
    result: { status: 'completed', summary: 'I looked.', files_changed: ['seen.txt'] },
    stdout_tail: 'I looked.',
    stderr_tail: '',
  })
  // It started from base_ref, and nothing landed.
  expect(await repo.readOn(result.branch_name, 'seen.txt')).not.toContain('later.txt')
  expect(await repo.filesOn('main')).not.toContain('seen.txt')

  expect(existsSync(result.worktree_path)).toBe(true)
  expect(await call('cleanup_worker', { worker_id: made.worker_id, remove_branch: false })).toEqual({
    ...{ worker_id: made.worker_id, worktree_removed: true, branch_removed: false, worker_dir_removed: true },
    errors: [],
  })
  expect(existsSync(result.worktree_path)).toBe(false)
  expect(await repo.readOn(result.branch_name, 'seen.txt')).toContain('README')
  // Its branch stays, and the fleet no longer removes it.
  expect((await call('cleanup_worker', { worker_id: made.worker_id })).errors).toEqual([
    expect.stringContaining('git branch -D'),
  ])
  const childResult = await call('collect_worker_result', { worker_id: child.worker_id })
  expect(await call('cleanup_worker', { worker_id: child.worker_id })).toMatchObject({ branch_removed: true })
  expect(await repo.git('branch', '--list', childResult.branch_name)).toBe('')
})

test('a client runs a workflow of stages written for another tool, and collects what it came to', async () => {
  const { fleet, repository, call, refused } = await aWorld({ path: '/mcp?tools=workflows' })
  const repo = await repository()
  await fleet.project(repo.path)
  const { workflow_id } = await call('create_workflow', {
    name: 'two steps',
    repo_path: repo.path,
    task_prompt: 'a file',
    timeout_seconds: 60,
    stages: [
      { name: 'make', executor: 'shell', prompt_template: 'echo "$FLEET_TASK_PROMPT" > made.txt; echo Made.' },
      {
        name: 'look',
        executor: 'shell',
        prompt_template: 'echo "$FLEET_STAGE_0_FILES: $FLEET_STAGE_0_STATUS" > seen.txt; echo Seen.',
        worktree_strategy: 'inherit',
        depends_on: [0],
      },
    ],
  })
  const early = await call('collect_workflow_result', { workflow_id })
  expect(early.final_result?.result ?? null).toBeNull()
  await eventually('over', async () => (await call('get_workflow_status', { workflow_id })).status === 'succeeded')
  const status = await call('get_workflow_status', { workflow_id })
  expect(status).toMatchObject({
    progress: '2/2 stages complete (2 done)',
    stage_summary: [
      { index: 0, name: 'make', executor: 'shell', status: 'succeeded' },
      { index: 1, name: 'look' },
    ],
  })
  const collected = await call('collect_workflow_result', { workflow_id, include_all_stages: true, include_logs: true })
  expect(collected.stage_results).toMatchObject([
    { index: 0, name: 'make', result: { result: { status: 'completed', files_changed: ['made.txt'] } } },
    { index: 1, name: 'look', result: { result: { status: 'completed', files_changed: ['seen.txt'] } } },
  ])
  expect(collected.stage_results[1].result.stdout_tail).toContain('Seen.')
  expect(await repo.readOn('main', 'seen.txt')).toBe('made.txt: completed')
  expect((await call('list_workflows', { statuses: ['succeeded'] })).workflows).toHaveLength(1)
  // Landed work is tidied up automatically, and is busy until then.
  await eventually('cleaned up', async () => (await call('cleanup_workflow', { workflow_id })).stages_cleaned === 2)
  expect(await refused('cancel_workflow', { workflow_id })).toContain('is done')
})

test('what a worker cannot be given is refused in a sentence', async () => {
  const { repo, fleet, refused } = await aWorld()
  const worker = { repo_path: repo.path, task_name: 'x', prompt: 'true' }
  expect(await refused('create_worker', { ...worker, extra_args: ['--yolo'] })).toContain(
    'extra_args: agents are started',
  )
  expect(await refused('create_worker', { ...worker, base_ref: 'nothing' })).toContain(
    'no branch, tag or commit "nothing"',
  )
  expect(await refused('create_worker', { ...worker, executor: 'nobody' })).toContain('nobody')
  expect(await refused('create_worker', { ...worker, parent_worker_id: 'none' })).toContain('no mission "none"')
  expect(await refused('create_worker', { ...worker, repo_path: fleet.root })).toContain('not a git repository')
  expect(await refused('create_worker', { ...worker, surprise: 1 })).toContain('surprise: is not a field')
  expect(await refused('get_worker_status', { worker_id: 'none' })).toContain('There is no mission "none"')
})

test('missions, reports, diffs and transcripts can be read, and prompts are written about them', async () => {
  const { fleet, project, mcp } = await aWorld()
  const { client } = mcp
  const long = 'for i in $(seq 500); do echo line $i; done; echo x > made.txt'
  const { id } = await fleet.mission(project, long)
  await fleet.until(id, 'done')
  const read = async (uri: string) => ((await client.readResource({ uri })).contents[0] as { text: string }).text

  expect(JSON.parse(await read(`fleet://missions/${id}`))).toMatchObject({ id, status: 'done' })
  expect(JSON.parse(await read(`fleet://missions/${id}/report`))).toMatchObject({
    files_changed: [{ path: 'made.txt' }],
  })
  expect(await read(`fleet://missions/${id}/diff`)).toContain('+++ b/made.txt')
  await expect(read('fleet://missions/none/report')).rejects.toThrow('There is no mission "none"')

  const { session_id } = await fleet.show(id)
  const lines: string[] = []
  for (let uri: string | undefined = `fleet://sessions/${session_id}/transcript`; uri; ) {
    const text: string = await read(uri)
    const events: { text?: string; goes_on_at?: string }[] = text
      .trim()
      .split('\n')
      .map(line => JSON.parse(line))
    expect(events.length).toBeLessThanOrEqual(201)
    lines.push(...events.flatMap(event => event.text ?? []))
    uri = events.at(-1)?.goes_on_at
  }
  expect(lines.filter(line => line.startsWith('line '))).toHaveLength(500)

  const uris: string[] = []
  for (let cursor: string | undefined = ''; cursor !== undefined; ) {
    const page = await client.listResources(cursor ? { cursor } : {})
    uris.push(...page.resources.map(({ uri }) => uri))
    cursor = page.nextCursor
  }
  expect(uris).toEqual([
    `fleet://missions/${id}`,
    `fleet://missions/${id}/report`,
    `fleet://sessions/${session_id}/transcript`,
  ])

  expect((await client.listPrompts()).prompts.map(({ name }) => name)).toEqual(['plan', 'review', 'status'])
  const typed = {
    ref: { type: 'ref/prompt' as const, name: 'review' },
    argument: { name: 'mission_id', value: id.slice(0, 2) },
  }
  expect((await client.complete(typed)).completion.values).toEqual([id])
  const completed = async (
    ref: { type: 'ref/prompt'; name: string } | { type: 'ref/resource'; uri: string },
    name: string,
    value: string,
  ) => (await client.complete({ ref, argument: { name, value } })).completion.values
  const [diff, transcript] = [
    'fleet://missions/{mission_id}/diff{?offset}',
    'fleet://sessions/{session_id}/transcript{?after}',
  ]
  expect(await completed({ type: 'ref/resource', uri: diff }, 'mission_id', id.slice(0, 4))).toEqual([id])
  expect(await completed({ type: 'ref/resource', uri: transcript }, 'session_id', '')).toEqual([session_id])
  expect(await completed({ type: 'ref/prompt', name: 'plan' }, 'project', 'TE')).toEqual(['test'])
  const review = await client.getPrompt({ name: 'review', arguments: { mission_id: id } })
  expect(JSON.stringify(review)).toContain('made.txt')
})

test('sets of tools are chosen in the address, and only the owner may use it', async () => {
  const { fleet, project, gate, mcp, url } = await aWorld({ path: '/mcp?tools=missions' })
  const names = (await mcp.client.listTools()).tools.map(({ name }) => name)
  expect(names).toContain('wait_for_mission')
  expect(names).not.toContain('create_worker')
  await expect(mcpClient(`${url}/mcp?tools=all`, await fleet.fleet.keys.ownerToken())).rejects.toThrow(
    'there is no set',
  )

  const held = gate('held')
  const { id } = await fleet.mission(project, held.wait)
  await eventually('it runs', () => held.reached())
  const [session] = (await fleet.show(id)).sessions
  await expect(mcpClient(`${url}/mcp`, await sessionToken(fleet.fleet.keys, session!))).rejects.toThrow(
    'token of a session',
  )
  held.open()
})

test('the same call sent again with its key happens once', async () => {
  const { repo, fleet, project } = await aWorld()
  const create = async () => {
    const response = await fleet.http('/mcp', {
      method: 'POST',
      headers: { accept: 'application/json, text/event-stream', 'idempotency-key': 'once' },
      body: JSON.stringify({
        jsonrpc: '2.0',
        id: 1,
        method: 'tools/call',
        params: {
          name: 'create_worker',
          arguments: { repo_path: repo.path, task_name: 'once', prompt: 'true', executor: 'shell' },
        },
      }),
    })
    const { result } = (await response.json()) as { result: { content: { text: string }[] } }
    return JSON.parse(result.content[0]!.text).worker_id
  }
  expect(await create()).toBe(await create())
  const { missions } = await fleet.call<{ missions: object[] }>('list_missions', { project_id: project.id })
  expect(missions).toHaveLength(1)
})
