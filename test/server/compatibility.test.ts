import { appendFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { beforeAll, expect, test } from 'vitest'
import { KNOWN_NAMES } from '../../src/config/known-names/index.ts'
import { OPERATIONS } from '../../src/operations/index.ts'
import { routeOf } from '../../src/operations/shape.ts'
import { type Connected, mcpClient } from '../../src/server/mcp/client.testkit.ts'
import { eventually } from '../kit/fleet.ts'
import { anAgentAtWork, report } from '../kit/inside.ts'
import { type Anything, ledger, toolsOf } from '../kit/known.ts'
import { aPlanner, planOf } from '../kit/planner.ts'
import { aScene, type Scene } from '../kit/scene.ts'
import { aWorker } from '../kit/worker.ts'

// Bodies and paths are those that clients of the other tools send: for claude-devfleet its pages and its terminal, for
// codefleet the tools as its server declares them. Nothing of ours is added, unless a comment says so.

const hooks = ledger('claude-devfleet', 'hook')
let scene: Scene
let url: string
let diary: string
const clients: Connected[] = []

/** A PATH with a stand-in for the client, which only prints its version. It is named here and never started. */
function withClaude(bin: string): string {
  writeFileSync(join(bin, 'claude'), '#!/bin/sh\necho "2.1.325 (Claude Code)"\n', { mode: 0o755 })
  return `${bin}:${process.env.PATH}`
}

// One server for all tests. Each test has its own projects.
beforeAll(async () => {
  let clean: () => Promise<void>
  const bin = mkdtempSync(join(tmpdir(), 'flotilla-bin-'))
  scene = await aScene({ start: false, env: { PATH: withClaude(bin) } }, over => {
    clean = over
  })
  const { fleet } = scene
  const planner = aPlanner(fleet)
  planner.says(planOf({ key: 'a', title: 'A', script: 'echo a > a' }))
  aWorker(fleet)
  writeFileSync(join(fleet.fleet.home.path, 'fleet.toml'), 'default_agent = "worker"\n')
  diary = join(fleet.root, 'diary')
  appendFileSync(diary, '')
  const noting = hooks.names.map(({ name }) => `${name}: () => appendFileSync(${JSON.stringify(diary)}, '${name}\\n')`)
  mkdirSync(join(fleet.root, 'home/plugins'))
  writeFileSync(
    join(fleet.root, 'home/plugins/known.js'),
    `import { appendFileSync } from 'node:fs'\nexport default { hooks: { ${noting.join(', ')} } }`,
  )
  url = (await fleet.start()).url
  return async () => {
    await Promise.all(clients.map(each => each.close()))
    await clean()
    rmSync(bin, { recursive: true })
  }
})

async function toolsAt(path: string, call: (name: string) => void, token?: string) {
  const mcp = await mcpClient(url + path, token ?? (await scene.fleet.fleet.keys.ownerToken()))
  clients.push(mcp)
  return toolsOf(mcp, call)
}

const { call, forgotten } = ledger('claude-devfleet', 'route')

/** Like the pages of claude-devfleet: always with the content type of JSON, even without a body. */
async function ask(route: string, values: Record<string, string> = {}, body?: object): Promise<Anything> {
  call(route)
  const [method = '', template = ''] = route.split(' ')
  const path = template.replace(/\{(\w+)\}/g, (_, field: string) => values[field]!)
  const query = method === 'GET' && body ? `?${new URLSearchParams(body as Record<string, string>)}` : ''
  const answer = await scene.fleet.http(path + query, {
    method,
    headers: { 'content-type': 'application/json' },
    ...(method !== 'GET' && body && { body: JSON.stringify(body) }),
  })
  const text = await answer.text()
  expect(answer.status, `${route}: ${text}`).toBeLessThan(300)
  return answer.headers.get('content-type')?.includes('json') ? JSON.parse(text) : text
}

const routesOfProjects = async (id: string) => {
  expect((await ask('GET /api/projects')).projects.map((each: { id: string }) => each.id)).toContain(id)
  expect(await ask('GET /api/projects/{id}', { id })).toMatchObject({ name: 'theirs' })
  expect(await ask('PUT /api/projects/{id}', { id }, { description: 'changed' })).toMatchObject({
    description: 'changed',
  })
  const config = { command: 'npx', args: ['-y', 'toys'], env: { DEBUG: '1' } }
  const server = { server_name: 'toys', server_type: 'stdio', config }
  const added = await ask('POST /api/projects/{id}/mcp-servers', { id }, server)
  expect(added).toMatchObject({ name: 'toys', command: ['npx', '-y', 'toys'], env: { DEBUG: '1' } })
  const { mcp_servers } = await ask('GET /api/projects/{id}/mcp-servers', { id })
  expect(mcp_servers).toMatchObject([{ id: added.id }])
  await ask('DELETE /api/mcp-servers/{id}', { id: added.id })
}

test('claude-devfleet: its pages make, change, schedule and delete projects and missions', async () => {
  const repo = await scene.repository()
  const made = await ask('POST /api/projects', {}, { name: 'theirs', path: repo.path, description: '' })
  expect(made).toMatchObject({ id: expect.any(String), name: 'theirs', path: repo.path })
  const project_id = made.id
  await routesOfProjects(project_id)
  // Only Claude can follow some of these settings, so the project uses it. The drafts are never started.
  await scene.fleet.call('update_project', { project_id, agent: 'claude' })

  const fields = ledger('claude-devfleet', 'field')
  const parent = await ask(
    'POST /api/missions',
    {},
    {
      ...{ project_id, title: 'parent', detailed_prompt: 'Do it.', acceptance_criteria: '', priority: 0, tags: [] },
      ...{ model: 'claude-opus-4-6', mission_type: 'implement', auto_dispatch: 0, schedule_cron: null, depends_on: [] },
    },
  )
  const wanted = {
    ...{ project_id, title: 'whole', detailed_prompt: 'Do it.', acceptance_criteria: 'it is there', priority: 3 },
    ...{ tags: ['known'], model: 'claude-sonnet-4-6', max_turns: 5, max_budget_usd: 1.5, mission_type: 'fix' },
    ...{ parent_mission_id: parent.id, depends_on: [parent.id], max_retries: 2 },
  }
  const asText = {
    allowed_tools: '["Read", "Grep"]',
    auto_dispatch: false,
    schedule_cron: '0 0 1 1 *',
    auto_retry: true,
  }
  const { id } = await ask('POST /api/missions', {}, { ...wanted, ...asText })
  expect(await ask('GET /api/missions/{id}', { id })).toMatchObject({
    ...wanted,
    ...{ status: 'draft', allowed_tools: ['Read', 'Grep'] },
  })
  fields.call(...Object.keys({ ...wanted, ...asText }))
  expect(fields.forgotten()).toEqual([])
  expect((await ask('GET /api/schedules')).schedules).toMatchObject([{ id, cron: '0 0 1 1 *' }])
  await ask('DELETE /api/missions/{id}/schedule', { id })
  expect(await ask('POST /api/missions/{id}/schedule', { id }, { cron: '0 0 * * *', enabled: true })).toMatchObject({
    cron: '0 0 * * *',
    enabled: true,
  })
  const filter = { project_id, status: 'draft', tag: 'known' }
  expect((await ask('GET /api/missions', {}, filter)).missions).toMatchObject([{ id }])
  expect((await ask('GET /api/missions', {}, { parent_mission_id: parent.id })).missions).toMatchObject([{ id }])
  expect((await ask('GET /api/missions/{id}/children', { id: parent.id })).missions).toMatchObject([{ id }])
  const text = { title: 'renamed', detailed_prompt: 'Do it again.', acceptance_criteria: '' }
  expect(await ask('PUT /api/missions/{id}', { id }, text)).toMatchObject(text)

  const presets = ledger('claude-devfleet', 'preset')
  const listed = (await ask('GET /api/config/tool-presets')).presets.map((preset: { name: string }) => preset.name)
  for (const { name } of presets.names) {
    expect(listed).toContain(name)
    const draft = { project_id, title: name, detailed_prompt: 'x', allowed_tools: name }
    expect(await ask('POST /api/missions', {}, draft)).toMatchObject({ tool_preset: name })
    presets.call(name)
  }
  expect(presets.forgotten()).toEqual([])

  const options = ledger('claude-devfleet', 'option')
  const kept = { model: 'claude-opus-4-6', max_turns: 50, max_budget_usd: 2, tool_preset: 'review', context_mode: true }
  const dispatch = { ...kept, allowed_tools: ['Read'], append_system_prompt: 'be brief', fork_session: false }
  // Nothing starts while the project is paused.
  await scene.fleet.call('pause', { project_id })
  const first = { id: parent.id }
  expect(await ask('POST /api/missions/{id}/dispatch', first, dispatch)).toMatchObject({
    ...kept,
    ...{ allowed_tools: ['Read'], status: 'queued' },
  })
  const { value: stored } = (await scene.fleet.fleet.store.get('missions', parent.id))!
  expect(stored.next?.instructions).toMatchObject({ inline: 'be brief' })
  options.call(...Object.keys(dispatch))
  expect(options.forgotten()).toEqual([])
  const fork = await scene.fleet.http(`/api/missions/${id}/dispatch`, { method: 'POST', body: '{"fork_session":true}' })
  expect([fork.status, await fork.text()]).toEqual([400, expect.stringContaining('/fork')])
  await scene.fleet.call('cancel_mission', { mission_id: parent.id })
  await ask('DELETE /api/missions/{id}', { id })
  await ask('DELETE /api/projects/{id}', { id: project_id })
})

test('claude-devfleet: its pages dispatch, follow, cancel and resume missions, plan and loop', async () => {
  const { gate, fleet } = scene
  const repo = await scene.repository()
  const { id: project_id } = await ask('POST /api/projects', {}, { name: 'at work', path: repo.path, description: '' })
  await fleet.call('update_project', { project_id, landing: 'auto' })
  const hold = gate('hold')
  const written = JSON.stringify({ summary: 'Made it.', next_steps: ['Rest'] })
  const detailed_prompt = `do: ${hold.wait}; echo w > w; echo '${written}' > "$FLEET_RESULT_FILE"`
  const work = await ask('POST /api/missions', {}, { project_id, title: 'work', detailed_prompt })
  const other = gate('other')
  await fleet.mission(scene.project, other.wait)
  await eventually('another to be at work', () => other.reached())
  // The terminal sends no body if no model is named.
  await ask('POST /api/missions/{id}/dispatch', { id: work.id })
  await eventually('it to be at work', () => hold.reached())
  const running = { mission_id: work.id, status: 'running' }
  const { sessions } = await ask('GET /api/sessions', {}, running)
  expect(sessions).toMatchObject([{ mission_id: work.id, status: 'running' }])
  const [session] = sessions
  expect(await ask('GET /api/sessions/{id}', { id: session.id })).toMatchObject({ mission_id: work.id })
  other.open()
  await ask('POST /api/sessions/{id}/cancel', { id: session.id })
  await fleet.until(work.id, 'cancelled')
  const cancelled = await ask('GET /api/sessions', {}, { mission_id: work.id, status: 'cancelled' })
  expect(cancelled.sessions).toMatchObject([{ id: session.id, status: 'ended' }])
  hold.open()
  await ask('POST /api/missions/{id}/resume', { id: work.id }, {})
  await fleet.until(work.id, 'done')
  const completed = await ask('GET /api/missions', {}, { project_id, status: 'completed' })
  expect(completed.missions).toMatchObject([{ id: work.id, status: 'done' }])
  expect(await ask('GET /api/sessions/{id}/stream', { id: session.id })).toContain('event: end')
  expect((await ask('GET /api/missions/{id}/events', { id: work.id })).events.length).toBeGreaterThan(3)
  const { reports } = await ask('GET /api/reports', {}, { mission_id: work.id })
  expect(await ask('GET /api/reports/{id}', { id: reports[0].id })).toMatchObject({ mission_id: work.id })
  expect(await ask('POST /api/missions/{id}/generate-next', { id: work.id })).toMatchObject({ id: expect.any(String) })

  expect(await ask('POST /api/plan', {}, { prompt: 'One file', project_path: repo.path })).toMatchObject({
    ...{ project_id, status: 'planning' },
  })
  // This agent can plan, so the hooks of a plan are called.
  await fleet.call('plan_project', { prompt: 'One file', project_id, agent: 'planner', scripts: true })
  await fleet.call('update_project', { project_id, checks: [{ name: 'w', command: 'test -e w' }] })
  await ask('POST /api/autoloop/start', {}, { project_id, goal: 'One file' })
  expect(await ask('GET /api/autoloop/status/{project_id}', { project_id })).toMatchObject({ status: 'running' })
  await ask('POST /api/autoloop/stop/{project_id}', { project_id })
  await eventually('the loop to end', async () => {
    const { status } = await ask('GET /api/autoloop/status/{project_id}', { project_id })
    return status === 'stopped'
  })

  await fleet.until((await fleet.mission({ id: project_id }, 'exit 3')).id, 'failed')
  await eventually('every hook to be called', () => {
    hooks.call(...new Set(readFileSync(diary, 'utf8').trim().split('\n')))
    return hooks.forgotten().length === 0
  })
  expect((await ask('GET /api/plugins')).plugins.map((plugin: { name: string }) => plugin.name)).toContain('known')
  for (const route of ['GET /api/system/status', 'GET /api/config/engine', 'GET /api/config/models', 'GET /docs'])
    await ask(route)
  expect((await fleet.http('/health')).status).toBe(200)
  // Only Claude Code has remote control, and a mission of another agent says so.
  const remote = await fleet.http(`/api/missions/${work.id}/remote-control`, { method: 'POST' })
  expect([remote.status, await remote.text()]).toEqual([409, expect.stringContaining('remote')])
  call('POST /api/missions/{id}/remote-control')
})

test('claude-devfleet: its tools are called as its skill says', async () => {
  const { fleet } = scene
  const { call, forgotten } = ledger('claude-devfleet', 'tool')
  const tool = await toolsAt('/mcp', call)
  const project = await tool('create_project', { name: 'Made by name', description: 'known' })
  expect(project).toMatchObject({ id: expect.any(String), name: 'Made by name', description: 'known' })
  expect(project.path).toContain(join(fleet.fleet.home.path, 'projects'))
  const { projects, count } = await tool('list_projects')
  expect(projects).toHaveLength(count)
  expect(projects).toContainEqual(
    expect.objectContaining({ id: project.id, path: project.path, created_at: expect.any(String) }),
  )
  const project_id = project.id
  const mission = await tool('create_mission', {
    ...{ project_id, title: 'one', prompt: 'do: echo 1 > one', acceptance_criteria: 'there' },
    ...{ depends_on: [], auto_dispatch: false, priority: 1, model: 'claude-sonnet-4-20250514' },
  })
  expect(mission).toMatchObject({ title: 'one', project_id, auto_dispatch: false, depends_on: [] })
  const mission_id = mission.id
  expect(await tool('dispatch_mission', { mission_id })).toMatchObject({ mission_id, status: 'queued' })
  expect(await tool('wait_for_mission', { mission_id, timeout_seconds: 40 })).toMatchObject({ status: 'done' })
  expect(await tool('get_mission_status', { mission_id })).toMatchObject({ id: mission_id, status: 'done' })
  expect(await tool('get_report', { mission_id })).toMatchObject({ mission_id, files_changed: [{ path: 'one' }] })
  expect(await tool('list_missions', { project_id, status: 'completed' })).toMatchObject({
    missions: [{ id: mission_id, title: 'one' }],
    count: 1,
  })
  expect((await tool('get_dashboard')).missions).toMatchObject({ done: expect.any(Number) })
  const idle = await tool('create_mission', { project_id, title: 'two', prompt: 'x' })
  expect(await tool('cancel_mission', { mission_id: idle.id })).toMatchObject({ mission_id: idle.id })
  // With an agent that can plan.
  const plan = { prompt: 'A', project_path: project.path, agent: 'planner', scripts: true }
  expect(await tool('plan_project', plan)).toMatchObject({ project_id, status: 'proposed' })
  expect(forgotten()).toEqual([])
})

const codefleet = ledger('codefleet', 'tool')

test('codefleet: workers answer as its own do', async () => {
  const tool = await toolsAt('/mcp?tools=workers', codefleet.call)
  expect(await tool('healthcheck')).toMatchObject({
    ...{ ok: true, version: expect.any(String), default_executor: 'worker' },
    ...{ codex_found: expect.any(Boolean), gemini_version: expect.any(String), claude_auth_status: expect.any(String) },
    supported_models: { claude: expect.any(Array), codex: expect.any(Array) },
  })
  const repo = await scene.repository()
  await repo.write('packages/api/index.txt', 'here')
  await repo.git('add', '-A')
  await repo.git('commit', '-qm', 'packages')
  const repo_path = join(repo.path, 'packages/api')
  const prompt = 'do: echo w > w; pwd > place; echo Done.'
  const made = await tool('create_worker', {
    ...{ repo_path, task_name: 'write-it', prompt, base_ref: 'HEAD', timeout_seconds: 60, tags: ['t'] },
    ...{ metadata: { a: 1 }, executor: null, model: null, reasoning_effort: null, profile: null },
    ...{ extra_args: null, extra_codex_args: [], parent_worker_id: null },
  })
  const { worker_id } = made
  expect(made).toMatchObject({
    ...{ worker_id: expect.any(String), task_name: 'write-it', status: 'pending', repo_path, timeout_seconds: 60 },
    ...{ executor: 'worker', tags: ['t'], metadata: { a: 1 }, created_at: expect.any(Number), error_message: null },
    ...{ elapsed: '-', status_label: '[PENDING]', summary_line: '[PENDING] write-it (worker/default) — -' },
  })
  await eventually('it to succeed', async () => {
    const { status } = await tool('get_worker_status', { worker_id })
    return status === 'succeeded'
  })
  const status = await tool('get_worker_status', { worker_id })
  expect(status).toMatchObject({
    ...{ status_label: '[OK]', exit_code: 0, error_message: null },
    ...{ started_at: expect.any(Number), ended_at: expect.any(Number), branch_name: expect.any(String) },
    summary_line: expect.stringMatching(/^\[OK\] write-it \(worker\/default\) — \d+s$/),
  })
  expect(status.ended_at - status.created_at).toBeLessThan(60)
  // The folder that was named, not the top of the repository.
  expect(await repo.readOn(status.branch_name, 'packages/api/place')).toBe(join(status.worktree_path, 'packages/api'))
  const list = await tool('list_workers', { statuses: ['succeeded'], limit: 25 })
  expect(list).toMatchObject({ workers: [{ worker_id }], count: 1, summary: '1 workers: 1 ok' })
  const found = await tool('collect_worker_result', { worker_id, include_logs: true, log_tail_lines: 80 })
  expect(found).toMatchObject({
    ...{ worker_id, status: 'succeeded', stdout_tail: 'Done.', stderr_tail: '' },
    result: {
      ...{ summary: 'Done.', status: 'completed', tests: [], commits: [expect.any(String)], next_steps: [] },
      files_changed: ['packages/api/place', 'packages/api/w'],
    },
  })
  expect(await tool('cleanup_worker', { worker_id })).toEqual({
    ...{ worker_id, worktree_removed: true, branch_removed: true, worker_dir_removed: true, errors: [] },
  })
  const slow = await tool('create_worker', { repo_path: repo.path, task_name: 'slow', prompt: 'do: sleep 60' })
  expect(await tool('cancel_worker', { worker_id: slow.worker_id })).toMatchObject({
    ...{ status: 'cancelled', status_label: '[CANCELLED]' },
  })
})

test('codefleet: workflows answer as its own do', async () => {
  const tool = await toolsAt('/mcp?tools=workflows', codefleet.call)
  const parts = ledger('codefleet', 'stage')
  const repo = await scene.repository()
  const facts = ['summary', 'files', 'next_steps', 'status', 'result']
  const stages = [
    {
      ...{ name: 'implement', executor: 'worker', prompt_template: 'do: echo "{task_prompt}" > a; echo Wrote it.' },
      ...{ worktree_strategy: 'new', depends_on: [], model: null, extra_args: null },
    },
    {
      ...{ name: 'review', executor: 'worker', worktree_strategy: 'inherit', depends_on: [0], timeout_seconds: 60 },
      prompt_template: `do: cat <<'EOF' > told\n${facts.map(fact => `do: ${fact}: {stage_0_${fact}}`).join('\n')}\ndo: EOF`,
    },
  ]
  await repo.write('api/index.txt', 'here')
  await repo.git('add', '-A')
  await repo.git('commit', '-qm', 'api')
  const repo_path = join(repo.path, 'api')
  const given = { name: 'w', repo_path, task_prompt: 'hello', base_ref: 'HEAD', timeout_seconds: 120 }
  const made = await tool('create_workflow', { ...given, stages })
  const { workflow_id } = made
  expect(made).toMatchObject({
    ...{ name: 'w', repo_path, created_at: expect.any(Number), completed_at: null, error_message: null },
    stage_summary: [
      { index: 0, name: 'implement', executor: 'worker' },
      { index: 1, name: 'review', status: 'pending' },
    ],
  })
  // A project of codefleet lands after a review. Nobody reviews here, so its work is only kept.
  const { projects } = await scene.fleet.call<{ projects: { id: string }[] }>('list_projects', { path: repo.path })
  await scene.fleet.call('update_project', { project_id: projects[0]!.id, landing: 'never' })
  await eventually('the workflow to succeed', async () => {
    const { status } = await tool('get_workflow_status', { workflow_id })
    return status === 'succeeded'
  })
  expect(await tool('get_workflow_status', { workflow_id })).toMatchObject({
    ...{ completed_at: expect.any(Number), progress: '2/2 stages complete (2 done)' },
    summary_line: expect.stringMatching(/^\[OK\] w — 2\/2 stages complete \(2 done\) \(\d+s\)$/),
    stage_summary: [{ status_label: '[OK]', worker_id: expect.any(String), elapsed: expect.any(String) }, {}],
  })
  const last = await tool('collect_workflow_result', { workflow_id })
  expect(last.final_result).toMatchObject({ status: 'succeeded', result: { files_changed: ['api/told'] } })
  const all = await tool('collect_workflow_result', { workflow_id, include_all_stages: true, include_logs: true })
  expect(all.stage_results).toMatchObject([
    { index: 0, name: 'implement', status: 'succeeded', result: { stdout_tail: 'Wrote it.' } },
    { index: 1, name: 'review', status: 'succeeded' },
  ])
  const told = await repo.readOn(last.final_result.branch_name, 'api/told')
  expect(told).toMatch(/^summary: Wrote it\.\nfiles: api\/a\nnext_steps: .*\nstatus: completed\nresult: \{/)
  expect(await repo.readOn(all.stage_results[0].result.branch_name, 'api/a')).toBe('hello')
  parts.call('name', 'executor', 'prompt_template', 'worktree_strategy', 'depends_on', 'timeout_seconds', 'model')
  parts.call('{task_prompt}', ...facts.map(fact => `{stage_N_${fact}}`))
  expect(await tool('list_workflows', { statuses: ['succeeded'], limit: 25 })).toMatchObject({
    ...{ workflows: [{ workflow_id, stage_summary: [{}, {}] }], count: 1, summary: '1 workflows: 1 ok' },
  })
  expect(await tool('cleanup_workflow', { workflow_id })).toEqual({ workflow_id, stages_cleaned: 2, errors: [] })

  const wait = { name: 'wait', executor: 'worker', prompt_template: 'do: sleep 60' }
  const never = { name: 'never', executor: 'claude', model: 'claude-opus-4-7', reasoning_effort: 'high' }
  const stopped = await tool('create_workflow', {
    ...{ name: 'x', repo_path: repo.path, task_prompt: 'hello' },
    stages: [wait, { ...never, prompt_template: '{task_prompt}', depends_on: [0] }],
  })
  parts.call('reasoning_effort')
  expect(parts.forgotten()).toEqual([])
  await tool('cancel_workflow', { workflow_id: stopped.workflow_id })
  await eventually('it to be cancelled', async () => {
    const { status } = await tool('get_workflow_status', { workflow_id: stopped.workflow_id })
    return status === 'cancelled'
  })
})

test('claude-devfleet: an agent inside calls its tools', async () => {
  const { id, token, open } = await anAgentAtWork(scene)
  const { call, forgotten } = ledger('claude-devfleet', 'inside tool')
  const tool = await toolsAt('/agent/mcp', call, token)
  for (const name of ['get_mission_context', 'get_project_context', 'get_team_context']) await tool(name)
  await tool('get_session_history', { mission_id: id })
  await tool('read_past_reports', { mission_id: id, limit: 5 })
  await tool('create_sub_mission', {
    ...{ title: 'part', detailed_prompt: 'do: true', acceptance_criteria: 'x', mission_type: 'explore', priority: 1 },
    wait_for_me: true,
  })
  await tool('get_sub_mission_status')
  await tool('list_project_missions', { status: 'running' })
  await tool('request_review', { description: 'look', files_to_review: 'x.txt' })
  await tool('submit_report', report('all of it', { preview_url: 'http://127.0.0.1:1/' }))
  expect(forgotten()).toEqual([])
  open()
})

test('no route and no tool of codefleet that works here was forgotten, and what replaces a route is there', () => {
  expect([...forgotten(), ...codefleet.forgotten()]).toEqual([])
  const there = OPERATIONS.map(operation => {
    const { method, path } = routeOf(operation)
    return `${method} ${path.replace(/:\w+/g, '{id}')}`
  })
  const routes = KNOWN_NAMES.filter(({ kind, from }) => kind === 'route' && from === 'claude-devfleet')
  for (const { fate, ours } of routes) if (fate === 'replaced') expect(there).toContain(ours)
  for (const { fate, name } of routes) if (fate !== 'kept' && fate !== 'changed') expect(there).not.toContain(name)
})
