import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import type { CheckRunView } from '../../../src/operations/check-runs.ts'
import { membersOf } from '../../../src/runner/processes.ts'
import { eventually, type TestFleet } from '../../kit/fleet.ts'
import { aScene } from '../../kit/scene.ts'

const lastRun = async (fleet: TestFleet, project: { id: string }): Promise<CheckRunView | null> =>
  (await fleet.call<{ run: CheckRunView | null }>('get_check_run', { project_id: project.id })).run
const ended = (fleet: TestFleet, project: { id: string }): Promise<CheckRunView> =>
  eventually('the end of the checks', async () => {
    const run = await lastRun(fleet, project)
    return run?.status === 'ended' ? run : undefined
  })

test('the checks run on the tip of the base branch, all of them, and show their evidence', async () => {
  const { fleet, repo, project } = await aScene()
  await fleet.call('update_project', {
    project_id: project.id,
    checks: [
      { name: 'breaks', command: 'echo oh no; exit 3' },
      { name: 'works', command: 'git rev-parse HEAD' },
    ],
  })
  const checked = await fleet.fleetCommand(['project', 'check', project.id])
  const tip = await repo.git('rev-parse', 'HEAD')
  expect(checked).toMatchObject({ code: 1 })
  expect(checked.stdout).toMatch(/failed {2}breaks at .*exit code 3\n {2}oh no\npassed {2}works/)
  const run = await ended(fleet, project)
  expect(run).toMatchObject({ outcome: 'failed', commit: tip.trim(), number: 1, requested_by: 'person' })
  expect(run.results).toMatchObject([
    { name: 'breaks', passed: false, exit_code: 3, output: 'oh no' },
    { name: 'works', passed: true, output: tip.trim() },
  ])
  const one = await fleet.fleetCommand(['project', 'check', project.id, '--only', 'works'])
  expect(one).toMatchObject({ code: 0 })
  expect((await ended(fleet, project)).results.map(({ name }) => name)).toEqual(['works'])
  await expect(fleet.call('run_checks', { project_id: project.id, check: 'other' })).rejects.toThrow(/breaks, works/)
})

test('a killed server leaves the check running; the next one follows it and runs nothing twice', async () => {
  const { fleet, project, gate } = await aScene()
  const count = join(fleet.root, 'count')
  const hold = gate('check')
  onTestFinished(() => hold.open())
  await fleet.call('update_project', {
    project_id: project.id,
    checks: [
      { name: 'first', command: `echo first >> '${count}'` },
      { name: 'slow', command: `echo slow >> '${count}'; echo so far; ${hold.wait}` },
    ],
  })
  await fleet.call('run_checks', { project_id: project.id })
  await eventually('the slow check', async () => hold.reached() || undefined)
  expect((await lastRun(fleet, project))!.running).toMatchObject({ name: 'slow', output: 'so far' })
  await expect(fleet.call('run_checks', { project_id: project.id })).rejects.toThrow(/running already/)
  await expect(fleet.call('delete_project', { project_id: project.id })).rejects.toThrow(/checks .* running/)
  await fleet.kill()
  await fleet.start()
  expect((await lastRun(fleet, project))!.status).toBe('running')
  hold.open()
  expect(await ended(fleet, project)).toMatchObject({
    outcome: 'passed',
    results: [{ name: 'first' }, { name: 'slow' }],
  })
  expect(readFileSync(count, 'utf8')).toBe('first\nslow\n')
})

test('a person stops it, and its processes are gone', async () => {
  const { fleet, project, gate } = await aScene()
  const hold = gate('check')
  onTestFinished(() => hold.open())
  await fleet.call('update_project', { project_id: project.id, checks: [{ name: 'slow', command: hold.wait }] })
  await fleet.call('run_checks', { project_id: project.id })
  await eventually('the slow check', async () => hold.reached() || undefined)
  const stopped = await fleet.fleetCommand(['project', 'check', project.id, '--stop'])
  expect(stopped).toMatchObject({ code: 0 })
  const run = await ended(fleet, project)
  expect(run).toMatchObject({ outcome: 'stopped', results: [] })
  const mark = `${fleet.fleet.home.id}/check-${run.id}`
  expect(membersOf({ mark, root: null, worktree: null, known: new Map() })).toEqual([])
  await fleet.call('update_project', { project_id: project.id, checks: [{ name: 'quick', command: 'true' }] })
  await fleet.call('run_checks', { project_id: project.id })
  expect(await ended(fleet, project)).toMatchObject({ outcome: 'passed', number: 2 })
})
