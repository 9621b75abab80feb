import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { configurationOf } from '../src/configuration.ts'
import { questionFile } from '../src/fleet/notes.ts'
import { KNOWN_NAMES, type KnownTool, type NameKind } from '../src/known-names.ts'
import { mcpClient } from '../src/server/mcp/client.testkit.ts'
import { keyOf, type SettingName } from '../src/settings.ts'
import { eventually, ROOT } from './kit/fleet.ts'
import { anAgentAtWork, call, report, twice } from './kit/inside.ts'
import { aPlanner, planOf } from './kit/planner.ts'
import { aScene, type Scene } from './kit/scene.ts'
import { aWorker } from './kit/worker.ts'

/** Which of the names that are kept a test has called, and which it forgot. */
function ledger(...kinds: NameKind[]) {
  const of = (from?: KnownTool) =>
    KNOWN_NAMES.filter(each => each.fate === 'kept' && kinds.includes(each.kind) && (!from || each.from === from))
  const called = new Set<string>()
  return {
    names: of,
    call(name: string): void {
      if (!of().some(each => each.name === name)) throw new Error(`${name} is not among the names that are kept`)
      called.add(name)
    },
    forgotten: () => of().flatMap(({ name }) => (called.has(name) ? [] : [name])),
  }
}

// biome-ignore lint/suspicious/noExplicitAny: what a test expects of an answer, the test says
type Anything = any

function routesOf({ fleet }: Scene) {
  const { call, forgotten } = ledger('route')
  const ask = async (route: string, values: Record<string, string> = {}, body?: object): Promise<Anything> => {
    call(route)
    const [method = '', template = ''] = route.split(' ')
    const path = template.replace(/\{(\w+)\}/g, (_, field: string) => values[field]!)
    const query = method === 'GET' && body ? `?${new URLSearchParams(body as Record<string, string>)}` : ''
    const answer = await fleet.http(path + query, {
      method,
      ...(method !== 'GET' && body && { body: JSON.stringify(body) }),
    })
    const text = await answer.text()
    expect(answer.status, `${route}: ${text}`).toBeLessThan(300)
    return answer.headers.get('content-type')?.includes('json') ? JSON.parse(text) : text
  }
  return { ask, call, forgotten }
}

/** A path with a client on it that answers for itself and is signed in nowhere: it is named here, and never started. */
function withClaude(): string {
  const bin = mkdtempSync(join(tmpdir(), 'flotilla-bin-'))
  onTestFinished(() => rmSync(bin, { recursive: true }))
  writeFileSync(join(bin, 'claude'), '#!/bin/sh\necho "2.1.325 (Claude Code)"\n', { mode: 0o755 })
  return `${bin}:${process.env.PATH}`
}

