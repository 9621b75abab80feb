import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { ServerSettings } from '../../domain/records/mcp-server.ts'
import { NewProject } from '../../domain/records/project.ts'
import { aMission, aProject, NOW } from '../../domain/samples.testkit.ts'
import { aRepository, type RepositoryOptions } from '../../git/testkit.ts'
import { aBench, interrupted } from '../workshop.testkit.ts'
import { addServer, removeServer, setServerEnabled } from './mcp-servers.ts'
import {
  createProject,
  deleteProject,
  type ProjectFields,
  requireAllowed,
  setPaused,
  updateProject,
} from './projects.ts'

const ask = (key?: string) => ({ operation: 'test', actor: 'a person', key })
const fields = (path: string, more: Partial<ProjectFields> = {}): ProjectFields => ({
  ...NewProject.parse({}),
  path,
  ...more,
})

async function repository(options?: RepositoryOptions) {
  const repo = await aRepository(options)
  onTestFinished(() => repo.remove())
  return repo
}

/** Plain folders, for tests that are not about git. */
function folders(...names: string[]) {
  const bench = aBench()
  const paths = names.map(name => join(bench.fleet.home.path, name))
  for (const path of paths) mkdirSync(path, { recursive: true })
  const make = (path: string, more: Partial<ProjectFields> = {}) =>
    createProject(bench.fleet, ask(), fields(path, { worktree: 'none', ...more }))
  return { ...bench, paths, make }
}

test('one repository is one project, from whichever of its folders and however many ask at once', async () => {
  const { fleet, told } = aBench()
  const repo = await repository({ files: { 'deep/file.txt': 'x\n' } })
  const make = (path: string) => createProject(fleet, ask(), fields(path), 'return')
  const made = await Promise.all([make(repo.path), make(join(repo.path, 'deep')), make(repo.path)])
  expect(new Set(made.map(({ value }) => value.id)).size).toBe(1)
  expect(made[0].value).toMatchObject({ name: 'repo', path: repo.path, base_branch: 'main', worktree: 'git' })
  expect(await told()).toEqual(['project_created '])
  await expect(createProject(fleet, ask(), fields(repo.path))).rejects.toThrow('already is the project repo')
})

test.each([
  { what: 'a branch that is missing', options: {}, more: { base_branch: 'trunk' }, says: 'there is no branch "trunk"' },
  { what: 'a repository without a commit', options: { commits: false }, more: {}, says: 'commit' },
  { what: 'an agent that runs scripts', options: {}, more: { agent: 'shell' }, says: 'shell runs text as a script' },
])('a project that could not work is refused: $what', async ({ options, more, says }) => {
  const { fleet } = aBench()
  const repo = await repository(options)
  await expect(createProject(fleet, ask(), fields(repo.path, more))).rejects.toThrow(says)
})

test('a path must be absolute, and a folder', async () => {
  const { fleet, make } = folders()
  writeFileSync(join(fleet.home.path, 'file'), '')
  await expect(make('relative')).rejects.toThrow('path: must be absolute')
  await expect(make(join(fleet.home.path, 'missing'))).rejects.toThrow('missing does not exist.')
  await expect(make(join(fleet.home.path, 'file'))).rejects.toThrow('is not a folder')
})

test('nobody leaves the allowed folders, by a link neither', () => {
  const { fleet, paths } = folders('allowed/inside', 'allowed-not', 'elsewhere')
  const [inside, beside, elsewhere] = paths
  const settings = { ...fleet.settings, allowedRepos: [join(fleet.home.path, 'allowed'), '/missing/folder'] }
  const walled = Object.create(fleet, { settings: { value: settings } })
  expect(() => requireAllowed(walled, inside!)).not.toThrow()
  for (const path of [beside!, elsewhere!]) expect(() => requireAllowed(walled, path)).toThrow('is outside the folders')
})

test('a link inside the allowed folders that leads out is refused', async () => {
  const { fleet, paths } = folders('allowed', 'elsewhere')
  const link = join(paths[0]!, 'link')
  symlinkSync(paths[1]!, link)
  const walled = Object.create(fleet, { settings: { value: { ...fleet.settings, allowedRepos: [paths[0]!] } } })
  const asked = createProject(walled, ask(), fields(link, { worktree: 'none' }))
  await expect(asked).rejects.toThrow(`${paths[1]} is outside the folders`)
})

test('a name belongs to one project, in whatever case; a folder gets the next number', async () => {
  const { fleet, paths, make } = folders('one/app', 'two/app', 'three')
  expect((await make(paths[0]!)).value.name).toBe('app')
  const second = (await make(paths[1]!)).value
  expect(second.name).toBe('app-2')
  await expect(make(paths[2]!, { name: 'APP' })).rejects.toThrow('is called app already')
  await expect(updateProject(fleet, ask(), second.id, { name: 'App' })).rejects.toThrow('is called app already')
  expect((await updateProject(fleet, ask(), second.id, { name: 'APP-2' })).value.name).toBe('APP-2')
})

