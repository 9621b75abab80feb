import { execFileSync } from 'node:child_process'
import { mkdirSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { eventually } from '../kit/fleet.ts'
import { aPlanner } from '../kit/planner.ts'
import { aScene } from '../kit/scene.ts'

const AGENT = { detailed_prompt: 'Do it.', title: 'a mission', auto_dispatch: true }

test.each([
  ['a budget nobody can hold it to', { agent: 'agy', max_budget_usd: 1 }, /cannot be held to a budget/],
  ['a preset its client cannot hold', { agent: 'codex', tool_preset: 'test' }, /cannot be held to the preset test/],
  ['a preset its client cannot hold', { agent: 'opencode', tool_preset: 'test' }, /without making new ones/],
  ['a list of tools', { agent: 'codex', allowed_tools: ['Read'] }, /cannot be held to a list of tools/],
  ['a tool that is none', { agent: 'claude', allowed_tools: ['Bash(a)(b)'] }, /is not a tool/],
  ['an effort it does not know', { agent: 'gemini', effort: 'high' }, /cannot be told to think/],
  ['approvals it cannot ask for', { agent: 'opencode', approvals: 'ask' }, /cannot ask a person/],
  ['turns that nobody counts', { agent: 'agy', max_turns: 3 }, /cannot be held to a limit of turns/],
])('%s is refused where it is asked for: %j', async (_what, settings, why) => {
  const { fleet, project } = await aScene({ start: false })
  const create = (more: object) =>
    fleet.call<{ id: string }>('create_mission', { project_id: project.id, ...AGENT, ...more })
  await expect(create(settings)).rejects.toThrow(why)
  expect(await fleet.call('list_missions')).toMatchObject({ missions: [] })

  const { agent, ...limits } = settings
  const { id } = await create({ agent, auto_dispatch: false })
  await expect(fleet.call('update_mission', { mission_id: id, ...limits })).rejects.toThrow(why)
  expect(await fleet.show(id)).toMatchObject({ status: 'draft', sessions: [] })
})

test('an agent that is not installed is not started, and its mission says how to get it', async () => {
  const { fleet, project } = await aScene({ start: false })
  const bin = join(fleet.root, 'bin')
  mkdirSync(bin)
  for (const program of ['git', 'sh'])
    symlinkSync(execFileSync('which', [program], { encoding: 'utf8' }).trim(), join(bin, program))
  await fleet.start({ env: { PATH: `${bin}:/bin` } })
  const { id } = await fleet.mission(project, 'Do it.', { agent: 'gemini' })
  const mission = await fleet.until(id, 'failed', 'done', 'review')
  expect(mission).toMatchObject({ status: 'failed', status_reason: { code: 'dispatch_failed' }, sessions: [] })
  expect(mission.status_reason!.text).toContain(
    'Gemini CLI is not installed. Install Gemini CLI: npm install -g @google/gemini-cli',
  )
})

const UNHELD = { agent: 'agy', max_budget_usd: 1 }

test('a workflow with a stage that its agent cannot be held to is refused as a whole, by the name of the stage', async () => {
  const { fleet, project } = await aScene({ start: false })
  const stages = [
    { name: 'build', prompt: 'true', agent: 'shell' },
    { name: 'look', prompt: 'Look.', ...UNHELD },
  ]
  const create = (these: object[]) =>
    fleet.call<{ id: string }>('create_workflow', { project_id: project.id, task_prompt: 'x', stages: these })
  await expect(create(stages)).rejects.toThrow(/Stage look: .*cannot be held to a budget/)
  await expect(
    create([stages[0]!, { name: 'look', prompt: 'x', agent: 'codex', tool_preset: 'test' }]),
  ).rejects.toThrow(/Stage look: .*cannot be held to the preset test/)
  expect(await fleet.call('list_workflows')).toMatchObject({ workflows: [] })
})

test('a fork, a plan and a loop are refused for what their agent cannot be held to', { timeout: 60_000 }, async () => {
  const { fleet, project } = await aScene({ start: false })
  aPlanner(fleet)
  await fleet.start()
  const { id } = await fleet.mission(project, 'echo a > a.txt', { landing: 'never' })
  await fleet.until(id, 'done')
  const fork = { mission_id: id, fresh: true, ...UNHELD }
  await expect(fleet.call('fork_mission', fork)).rejects.toThrow(/cannot be held to a budget/)
  const where = { project_id: project.id, agent: 'planner', model: 'other' }
  await expect(fleet.call('plan_project', { ...where, prompt: 'x' })).rejects.toThrow(/cannot/)
  await expect(fleet.call('start_loop', { ...where, goal: 'x', unchecked: true })).rejects.toThrow(/cannot/)
  expect((await fleet.call<{ missions: unknown[] }>('list_missions')).missions).toHaveLength(1)
  expect(await fleet.call('list_plans', {})).toMatchObject({ plans: [] })
})

test('a plan whose missions cannot be held is not approved, and stays to be edited', { timeout: 60_000 }, async () => {
  const { fleet, project } = await aScene({ start: false })
  const planner = aPlanner(fleet)
  planner.says(JSON.stringify({ summary: 's', missions: [{ key: 'a', title: 'a', prompt: 'x', agent: 'gemini' }] }))
  await fleet.start()
  const asked = { project_id: project.id, agent: 'planner', prompt: 'x' }
  const { id } = await fleet.call<{ id: string }>('plan_project', asked)
  await eventually('it is proposed', async () => {
    const { status } = await fleet.call<{ status: string }>('get_plan', { plan_id: id })
    return status === 'proposed'
  })
  await expect(fleet.call('approve_plan', { plan_id: id })).rejects.toThrow(/Gemini CLI is not installed/)
  expect(await fleet.call('get_plan', { plan_id: id })).toMatchObject({ status: 'proposed' })
})

test('what names an agent that is not installed is refused when it is asked for: workflow, plan, loop, schedule', {
  timeout: 60_000,
}, async () => {
  const { fleet, project } = await aScene({ start: false })
  const why = /Gemini CLI is not installed/
  const stages = [{ name: 'a', prompt: 'x', agent: 'gemini' }]
  await expect(fleet.call('create_workflow', { project_id: project.id, task_prompt: 'x', stages })).rejects.toThrow(why)
  const where = { project_id: project.id, agent: 'gemini' }
  await expect(fleet.call('plan_project', { ...where, prompt: 'x' })).rejects.toThrow(why)
  await expect(fleet.call('start_loop', { ...where, goal: 'x', unchecked: true })).rejects.toThrow(why)
  const { id } = await fleet.call<{ id: string }>('create_mission', {
    ...{ project_id: project.id, title: 'x', detailed_prompt: 'x', agent: 'gemini' },
  })
  await expect(fleet.call('schedule_mission', { mission_id: id, cron: '@daily' })).rejects.toThrow(why)
  expect(await fleet.call('list_workflows')).toMatchObject({ workflows: [] })
})
