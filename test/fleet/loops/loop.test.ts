import { expect, test } from 'vitest'
import type { LoopView } from '../../../src/operations/loops.ts'
import { eventually, type TestFleet } from '../../kit/fleet.ts'
import { call as asAgent } from '../../kit/inside.ts'
import { aPlanner, COMPLETE, planOf } from '../../kit/planner.ts'
import { aScene } from '../../kit/scene.ts'

const CHECKS = { checks: [{ name: 'two', command: 'test -e a.txt && test -e b.txt' }] }
const one = (name: string) => planOf({ key: name, script: `echo ${name} > ${name}.txt` })

async function loopScene(project: object = CHECKS) {
  const scene = await aScene({ project })
  const planner = aPlanner(scene.fleet)
  const { id: project_id } = scene.project
  const start = (more: object = {}) =>
    scene.fleet.call<LoopView>('start_loop', {
      project_id,
      goal: 'Both files',
      agent: 'planner',
      scripts: true,
      ...more,
    })
  const call = (name: string) => scene.fleet.call<LoopView>(name, { project_id })
  return { ...scene, planner, start, call, until: untilIn(scene.fleet, project_id) }
}

function untilIn(fleet: TestFleet, project_id: string) {
  const show = () => fleet.call<LoopView>('get_loop', { project_id })
  return (what: string, holds: (loop: LoopView) => boolean): Promise<LoopView> =>
    eventually(
      `a loop ${what}`,
      async () => {
        const loop = await show()
        return holds(loop) ? loop : undefined
      },
      async () => JSON.stringify(await show()),
    )
}
const isOver = ({ ended_at }: LoopView): boolean => ended_at !== null
const outcomes = ({ rounds }: LoopView) => rounds.map(round => round.outcome)

test('rounds go on until the planner says complete and the checks agree; its word alone is not enough', async () => {
  const { fleet, repo, planner, start, until } = await loopScene({
    checks: [{ name: 'two', command: 'test ! -e a.txt || test -e b.txt || test ! -e README.md' }],
  })
  planner.says(one('c'), COMPLETE)
  await start()
  const loop = await until('over', isOver)
  expect(outcomes(loop)).toEqual(['progress', 'complete'])
  expect(loop).toMatchObject({ status: 'complete', ending: { text: expect.stringContaining('Its checks pass on') } })
  expect(await repo.filesOn('main')).toEqual(['README.md', 'c.txt'])
  expect(planner.told()[1]).toMatch(/Round 1: progress[\s\S]*make c \(landed\)/)
  await fleet.stop()
})

test('"complete" while a check fails is a failure that the next plan is told of', async () => {
  const { repo, planner, start, until } = await loopScene({
    checks: [{ name: 'green', command: 'cat state; ! grep -q red state' }],
  })
  await repo.commit('red', { state: 'red alert\n' })
  planner.says(COMPLETE, planOf({ key: 'fix', script: 'echo green > state' }), COMPLETE)
  await start()
  const loop = await until('over', isOver)
  expect(outcomes(loop)).toEqual(['checks_failed', 'progress', 'complete'])
  expect(planner.told()[1]).toContain('red alert')
})

test('a planner that never says complete is ended by its limit of rounds', async () => {
  const { fleet, planner, start, until } = await loopScene({ checks: [{ name: 'ok', command: 'true' }] })
  planner.says(planOf({ key: 'more', script: 'date +%s%N >> more.txt' }))
  await start({ max_rounds: 3 })
  const loop = await until('over', isOver)
  expect(loop).toMatchObject({ status: 'limit', ending: { code: 'rounds' } })
  expect(outcomes(loop)).toEqual(['progress', 'progress', 'progress'])
  expect(loop.spent_usd).toBeCloseTo(0.75)
  const kinds = (await fleet.events()).map(event => event.kind)
  expect(kinds.filter(kind => kind === 'loop_ended')).toHaveLength(1)
})

test.each([
  ['garbage', '{"complete": true, "reason": "all'],
  ['nothing', ''],
  [
    'missions that come to nothing',
    planOf({ key: 'bad', script: 'exit 1' }, { key: 'after', script: 'true', after: ['bad'] }),
  ],
])('%s is a failure and never "complete"; so many in a row end the loop', async (_, answer) => {
  const { fleet, planner, start, until } = await loopScene()
  planner.says(answer)
  await start({ max_failures: 2 })
  const loop = await until('over', isOver)
  expect(loop).toMatchObject({ status: 'limit', ending: { code: 'failures' } })
  expect(loop.rounds).toHaveLength(2)
  const { missions } = await fleet.call<{ missions: { status: string }[] }>('list_missions')
  expect(missions.filter(({ status }) => !['done', 'failed', 'cancelled'].includes(status))).toEqual([])
})

