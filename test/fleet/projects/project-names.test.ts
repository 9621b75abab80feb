import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import type { Project } from '../../../src/domain/records/project.ts'
import { aRepository } from '../../../src/git/testkit.ts'
import type { TestFleet } from '../../kit/fleet.ts'
import { aFleetWith, aMission, aProject, at } from '../../kit/records.ts'

const aHome = async (projects: Project[] = [aProject({ id: 'p1', name: 'ship' })]): Promise<TestFleet> =>
  aFleetWith([aMission('m1', 1)], projects)

/** A repository in a folder with this name, so that several can have it. */
async function aFolder(name: string): Promise<string> {
  const { root, path, git, remove } = await aRepository()
  onTestFinished(remove)
  await git('clone', '--quiet', path, join(root, name))
  return join(root, name)
}

test('a name in use is refused to a second project, and says whose it is', async () => {
  const fleet = await aHome()
  const path = await aFolder('boat')
  const taken = { message: /p1.*\/nowhere\/p1/, status: 409 }
  await expect(fleet.call('create_project', { path, name: 'Ship' })).rejects.toMatchObject(taken)
  await expect(fleet.call('create_project', { name: 'ship' })).rejects.toMatchObject(taken)
  const boat = await fleet.call<Project>('create_project', { path })
  expect(boat.name).toBe('boat')
  await expect(fleet.call('update_project', { project_id: boat.id, name: 'ship' })).rejects.toMatchObject(taken)
  // A project may keep its own name in another spelling.
  expect(await fleet.call('update_project', { project_id: boat.id, name: 'Boat' })).toMatchObject({ name: 'Boat' })
})

test('a folder whose name is in use gets a free one, and the terminal says so', async () => {
  const fleet = await aHome([aProject({ id: 'p1', name: 'API' }), aProject({ id: 'p2', name: 'api-2' })])
  const [first, second] = [await aFolder('api'), await aFolder('api')]
  expect(await fleet.call('create_project', { path: first })).toMatchObject({ name: 'api-3' })
  const added = await fleet.fleetCommand(['project', 'add', second])
  expect(added.stdout).toContain('Added project api-4')
  expect(added.stderr).toContain('Another project is called api, so this one is called api-4.')
  const third = await fleet.fleetCommand(['mission', 'create', 'do it'], { cwd: await aFolder('api') })
  expect(third.stderr).toContain('Another project is called api, so this one is called api-5.')
})

test('where a home has two of one name, the name is refused, both are told, and ids and paths work', async () => {
  const twins = [
    aProject({ id: 'p1', name: 'twin' }),
    aProject({ id: 'q2', name: 'twin', created_at: at(2) }),
    aProject({ id: 'r3', name: 'Twin', created_at: at(3) }),
  ]
  const fleet = await aHome(twins)
  const both = { code: 'ambiguous', message: expect.stringMatching(/p1 \(\/nowhere\/p1\).*q2 \(\/nowhere\/q2\)/) }
  const operations = [
    ['get_project', {}],
    ['list_missions', {}],
    ['create_mission', { title: 'x', detailed_prompt: 'true' }],
    ['pause', {}],
    ['get_loop', {}],
    ['list_plans', {}],
    ['list_schedules', {}],
    ['list_events', {}],
    ['list_reviews', {}],
    ['delete_project', {}],
  ] as const
  for (const [name, input] of operations)
    await expect(fleet.call(name, { ...input, project_id: 'twin' }), name).rejects.toMatchObject(both)
  // Only one project has exactly this spelling.
  expect(await fleet.call('get_project', { project_id: 'Twin' })).toMatchObject({ id: 'r3' })
  expect(await fleet.call('get_project', { project_id: 'q2' })).toMatchObject({ id: 'q2' })
  expect(await fleet.call('update_project', { project_id: 'q2', description: 'older' })).toMatchObject({ name: 'twin' })

  const refused = await fleet.fleetCommand(['mission', 'list', '--project', 'twin'])
  expect(refused.code).toBe(4)
  expect(refused.stderr).toMatch(/p1 \(\/nowhere\/p1\), q2 \(\/nowhere\/q2\)/)
  expect(refused.stderr).toContain('Give its id.')
  for (const [given, id] of [
    ['q2', 'q2'],
    ['/nowhere/p1', 'p1'],
    ['../nowhere/p1', 'p1'],
  ]) {
    const shown = await fleet.fleetCommand(['--json', 'project', 'show', given!], { cwd: '/tmp' })
    expect(JSON.parse(shown.stdout), given).toMatchObject({ id })
  }
})

test('a name is as good as an id wherever a project is meant', async () => {
  const fleet = await aHome([aProject({ id: 'p1', name: 'a/b: c' })])
  expect(await fleet.call('list_missions', { project_id: 'a/b: c' })).toMatchObject({ missions: [{ id: 'm1' }] })
  const shown = await fleet.fleetCommand(['--json', 'project', 'show', 'A/b: c'])
  expect(JSON.parse(shown.stdout)).toMatchObject({ id: 'p1' })
})
