import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import type { PlanView } from '../../../src/operations/plans.ts'
import { mcpClient } from '../../../src/server/mcp/client.testkit.ts'
import { eventually, type TestFleet } from '../../kit/fleet.ts'
import { aPlanner, planOf } from '../../kit/planner.ts'
import { aScene } from '../../kit/scene.ts'

const GOOD = planOf(
  { key: 'a', script: 'echo a > a.txt' },
  { key: 'b', script: 'cat a.txt > b.txt', after: ['a'] },
  { key: 'c', script: 'cat a.txt > c.txt', after: ['a'] },
  { key: 'd', script: 'cat b.txt c.txt > d.txt', after: ['b', 'c'] },
)
const CYCLE = planOf({ key: 'a', script: 'true', after: ['b'] }, { key: 'b', script: 'true', after: ['a'] })

async function planningScene() {
  const scene = await aScene()
  const planner = aPlanner(scene.fleet)
  const plan = (more: object = {}) =>
    scene.fleet.call<PlanView>('plan_project', {
      prompt: 'Four files',
      project_id: scene.project.id,
      agent: 'planner',
      ...more,
    })
  return { ...scene, planner, plan }
}

const planUntil = (fleet: TestFleet, id: string, ...statuses: string[]): Promise<PlanView> =>
  eventually(
    `plan ${statuses.join(' or ')}`,
    async () => {
      const plan = await fleet.call<PlanView>('get_plan', { plan_id: id })
      return statuses.includes(plan.status) ? plan : undefined
    },
    async () => JSON.stringify(await fleet.call<PlanView>('get_plan', { plan_id: id })),
  )

test('a plan is proposed, changes nothing, is approved once and runs by its dependencies', async () => {
  const { fleet, repo, planner, plan } = await planningScene()
  planner.says(GOOD)
  const { id, mission_id } = await plan()
  const proposal = await planUntil(fleet, id, 'proposed', 'failed')
  expect(proposal).toMatchObject({
    summary: 'A plan.',
    steps: [['a'], ['b', 'c'], ['d']],
    estimate: { missions: 4, minutes: 40, longest_minutes: 30, usd: 2 },
  })
  expect(proposal.missions[3]).toMatchObject({ key: 'd', depends_on: ['b', 'c'], agent: 'shell', mission_id: null })
  expect(planner.startedWith()).toEqual(['--look\n'])
  expect(planner.told()[0]).toContain('Four files')
  expect(await fleet.show(mission_id)).toMatchObject({ status: 'done', mission_type: 'plan', tool_preset: 'explore' })
  expect((await fleet.call<{ missions: unknown[] }>('list_missions')).missions).toHaveLength(1)

  await Promise.all([1, 2, 3].map(() => fleet.call('approve_plan', { plan_id: id })))
  const approved = await planUntil(fleet, id, 'approved')
  await fleet.until(approved.missions[3]!.mission_id!, 'done')
  expect(await repo.readOn('main', 'd.txt')).toBe('a\na')
  expect((await fleet.call<{ missions: unknown[] }>('list_missions')).missions).toHaveLength(5)
  await expect(fleet.call('reject_plan', { plan_id: id })).rejects.toThrow('is approved')
})

test.each([
  ['raw', GOOD],
  ['fenced', `\`\`\`json\n${JSON.stringify(JSON.parse(GOOD), null, 2)}\n\`\`\``],
  ['prose around it', `I looked {carefully} at "all" of it.\nHere it is: ${GOOD}\nTell me { if you like it.`],
  ['the same twice', `${GOOD}\n\nOnce more:\n\n\`\`\`\n${GOOD}\n\`\`\``],
])('an answer is read: %s', async (_, answer) => {
  const { fleet, planner, plan } = await planningScene()
  planner.says(answer)
  const proposal = await planUntil(fleet, (await plan()).id, 'proposed', 'failed')
  expect(proposal).toMatchObject({ status: 'proposed', steps: [['a'], ['b', 'c'], ['d']] })
  expect(planner.told()).toHaveLength(1)
})