test('two who want the same name at once do not both get it', async () => {
  const { paths, make } = folders('one/app', 'two/app', 'three')
  const made = await Promise.all([make(paths[0]!), make(paths[1]!)])
  expect(made.map(({ value }) => value.name).toSorted()).toEqual(['app', 'app-2'])
  const other = folders('one', 'two')
  const both = await Promise.allSettled(other.paths.map(path => other.make(path, { name: 'mine' })))
  expect(both.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected'])
})

test('two projects that are given the same new name at once do not both get it', async () => {
  const { fleet, save } = aBench()
  await save('projects', aProject({ name: 'one' }), aProject({ id: 'p2', name: 'two' }))
  const both = await Promise.allSettled(['p1', 'p2'].map(id => updateProject(fleet, ask(), id, { name: 'mine' })))
  expect(both.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected'])
})

test('a project with another base branch knows no tip of it', async () => {
  const { fleet, save } = aBench()
  const repo = await repository()
  await repo.git('branch', 'next')
  await save('projects', aProject({ path: repo.path, known_tip: 'abc' }))
  expect((await updateProject(fleet, ask(), 'p1', { description: 'x' })).value.known_tip).toBe('abc')
  expect((await updateProject(fleet, ask(), 'p1', { base_branch: 'next' })).value).toMatchObject({
    ...{ base_branch: 'next', known_tip: null },
  })
  await expect(updateProject(fleet, ask(), 'p1', { base_branch: 'gone' })).rejects.toThrow('there is no branch "gone"')
})

test.each([
  { status: 'running' as const, more: {} },
  { status: 'queued' as const, more: {} },
  { status: 'needs_input' as const, more: { asking: true } },
])('a project with a mission that is $status is not removed', async ({ status, more }) => {
  const { fleet, save } = aBench()
  await save('projects', aProject())
  await save('missions', aMission({ status, ...more }))
  await expect(deleteProject(fleet, ask(), 'p1')).rejects.toThrow('Project p1 has missions under way: m1.')
  expect(await fleet.store.get('projects', 'p1')).toBeDefined()
})

test('a removed project is gone with its missions, and says so once', async () => {
  const { fleet, save, told } = aBench()
  await save('projects', aProject())
  await save('missions', aMission({ status: 'done' }))
  await deleteProject(fleet, ask(), 'p1')
  expect(await told()).toEqual(['mission_deleted m1', 'project_deleted '])
  await expect(deleteProject(fleet, ask(), 'p1')).rejects.toThrow('There is no project "p1".')
})

test('pausing is of one project or of the whole fleet, and both at once are kept', async () => {
  const { fleet, save, change } = aBench()
  await save('projects', aProject(), aProject({ id: 'p2' }))
  const rename = () => change('projects', 'p1', { description: 'meanwhile' })
  await setPaused(interrupted(fleet, 'commit.wish', rename), ask(), 'p1', true)
  await setPaused(fleet, ask(), undefined, true)
  expect((await fleet.store.get('projects', 'p1'))?.value).toMatchObject({ paused: true, description: 'meanwhile' })
  expect((await fleet.store.get('projects', 'p2'))?.value.paused).toBe(false)
  expect((await fleet.store.get('fleet', 'fleet'))?.value.paused).toBe(true)
})

const server = (name: string) => ServerSettings.parse({ name, command: ['serve'] })

test('a server of a project has a name of its own, and two at once with one name leave one', async () => {
  const { fleet, save } = aBench()
  await save('projects', aProject())
  const add = (name: string) => addServer(fleet, ask(), 'p1', server(name))
  const both = await Promise.allSettled([add('docs'), add('docs')])
  expect(both.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected'])
  await expect(add('docs')).rejects.toThrow('The project has a server docs already.')
  const { id } = await add('other')
  expect(await setServerEnabled(fleet, ask(), id, false)).toMatchObject({ name: 'other', enabled: false })
  await removeServer(fleet, ask(), id)
  await expect(removeServer(fleet, ask(), id)).rejects.toThrow(`There is no MCP server "${id}".`)
  expect((await fleet.store.get('projects', 'p1'))?.value.mcp_servers.map(({ name }) => name)).toEqual(['docs'])
})

test('a project has at most thirty servers, and says so', async () => {
  const { fleet, save } = aBench()
  const mcp_servers = Array.from({ length: 30 }, (_, n) => ({ ...server(`s${n}`), id: `id${n}`, created_at: NOW }))
  await save('projects', aProject({ mcp_servers }))
  await expect(addServer(fleet, ask(), 'p1', server('more'))).rejects.toMatchObject({
    message: 'The project has 30 servers already, and it can have no more.',
    hint: 'fleet mcp-server list, then fleet mcp-server remove <server>',
  })
})
