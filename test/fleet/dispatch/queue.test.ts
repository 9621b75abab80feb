import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import type { MissionView } from '../../../src/operations/views.ts'
import { eventually } from '../../kit/fleet.ts'
import { aScene } from '../../kit/scene.ts'

test('tasks are added where one stands, queue up over repositories, and are looked into', async () => {
  const { fleet, repo, repository, gate } = await aScene({ env: { FLEET_MAX_CONCURRENT: '1' } })
  const second = await repository()
  await fleet.project(second.path, { name: 'second' })
  mkdirSync(join(second.path, 'lib'))
  writeFileSync(join(second.path, 'lib/keep'), '')
  await second.git('add', '.')
  await second.git('commit', '-qm', 'lib')
  const hold = gate('hold')
  const fleetIn = (cwd: string, ...args: string[]) => fleet.fleetCommand(args, { cwd })
  const add = async (cwd: string, title: string, ...more: string[]): Promise<MissionView> => {
    const { code, stdout, stderr } = await fleetIn(cwd, 'task', 'add', title, '--json', ...more)
    expect(code, stderr).toBe(0)
    return JSON.parse(stdout)
  }
  const notes = 'printf "%s\\n" "first the keel" > "$FLEET_TASK_DIR/PLAN.md"; echo log > "$FLEET_ARTIFACT_DIR/a.txt"'
  const script = `${notes}; echo one; echo two; ${hold.wait}; pwd > where`
  const first = await add(join(second.path, 'lib'), 'Build a ship', '--description', script, '--agent', 'shell')
  const later = await add(repo.path, 'echo later > later', '--agent', 'shell')
  const urgent = await add(
    repo.path,
    'echo urgent > urgent',
    '--agent',
    'shell',
    '--priority',
    '5',
    '--depends-on',
    first.id,
  )
  const sooner = await add(repo.path, 'echo sooner > sooner', '--agent', 'shell', '--priority', '3')
  expect(first).toMatchObject({ title: 'Build a ship', subdirectory: 'lib', status: 'queued' })
  expect(urgent.depends_on).toEqual([first.id])
  await eventually('the first to be at work', () => hold.reached())

  const ready = JSON.parse((await fleetIn('/', 'ready', '--json')).stdout) as { missions: MissionView[] }
  expect(ready.missions.map(({ id }) => id)).toEqual([sooner.id, later.id])
  expect((await fleetIn('/', 'ready')).stdout).toContain('echo sooner')
  expect(JSON.parse((await fleetIn('/', 'ready', '--limit', '1', '--json')).stdout).missions).toHaveLength(1)

  const { tasks } = JSON.parse((await fleetIn('/', 'tasks', '--json')).stdout)
  expect(tasks).toMatchObject([
    { mission_id: first.id, title: 'Build a ship', repository: second.path, events: 2, agent: 'shell', set: ['agent'] },
  ])
  expect(Date.parse(tasks[0].last_at)).toBeLessThanOrEqual(Date.now())
  const table = (await fleetIn('/', 'tasks')).stdout
  for (const title of 'ID STARTED ELAPSED IDLE CONTEXT PEAK EVENTS AGENT MODEL TITLE REPOSITORY'.split(' '))
    expect(table).toContain(title)
  expect((await fleetIn('/', 'task')).stdout).toMatch(/Running now:\n +\w+ +Build a ship/)

  const shown = (await fleetIn('/', 'show', first.id.slice(0, 8))).stdout
  expect(shown).toMatch(/agent +shell\n/)
  expect(shown).toMatch(/time limit \(s\) +7200 \(default\)/)
  expect(shown).toMatch(/landing +auto \(default of the project\)/)
  expect((await fleetIn('/', 'task', first.id, 'log')).stdout).toContain('one\ntwo')
  expect((await fleetIn('/', 'task', first.id, 'plan')).stdout).toBe('first the keel\n')
  expect((await fleetIn('/', 'task', first.id, 'knowledge')).stderr).toContain('no knowledge')
  expect((await fleetIn('/', 'task', first.id, 'questions')).stderr).toContain('no questions')
  expect((await fleetIn('/', 'task', first.id, 'artifacts')).stdout).toContain('a.txt')
  expect(await fleetIn('/', 'task', first.id, 'nonsense')).toMatchObject({ code: 2 })
  expect((await fleetIn('/', 'log', '1')).stdout.trim().split('\n')).toHaveLength(1)

  hold.open()
  for (const { id } of [first, urgent, later, sooner]) await fleet.until(id, 'done')
  expect(await second.git('show', 'HEAD:lib/where')).toMatch(/lib$/)
})

test('init prepares a home and leaves a file that is there alone', async () => {
  const { fleet } = await aScene({ start: false })
  const file = join(fleet.root, 'home/fleet.toml')
  expect((await fleet.fleetCommand(['init'])).stdout).toContain(file)
  expect(readFileSync(file, 'utf8')).toContain('# max_concurrent = 4')
  writeFileSync(file, 'max_retries = 2\n')
  expect((await fleet.fleetCommand(['init'])).stderr).toContain('--force')
  expect(readFileSync(file, 'utf8')).toBe('max_retries = 2\n')
  expect(await fleet.fleetCommand(['init', '--force'])).toMatchObject({ code: 0 })
  expect(readFileSync(`${file}.old`, 'utf8')).toBe('max_retries = 2\n')
})