test('an answer that cannot be used is sent back with what is wrong, in the same conversation', async () => {
  const { fleet, planner, plan } = await planningScene()
  planner.says(CYCLE, planOf({ key: 'a', script: ' ' }), GOOD)
  const proposal = await planUntil(fleet, (await plan()).id, 'proposed', 'failed')
  expect(proposal.status).toBe('proposed')
  expect(planner.told()[1]).toContain('in a circle: a → b → a')
  expect(planner.told()[2]).toContain('The prompt of a is empty')
  expect(planner.startedWith().slice(1)).toEqual(['--look --resume t-1\n', '--look --resume t-1\n'])
})

test.each([
  ['a circle', CYCLE, 'in a circle'],
  ['nothing', '', 'It is empty.'],
  ['garbage', 'Sure! {"missions": [{"key": "a", ]} I am "done".', 'no JSON object'],
])('after three answers that cannot be used it has failed and nothing is left: %s', async (_, answer, why) => {
  const { fleet, planner, plan } = await planningScene()
  planner.says(answer)
  const { id, mission_id } = await plan({ approve: true })
  const failed = await planUntil(fleet, id, 'proposed', 'approved', 'failed')
  expect(failed).toMatchObject({ status: 'failed', reason: expect.stringContaining(why), missions: [] })
  expect(planner.told()).toHaveLength(3)
  expect(await fleet.show(mission_id)).toMatchObject({ status: 'failed', status_reason: { code: 'unusable_answer' } })
  expect((await fleet.call<{ missions: unknown[] }>('list_missions')).missions).toHaveLength(1)
})

test('a proposal is edited, and only into one that can run; a rejected one runs nothing', async () => {
  const { fleet, planner, plan, repo } = await planningScene()
  planner.says(GOOD)
  const { id } = await plan()
  await planUntil(fleet, id, 'proposed')
  await expect(fleet.call('edit_plan', { plan_id: id, missions: JSON.parse(CYCLE).missions })).rejects.toThrow('circle')
  const missions = JSON.parse(planOf({ key: 'x', script: 'echo x > x.txt' })).missions
  await fleet.call('edit_plan', { plan_id: id, missions })
  const approved = await fleet.call<PlanView>('approve_plan', { plan_id: id })
  await fleet.until(approved.missions[0]!.mission_id!, 'done')
  expect(await repo.filesOn('main')).toEqual(['README.md', 'x.txt'])

  const second = await plan()
  await planUntil(fleet, second.id, 'proposed')
  await fleet.call('reject_plan', { plan_id: second.id, reason: 'too much' })
  await expect(fleet.call('approve_plan', { plan_id: second.id })).rejects.toThrow('is rejected')
})

test('a plan put aside while it is worked out takes its planner along', async () => {
  const { fleet, planner, plan, gate } = await planningScene()
  const held = gate('planning')
  planner.first(held.wait)
  const { id, mission_id } = await plan()
  await eventually('it plans', () => held.reached())
  await fleet.call('reject_plan', { plan_id: id })
  const { sessions } = await fleet.until(mission_id, 'cancelled')
  expect(fleet.processes(sessions[0]!.id)).toEqual([])
})

test('a shell script does not plan, and no repository is made for it', async () => {
  const { fleet, plan } = await planningScene()
  await expect(plan({ agent: 'shell' })).rejects.toThrow('A shell script cannot plan')
  const path = join(fleet.root, 'new')
  for (const where of [{}, { project_path: path }])
    await expect(plan({ project_id: undefined, agent: 'shell', ...where })).rejects.toThrow('cannot plan')
  expect([existsSync(path), readdirSync(join(fleet.fleet.home.path, 'projects'))]).toEqual([false, []])
  expect((await fleet.call<{ projects: unknown[] }>('list_projects')).projects).toHaveLength(1)
})