test('every route of claude-devfleet that is kept answers, with the fields its clients send', async () => {
  const scene = await aScene({ start: false, env: { PATH: withClaude() } })
  const { fleet, repository, gate } = scene
  const planner = aPlanner(fleet)
  planner.says(planOf({ key: 'a', title: 'A', script: 'echo a > a' }))
  planner.first('sleep 0.2')
  const hooks = ledger('hook')
  const diary = join(fleet.root, 'diary')
  const noting = hooks
    .names()
    .map(({ name }) => `${name}: () => appendFileSync(${JSON.stringify(diary)}, '${name}\\n')`)
  mkdirSync(join(fleet.root, 'home/plugins'))
  writeFileSync(
    join(fleet.root, 'home/plugins/known.js'),
    `import { appendFileSync } from 'node:fs'\nexport default { hooks: { ${noting.join(', ')} } }`,
  )
  await fleet.start()
  const { ask, call, forgotten } = routesOf(scene)
  const repo = await repository()

  const project = await ask(
    'POST /api/projects',
    {},
    { name: 'theirs', path: repo.path, description: 'known', landing: 'auto' },
  )
  const [id, project_id] = [project.id, project.id]
  expect((await ask('GET /api/projects')).projects.map((each: { id: string }) => each.id)).toContain(id)
  await ask('GET /api/projects/{id}', { id })
  expect(await ask('PUT /api/projects/{id}', { id }, { description: 'changed' })).toMatchObject({
    description: 'changed',
  })
  await ask('POST /api/projects/{id}/mcp-servers', { id }, { name: 'toys', command: ['true'] })
  const { mcp_servers } = await ask('GET /api/projects/{id}/mcp-servers', { id })
  await ask('DELETE /api/mcp-servers/{id}', { id: mcp_servers[0].id })

  const fields = ledger('field')
  const parent = await ask(
    'POST /api/missions',
    {},
    { project_id, title: 'parent', agent: 'shell', detailed_prompt: 'echo p > p' },
  )
  const wanted: Record<string, unknown> = {
    project_id,
    title: 'theirs',
    agent: 'claude',
    detailed_prompt: 'true',
    acceptance_criteria: 'it is there',
    priority: 3,
    tags: ['known'],
    model: 'opus',
    max_turns: 5,
    max_budget_usd: 1.5,
    allowed_tools: ['Read'],
    mission_type: 'fix',
    parent_mission_id: parent.id,
    depends_on: [parent.id],
    auto_dispatch: false,
    schedule_cron: '0 0 1 1 *',
  }
  const full = await ask('POST /api/missions', {}, wanted)
  const { auto_dispatch, schedule_cron, ...told } = wanted
  expect(await ask('GET /api/missions/{id}', { id: full.id })).toMatchObject({ ...told, status: 'draft' })
  expect((await ask('GET /api/schedules')).schedules).toMatchObject([{ id: full.id, cron: schedule_cron }])
  for (const name of Object.keys(wanted)) if (name !== 'agent') fields.call(name)
  expect(fields.forgotten()).toEqual([])
  await ask('DELETE /api/missions/{id}/schedule', { id: full.id })
  await ask('POST /api/missions/{id}/schedule', { id: full.id }, { cron: '0 0 1 1 *' })
  const filter = { project_id, status: 'draft', tag: 'known', parent_mission_id: parent.id }
  expect((await ask('GET /api/missions', {}, filter)).missions).toMatchObject([{ id: full.id }])
  expect((await ask('GET /api/missions/{id}/children', { id: parent.id })).missions).toMatchObject([{ id: full.id }])
  expect(await ask('PUT /api/missions/{id}', { id: full.id }, { title: 'renamed' })).toMatchObject({ title: 'renamed' })
  await ask('DELETE /api/missions/{id}', { id: full.id })

  const presets = ledger('preset')
  const listed = (await ask('GET /api/config/tool-presets')).presets.map((preset: { name: string }) => preset.name)
  for (const preset of presets.names().map(({ name }) => name)) {
    expect(listed).toContain(preset)
    const draft = { project_id, title: preset, agent: 'shell', detailed_prompt: 'true', tool_preset: preset }
    expect(await ask('POST /api/missions', {}, draft)).toMatchObject({ tool_preset: preset })
    presets.call(preset)
  }
  expect(presets.forgotten()).toEqual([])

  const hold = gate('hold')
  const written = JSON.stringify({ summary: 'Made it.', next_steps: ['Rest'] })
  const script = `${hold.wait}; echo w > w; echo '${written}' > "$FLEET_RESULT_FILE"`
  const work = await ask(
    'POST /api/missions',
    {},
    { project_id, title: 'work', agent: 'shell', detailed_prompt: script },
  )
  // With all its options, to an agent that has them; nothing starts while the fleet is paused.
  const options = ledger('option')
  const kept = {
    ...{ model: 'opus', max_turns: 50, max_budget_usd: 2, allowed_tools: ['Read'], tool_preset: 'review' },
    context_mode: true,
  }
  const dispatch = { ...kept, append_system_prompt: 'be brief' }
  const theirs = await ask('POST /api/missions', {}, { project_id, title: 'c', detailed_prompt: 'x', agent: 'claude' })
  await fleet.call('pause')
  expect(await ask('POST /api/missions/{id}/dispatch', { id: theirs.id }, dispatch)).toMatchObject(kept)
  const { value: stored } = (await fleet.fleet.store.get('missions', theirs.id))!
  expect(stored.next?.instructions).toMatchObject({ inline: 'be brief' })
  for (const name of Object.keys(dispatch)) options.call(name)
  expect(options.forgotten()).toEqual([])
  await fleet.call('cancel_mission', { mission_id: theirs.id })
  await fleet.call('unpause')

  await ask('POST /api/missions/{id}/dispatch', { id: work.id })
  await eventually('it to be at work', () => hold.reached())
  const { sessions } = await ask('GET /api/sessions')
  await ask('GET /api/sessions/{id}', { id: sessions[0].id })
  expect(await ask('POST /api/sessions/{id}/cancel', { id: sessions[0].id })).toMatchObject({ mission_id: work.id })
  await fleet.until(work.id, 'cancelled')
  hold.open()
  await ask('POST /api/missions/{id}/resume', { id: work.id })
  await fleet.until(work.id, 'done')
  expect(await ask('GET /api/sessions/{id}/stream', { id: sessions[0].id })).toContain('event: end')
  expect((await ask('GET /api/missions/{id}/events', { id: work.id })).events.length).toBeGreaterThan(3)
  const { reports } = await ask('GET /api/reports')
  expect(await ask('GET /api/reports/{id}', { id: reports[0].id })).toMatchObject({ mission_id: work.id })
  await ask('POST /api/missions/{id}/generate-next', { id: work.id })

  const plan = await ask('POST /api/plan', {}, { prompt: 'One file', project_id, agent: 'planner' })
  expect(plan).toMatchObject({ status: 'planning' })
  await ask('POST /api/autoloop/start', {}, { project_id, goal: 'One file', agent: 'planner', unchecked: true })
  expect(await ask('GET /api/autoloop/status/{project_id}', { project_id })).toMatchObject({ status: 'running' })
  await ask('POST /api/autoloop/stop/{project_id}', { project_id })
  await eventually('the loop to end', async () => {
    const { status } = await ask('GET /api/autoloop/status/{project_id}', { project_id })
    return status === 'ended' || status === 'stopped'
  })

  await fleet.until((await fleet.mission(project, 'exit 3')).id, 'failed')
  await eventually('every hook to be called', () => {
    for (const name of new Set(readFileSync(diary, 'utf8').trim().split('\n'))) hooks.call(name)
    return hooks.forgotten().length === 0
  })
  expect((await ask('GET /api/plugins')).plugins.map((plugin: { name: string }) => plugin.name)).toContain('known')

  for (const route of ['GET /api/system/status', 'GET /api/config/engine', 'GET /api/config/models', 'GET /docs'])
    await ask(route)
  await ask('GET /health')
  // Only Claude Code has it, and a mission of a script says so.
  const remote = await fleet.http(`/api/missions/${work.id}/remote-control`, { method: 'POST', body: '{}' })
  expect([remote.status, await remote.text()]).toEqual([409, expect.stringContaining('remote')])
  call('POST /api/missions/{id}/remote-control')
  const spare = await repository()
  const other = await ask('POST /api/projects', {}, { name: 'spare', path: spare.path })
  await ask('DELETE /api/projects/{id}', { id: other.id })
  expect(forgotten()).toEqual([])
})