test('the money of all its agents together ends it, also in the middle of a round', async () => {
  const { planner, start, until } = await loopScene({ checks: [{ name: 'ok', command: 'true' }] })
  planner.says(planOf({ key: 'a', script: 'echo a >> a.txt' }))
  await start({ max_budget_usd: 0.4 })
  const loop = await until('over', isOver)
  expect(loop).toMatchObject({ status: 'limit', ending: { code: 'money' } })
  expect(loop.rounds).toHaveLength(2)
})

test('it can be paused, goes on, and is stopped with its agents; there is one at a time', async () => {
  const { fleet, project, planner, start, call, until, gate } = await loopScene({
    checks: [{ name: 'ok', command: 'true' }],
  })
  const [held, part] = [gate('work'), gate('part')]
  const handsOn = asAgent('create_sub_mission', { title: 'part', detailed_prompt: part.wait, agent: 'shell' })
  planner.says(
    planOf({ key: 'a', script: 'echo a > a.txt' }),
    planOf({ key: 'b', script: `${handsOn}; echo b > b.txt; ${held.wait}` }),
  )
  const plans = gate('plans')
  planner.first(plans.wait)
  await start()
  await expect(start()).rejects.toThrow('has a loop already')
  await eventually('it plans', () => plans.reached())
  await call('pause_loop')
  plans.open()
  const { rounds } = await call('get_loop')
  await eventually(
    'a plan',
    async () =>
      (await fleet.call<{ status: string }>('get_plan', { plan_id: rounds[0]!.plan_id })).status === 'proposed',
  )
  expect(await call('get_loop')).toMatchObject({ status: 'paused', waits_for: 'it is paused' })

  await call('resume_loop')
  await eventually('the second round works', () => held.reached() && part.reached())
  await expect(fleet.call('delete_project', { project_id: project.id })).rejects.toThrow()
  await call('stop_loop')
  const loop = await until('over', isOver)
  expect(loop).toMatchObject({ status: 'stopped', waits_for: null })
  const { missions } = await fleet.call<{ missions: { id: string; status: string }[] }>('list_missions')
  expect(missions.map(({ status }) => status).toSorted()).toEqual(['cancelled', 'cancelled', 'done', 'done', 'done'])
  for (const { id } of missions)
    for (const { id: session } of (await fleet.show(id)).sessions) expect(fleet.processes(session)).toEqual([])
  const { loops } = await fleet.call<{ loops: unknown[] }>('list_loops', { project_id: project.id })
  expect(loops).toHaveLength(1)
})

test('a project without checks has no loop unless the word of the planner is to be taken', async () => {
  const { planner, start, until } = await loopScene({})
  planner.says(COMPLETE)
  await expect(start()).rejects.toThrow('has no checks')
  await start({ unchecked: true })
  expect(await until('over', isOver)).toMatchObject({ status: 'complete' })
})

test('killed while it plans, between two rounds and while it checks, the server loses nothing and does nothing twice', async () => {
  const { fleet, repo, planner, start, until, gate } = await loopScene({})
  const check = gate('check')
  await fleet.call('update_project', {
    project_id: (await fleet.call<{ projects: { id: string }[] }>('list_projects')).projects[0]!.id,
    checks: [{ name: 'slow', command: `test ! -e b.txt || { echo run >> '${fleet.root}/checked'; ${check.wait}; }` }],
  })
  const plans = gate('plans')
  planner.first(plans.wait)
  planner.says(one('a'), one('c'), planOf({ key: 'b', script: 'echo b > b.txt' }), COMPLETE)
  await start()
  await eventually('it plans', () => plans.reached())
  await fleet.kill()
  plans.open()
  await fleet.start()
  await until('in its second round', loop => loop.rounds.length > 1)
  await fleet.kill()
  await fleet.start()
  await eventually('it checks', () => check.reached())
  await fleet.kill()
  check.open()
  await fleet.start()
  const loop = await until('over', isOver)
  expect(loop.status).toBe('complete')
  expect(outcomes(loop)).toEqual(['progress', 'progress', 'progress', 'complete'])
  expect(await repo.filesOn('main')).toEqual(['README.md', 'a.txt', 'b.txt', 'c.txt'])
  expect(planner.told()).toHaveLength(4)
})