test('a plan that is refused leaves no repository behind, and takes away none that was there', async () => {
  const { fleet, repo, plan } = await planningScene()
  const path = join(fleet.root, 'new')
  const cannot = { model: 'another', project_id: undefined }
  for (const where of [{}, { project_path: path }, { project_path: repo.path }])
    await expect(plan({ ...cannot, ...where })).rejects.toThrow('cannot be told which model to use')
  await expect(plan({ project_id: undefined, project_path: path, landing: 'pull-request' })).rejects.toThrow()
  const made = readdirSync(fleet.root).filter(name => name.startsWith('new'))
  expect([made, readdirSync(join(fleet.fleet.home.path, 'projects'))]).toEqual([[], []])
  expect(existsSync(join(repo.path, '.git'))).toBe(true)
  expect((await fleet.call<{ projects: unknown[] }>('list_projects')).projects).toHaveLength(1)
})

test('the server is killed while an agent plans, and while the plan is approved: nothing is lost or doubled', async () => {
  const { fleet, repo, planner, plan, gate } = await planningScene()
  const held = gate('planning')
  planner.first(held.wait)
  planner.says(`Not yet.`, GOOD)
  const { id } = await plan({ approve: true })
  await eventually('it plans', () => held.reached())
  await fleet.kill()
  held.open()
  await fleet.start()
  const approved = await planUntil(fleet, id, 'approved', 'failed')
  await fleet.kill()
  await fleet.start()
  await fleet.until(approved.missions[3]!.mission_id!, 'done')
  expect(await repo.readOn('main', 'd.txt')).toBe('a\na')
  expect(planner.told()).toHaveLength(2)
  expect((await fleet.call<{ missions: unknown[] }>('list_missions')).missions).toHaveLength(5)
})

test('where no repository is named one is made, and a planner that is cancelled takes its plan along', async () => {
  const { fleet, planner, plan, gate } = await planningScene()
  planner.says(planOf({ key: 'a', script: 'echo a > a.txt' }))
  const { id, project_id } = await plan({ project_id: undefined, name: 'A Tea House', approve: true, landing: 'auto' })
  const approved = await planUntil(fleet, id, 'approved', 'failed')
  await fleet.until(approved.missions[0]!.mission_id!, 'done')
  const project = await fleet.call<{ path: string; name: string }>('get_project', { project_id })
  expect(project.path).toContain('/home/projects/a-tea-house-')

  planner.first(gate('never').wait)
  const second = await plan({ project_id })
  await fleet.until(second.mission_id, 'running')
  await fleet.call('cancel_mission', { mission_id: second.mission_id })
  expect(await planUntil(fleet, second.id, 'failed')).toMatchObject({ reason: expect.stringContaining('cancelled') })
})

test('a client over MCP plans, shows, approves and waits; what waits for a decision is in the inbox', async () => {
  const { fleet, repo, planner } = await planningScene()
  planner.says(planOf({ key: 'a', script: 'echo a > a.txt' }))
  const { server } = await fleet.call<{ server: { url: string } }>('system_status')
  const mcp = await mcpClient(`${server.url}/mcp?tools=missions`, await fleet.fleet.keys.ownerToken())
  onTestFinished(() => mcp.close())
  const call = async (tool: string, input: object) => JSON.parse((await mcp.call(tool, input)).text)

  const plan = await call('plan_project', {
    prompt: 'A file',
    project_path: repo.path,
    agent: 'planner',
    scripts: true,
  })
  expect(plan).toMatchObject({ status: 'proposed', next: expect.stringContaining('approve_plan') })
  const inbox = await fleet.fleetCommand(['inbox'])
  expect(inbox).toMatchObject({ code: 3, stdout: expect.stringContaining('A file · test') })

  const approved = await call('approve_plan', { plan_id: plan.plan_id })
  const { mission_id } = approved.missions[0]
  expect(await call('wait_for_mission', { mission_id })).toMatchObject({ answer: 'over', status: 'done' })
  const { mission_id: planner_id } = await fleet.call<PlanView>('get_plan', { plan_id: plan.plan_id })
  await fleet.call('delete_mission', { mission_id: planner_id })
  expect(await call('get_plan', { plan_id: plan.plan_id })).toMatchObject({ missions: [{ status: 'done' }] })
})