test('every tool that clients know is called, and stages written for codefleet run', async () => {
  const scene = await aScene({ start: false, env: { PATH: withClaude() } })
  const { fleet, repository } = scene
  const planner = aPlanner(fleet)
  planner.says(planOf({ key: 'a', title: 'A', script: 'echo a > a' }))
  const { url } = await fleet.start()
  const mcp = await mcpClient(`${url}/mcp`, fleet.fleet.home.token)
  onTestFinished(() => mcp.close())
  const { call, forgotten } = ledger('tool')
  const ask = async (tool: string, input: object = {}): Promise<Anything> => {
    call(tool)
    const { text, isError } = await mcp.call(tool, input)
    expect(isError, `${tool}: ${text}`).toBe(false)
    return JSON.parse(text)
  }
  const repo = await repository()
  const { project_id } = await ask('create_project', { name: 'here', path: repo.path, description: 'known' })
  expect((await ask('list_projects')).projects).toHaveLength(2)
  const { mission_id } = await ask('create_mission', {
    ...{ project_id, title: 'one', agent: 'shell', prompt: 'echo 1 > one', acceptance_criteria: 'there' },
    ...{ depends_on: [], auto_dispatch: false, priority: 1 },
  })
  await ask('dispatch_mission', { mission_id })
  expect(await ask('wait_for_mission', { mission_id, timeout_seconds: 40 })).toMatchObject({ status: 'done' })
  expect(await ask('get_mission_status', { mission_id })).toMatchObject({ status: 'done' })
  await ask('get_report', { mission_id })
  expect((await ask('list_missions', { project_id, status: 'done' })).missions).toHaveLength(1)
  await ask('get_dashboard')
  const idle = await ask('create_mission', { project_id, title: 'two', agent: 'shell', prompt: 'true' })
  await ask('cancel_mission', { mission_id: idle.mission_id })
  expect(
    await ask('plan_project', { prompt: 'A', project_path: repo.path, agent: 'planner', scripts: true }),
  ).toMatchObject({
    status: 'proposed',
  })

  await ask('healthcheck')
  const worker = await ask('create_worker', {
    ...{ repo_path: repo.path, task_name: 'w', prompt: 'echo w > w', base_ref: 'HEAD', executor: 'shell' },
    ...{ timeout_seconds: 60, tags: ['t'], metadata: { a: 1 }, extra_args: [] },
  })
  const { worker_id } = worker
  await fleet.until(worker_id, 'done')
  expect(await ask('get_worker_status', { worker_id })).toMatchObject({ worker_id, status: 'done' })
  expect((await ask('list_workers', { statuses: ['done'], limit: 25 })).workers).toMatchObject([{ worker_id }])
  await ask('collect_worker_result', { worker_id, include_logs: true, log_tail_lines: 80 })
  await ask('cleanup_worker', { worker_id, remove_branch: true, remove_worktree_dir: true })
  const second = await ask('create_worker', {
    repo_path: repo.path,
    task_name: 'x',
    executor: 'shell',
    prompt: 'sleep 60',
  })
  await ask('cancel_worker', { worker_id: second.worker_id })

  const parts = ledger('stage')
  const stages = [
    {
      name: 'write',
      executor: 'shell',
      prompt_template: 'echo "$FLEET_TASK_PROMPT" > a; echo Wrote it.',
      worktree_strategy: 'new',
    },
    {
      ...{ name: 'review', executor: 'shell', worktree_strategy: 'inherit', depends_on: [0], timeout_seconds: 60 },
      prompt_template:
        'echo "$FLEET_STAGE_0_SUMMARY|$FLEET_STAGE_0_FILES|$FLEET_STAGE_0_NEXT_STEPS|$FLEET_STAGE_0_STATUS|$FLEET_STAGE_0_RESULT" > told',
    },
  ]
  const { workflow_id } = await ask('create_workflow', {
    ...{ name: 'w', repo_path: repo.path, task_prompt: 'hello', stages, base_ref: 'HEAD', timeout_seconds: 120 },
  })
  await eventually('the workflow to be done', async () => {
    const { status } = await ask('get_workflow_status', { workflow_id })
    return status === 'done'
  })
  const told = await repo.git('show', 'HEAD:told')
  expect(told).toMatch(/^Wrote it\.\|.*a.*\|.*\|completed\|/)
  for (const field of new Set(stages.flatMap(stage => Object.keys(stage)))) parts.call(field)
  for (const name of [
    'task_prompt',
    ...['summary', 'files', 'next_steps', 'status', 'result'].map(each => `stage_N_${each}`),
  ])
    parts.call(`{${name}}`)
  expect((await ask('list_workflows', { limit: 25 })).workflows).toHaveLength(1)
  await ask('collect_workflow_result', { workflow_id, include_all_stages: true, include_logs: true })
  await ask('cleanup_workflow', { workflow_id })
  const stopped = await ask('create_workflow', {
    ...{ name: 'x', repo_path: repo.path, task_prompt: 'hello' },
    stages: [
      { name: 'wait', executor: 'shell', prompt_template: 'sleep 60' },
      {
        ...{ name: 'never', executor: 'claude', model: 'opus', reasoning_effort: 'high' },
        prompt_template: 'x',
        depends_on: [0],
      },
    ],
  })
  for (const name of ['model', 'reasoning_effort']) parts.call(name)
  expect(parts.forgotten()).toEqual([])
  await ask('cancel_workflow', { workflow_id: stopped.workflow_id })
  expect(forgotten()).toEqual([])
})

test('every tool of an agent inside that is known is called', async () => {
  const scene = await aScene({ start: false })
  aWorker(scene.fleet)
  const { url } = await scene.fleet.start()
  const { id, token, open } = await anAgentAtWork(scene)
  const mcp = await mcpClient(`${url}/agent/mcp`, token)
  onTestFinished(() => mcp.close())
  const { call, forgotten } = ledger('inside tool')
  const ask = async (tool: string, input: object = {}): Promise<void> => {
    call(tool)
    const { text, isError } = await mcp.call(tool, input)
    expect(isError, `${tool}: ${text}`).toBe(false)
  }
  for (const tool of ['get_mission_context', 'get_project_context', 'get_team_context']) await ask(tool)
  await ask('get_session_history', { mission_id: id })
  await ask('read_past_reports', { mission_id: id, limit: 5 })
  await ask('create_sub_mission', {
    ...{
      title: 'part',
      agent: 'shell',
      detailed_prompt: 'true',
      acceptance_criteria: 'x',
      mission_type: 'explore',
      priority: 1,
    },
    wait_for_me: true,
  })
  await ask('get_sub_mission_status')
  await ask('list_project_missions', { status: 'queued' })
  await ask('request_review', { description: 'look', files_to_review: 'x.txt' })
  await ask('submit_report', report('all of it', { preview_url: 'http://127.0.0.1:1/' }))
  expect(forgotten()).toEqual([])
  open()
})

test('every variable and key of other tools that is kept sets what it set there', async () => {
  const { fleet } = await aScene({ start: false })
  const file = join(fleet.fleet.home.path, 'fleet.toml')
  const { names, call, forgotten } = ledger('variable', 'key')
  const samples: Record<string, string> = { default_agent: 'codex', claude_engine: 'sdk', allowed_repos: '/srv' }
  for (const { name, kind, ours } of names()) {
    const sample = samples[ours!] ?? (/model|dir|cmd/.test(ours!) ? 'something' : '7')
    writeFileSync(file, kind === 'key' ? `${name} = ${/^\d+$/.test(sample) ? sample : JSON.stringify(sample)}\n` : '')
    const { settings, origins } = configurationOf(fleet.fleet.home.path, kind === 'key' ? {} : { [name]: sample })
    const set = (Object.keys(origins) as SettingName[]).filter(each => origins[each] !== 'default')
    expect(set.map(keyOf)).toEqual([ours])
    expect(String(settings[set[0]!])).toBe(sample)
    call(name)
  }
  expect(forgotten()).toEqual([])
  writeFileSync(file, '')
  const shown = await fleet.fleetCommand(['config', 'show', '--json'], { env: { FLEET_DEFAULT_EXECUTOR: 'codex' } })
  expect(JSON.parse(shown.stdout).settings).toContainEqual(
    expect.objectContaining({ key: 'default_agent', value: 'codex', origin: 'environment' }),
  )
})

test('every command, variable and file that agents and people of the beads supervisor know is there', async () => {
  const { fleet, repo, project } = await aScene()
  const variables = ledger('agent variable')
  const print = variables.names().map(({ name }) => `echo "${name}=$${name}"`)
  const notes = [
    'echo first > "$FLEET_TASK_DIR/PLAN.md"',
    'echo known > "$FLEET_TASK_DIR/KNOWLEDGE.md"',
    'echo kept > "$FLEET_ARTIFACT_DIR/it"',
  ]
  const { id } = await fleet.mission(project, [...print, ...notes, 'echo x > x'].join('\n'))
  await fleet.until(id, 'done')
  const commands = ledger('command')
  const type = async (name: string, ...args: string[]): Promise<string> => {
    commands.call(name)
    const { code, stdout, stderr } = await fleet.fleetCommand(args, { cwd: repo.path })
    expect(code, `${name}: ${stderr}`).toBe(0)
    return stdout
  }
  const log = await type('fleet task <id> log', 'task', id, 'log')
  for (const { name } of variables.names()) {
    expect(log).toMatch(new RegExp(`${name}=.*${id}`))
    variables.call(name)
  }
  const files = ledger('file')
  expect(await type('fleet task <id> plan', 'task', id, 'plan')).toBe('first\n')
  files.call('plan and status')
  expect(await type('fleet task <id> knowledge', 'task', id, 'knowledge')).toBe('known\n')
  files.call('knowledge')
  expect(JSON.parse((await fleet.fleetCommand(['task', id, 'artifacts', '--json'])).stdout)).toMatchObject({
    artifacts: { files: [{ path: 'it' }] },
  })
  files.call('artifacts')
  const asker = await fleet.mission(
    project,
    twice([call('ask_human', { question: 'Why?', wait_seconds: 0 })], ['echo y > y']),
  )
  const asked = questionFile(fleet.fleet, asker.id)
  await eventually('the question', () => existsSync(asked) && readFileSync(asked, 'utf8').includes('> Why?'))
  expect((await fleet.fleetCommand(['answer', asker.id, 'because'])).code).toBe(0)
  await fleet.until(asker.id, 'done', 'failed')
  expect(readFileSync(asked, 'utf8')).toMatch(/## A: .*\n\n> because/)
  expect((await fleet.fleetCommand(['task', asker.id, 'questions'])).stdout).toContain('because')
  files.call('questions (## Q: and ## A:)')
  const env = { PATH: `${join(ROOT, 'test/fixtures/beads')}:${process.env.PATH}`, BD_STAND_IN: fleet.root }
  const made = await fleet.fleetCommand(['bd', 'create', 'a bead', '--coder', 'claude'], { cwd: repo.path, env })
  expect(made.stdout, made.stderr).toContain('bd-')
  commands.call('fleet bd <args…>')
  await type('fleet init [--force]', 'init', '--force')
  await type('fleet ready [--limit]', 'ready', '--limit', '3')
  expect(await type('fleet show <id> [--json]', 'show', id)).toContain('(default)')
  expect(JSON.parse((await fleet.fleetCommand(['show', id, '--json'])).stdout)).toMatchObject({ id })
  await type('fleet tasks [--limit]', 'tasks', '--limit', '3')
  await type('fleet log [N]', 'log', '5')
  await type('fleet config set k=v…', 'config', 'set', 'max_concurrent=3', 'coder=claude', 'model=sonnet')
  expect(await type('fleet config show [--raw]', 'config', 'show', '--raw')).toContain('max_concurrent = 3')
  for (const each of [commands, variables, files]) expect(each.forgotten()).toEqual([])
})
