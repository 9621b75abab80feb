import { existsSync, mkdirSync, readdirSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { aProject } from '../../domain/samples.testkit.ts'
import { aRepository, runGit } from '../../git/testkit.ts'
import type { Fleet } from '../fleet.ts'
import { aBench } from '../workshop.testkit.ts'
import { beginClone, type CloneState, followClone } from './cloning.ts'
import { browse, findRepositories } from './folders.ts'

/** A person's home folder with a repository in it, and another repository beside it. */
async function aDisk(options: { files?: Record<string, string>; bare?: boolean } = {}) {
  const { root, path, ...repo } = await aRepository(options)
  onTestFinished(repo.remove)
  const home = join(root, 'home')
  mkdirSync(home)
  const bench = aBench()
  const environment = { ...process.env, HOME: home }
  const fleet: Fleet = Object.create(bench.fleet, { environment: { value: environment } })
  const allow = (...allowedRepos: string[]): Fleet =>
    Object.create(fleet, { settings: { value: { ...bench.fleet.settings, allowedRepos } } })
  return { ...bench, root, path, repo, home, fleet, allow }
}

async function endOf(clone: { id: string }): Promise<CloneState> {
  let last: CloneState | undefined
  for await (const state of followClone(clone.id, AbortSignal.timeout(20_000))) last = state
  return last!
}

const ask = { operation: 'test', actor: 'person' }

test('a folder shows the names of its folders, and no links, files or hidden ones', async () => {
  const { fleet, home, root } = await aDisk()
  for (const folder of ['work/shop/.git', 'work/notes', '.ssh', 'empty'])
    mkdirSync(join(home, folder), { recursive: true })
  writeFileSync(join(home, 'secret.txt'), 'x')
  symlinkSync(root, join(home, 'out'))
  expect(browse(fleet, undefined)).toEqual({
    roots: [home],
    path: home,
    parent: null,
    is_repository: false,
    folders: [
      { name: 'empty', path: join(home, 'empty'), is_repository: false },
      { name: 'work', path: join(home, 'work'), is_repository: false },
    ],
    more: false,
  })
  expect(browse(fleet, join(home, 'work'))).toMatchObject({
    parent: home,
    folders: [
      { name: 'notes', is_repository: false },
      { name: 'shop', is_repository: true },
    ],
  })
})

test('no path leads out of the folders that are allowed', async () => {
  const { fleet, home, root, path, allow } = await aDisk()
  symlinkSync(root, join(home, 'out'))
  mkdirSync(`${home}-other`)
  const outside = [
    root,
    path,
    '/',
    '/etc',
    `${home}/../`,
    `${home}/out`,
    `${home}/out/repo`,
    `${home}-other`,
    '/nowhere',
  ]
  for (const each of outside) expect(() => browse(fleet, each), each).toThrow('outside the folders')
  expect(() => browse(fleet, 'work')).toThrow('absolute')
  expect(() => browse(fleet, join(home, 'nothing'))).toThrow('does not exist')
  expect(browse(allow(root, '/nowhere/at/all'), path)).toMatchObject({ roots: [root], is_repository: true })
  expect(() => browse(allow('/nowhere/at/all'), undefined)).toThrow('none of its folders exists')
})

test('repositories are found by when they were used, without those that are projects', async () => {
  const { fleet, home, save } = await aDisk()
  const make = async (name: string, at: number) => {
    mkdirSync(join(home, name), { recursive: true })
    await runGit(join(home, name), ['init', '--quiet', '--template='])
    utimesSync(join(home, name, '.git/HEAD'), at, at)
    return join(home, name)
  }
  const old = await make('code/old', 1000)
  const recent = await make('code/deep/recent', 2000)
  const known = await make('known', 3000)
  for (const name of ['node_modules/package', '.hidden/one', 'code/old/inside', 'a/b/c/d/too-deep'])
    await make(name, 4000)
  symlinkSync(join(home, 'known'), join(home, 'link'))
  await save('projects', aProject({ path: known }))
  const found = await findRepositories(fleet, { limit: 10 })
  expect(found).toEqual({
    roots: [home],
    repositories: [
      { name: 'recent', path: recent, used_at: new Date(2_000_000).toISOString() },
      { name: 'old', path: old, used_at: new Date(1_000_000).toISOString() },
    ],
    complete: true,
  })
  expect((await findRepositories(fleet, { limit: 1 })).repositories).toHaveLength(1)
  let time = 0
  expect(await findRepositories(fleet, { limit: 10, now: () => (time += 1500) })).toMatchObject({ complete: false })
})

test('a clone becomes a project, without hooks, and the same key is the same clone', async () => {
  const { allow, root, path, home, repo } = await aDisk({ files: { 'a.txt': 'one\n' } })
  const wish = { address: `file://${path}`, into: home, name: 'shop' }
  const asked = { ...ask, key: 'once' }
  const fleet = allow(root)
  const clone = beginClone(fleet, asked, wish)
  expect(beginClone(fleet, asked, wish)).toEqual(clone)
  expect(() => beginClone(fleet, ask, wish)).toThrow('already in progress')
  const end = await endOf(clone)
  expect(end).toMatchObject({ state: 'done', path: join(home, 'shop'), try: null })
  expect((await fleet.store.get('projects', end.project_id!))?.value).toMatchObject({
    name: 'shop',
    base_branch: 'main',
  })
  expect(await runGit(join(home, 'shop'), ['rev-parse', 'HEAD'])).toBe(await repo.tip())
  expect(await runGit(home, ['status', '--porcelain', '--ignored']).catch(() => '')).toBe('')
  const again = await endOf(beginClone(fleet, ask, wish))
  expect(again).toMatchObject({ state: 'failed', text: expect.stringContaining('already exists') })
})

test.each([
  { what: 'nothing there', address: (home: string) => `${home}/work`, says: 'is not a git repository' },
  { what: 'nobody answers', address: () => 'git://127.0.0.1:1/shop', says: 'does not answer' },
])('a clone that fails says why and leaves nothing behind: $what', async ({ address, says }) => {
  const { fleet, home } = await aDisk()
  mkdirSync(join(home, 'work'))
  const end = await endOf(beginClone(fleet, ask, { address: address(home), name: 'shop' }))
  expect(end).toMatchObject({ state: 'failed', project_id: null, try: expect.any(String) })
  expect(end.text).toContain(says)
  expect(browse(fleet, home).folders.map(({ name }) => name)).toEqual(['work'])
})

test('a clone comes from and goes to folders that are allowed', async () => {
  const { fleet, home, root, path } = await aDisk()
  symlinkSync(root, join(home, 'out'))
  for (const address of [path, `file://${path}`, `file://${home}/out/repo`])
    expect(() => beginClone(fleet, ask, { address }), address).toThrow('outside the folders')
  const address = 'https://localhost/shop'
  expect(() => beginClone(fleet, ask, { address, into: root })).toThrow('outside the folders')
  expect(() => beginClone(fleet, ask, { address, name: '../shop' })).toThrow('name of a new folder')
  expect(() => beginClone(fleet, ask, { address: 'ext::sh -c id' })).toThrow('not an address')
})

test('hidden folders are neither browsed nor cloned into, unless one is allowed by name', async () => {
  const { fleet, home, allow } = await aDisk()
  const hidden = ['.config', '.config/deep', 'shop/.git', 'shop/.git/hooks', 'work/.cache/plain']
  for (const folder of hidden) mkdirSync(join(home, folder), { recursive: true })
  symlinkSync(join(home, '.config'), join(home, 'link'))
  const address = 'https://127.0.0.1:1/shop'
  for (const folder of [...hidden, '.nothing', 'link', 'link/deep']) {
    const into = join(home, folder)
    expect(() => browse(fleet, into), folder).toThrow('hidden folder')
    expect(() => beginClone(fleet, ask, { address, into, name: 'autostart' }), folder).toThrow('hidden folder')
  }
  expect(browse(allow(home, join(home, '.config')), join(home, '.config/deep')).folders).toEqual([])
  expect(() => browse(allow(join(home, 'shop/.git')), join(home, 'shop/.git/hooks'))).toThrow('hidden folder')
})

test('a repository on this machine is cloned only if its git directory is within the folders too', async () => {
  const { fleet, home, path, allow, root } = await aDisk({ files: { 'a.txt': 'secret\n' } })
  for (const folder of ['forged', 'beside', 'into']) mkdirSync(join(home, folder))
  writeFileSync(join(home, 'forged/.git'), `gitdir: ${path}/.git\n`)
  symlinkSync(path, join(home, 'beside.git'))
  await runGit(path, ['worktree', 'add', '--quiet', '--detach', join(home, 'linked')])
  const into = join(home, 'into')
  const cloneOf = (from: Fleet, address: string) => endOf(beginClone(from, ask, { address, into }))
  for (const name of ['forged', 'linked'])
    expect(await cloneOf(fleet, join(home, name)), name).toMatchObject({
      state: 'failed',
      text: expect.stringContaining('outside the folders'),
    })
  expect(await cloneOf(fleet, join(home, 'beside'))).toMatchObject({ state: 'failed' })
  expect(browse(fleet, into).folders).toEqual([])

  symlinkSync(path, join(home, 'way'))
  const end = await cloneOf(allow(root), join(home, 'way'))
  expect(end).toMatchObject({ state: 'done', path: join(into, 'way') })
  expect(await runGit(end.path, ['remote', 'get-url', 'origin'])).toBe(path)
  expect(await cloneOf(allow(root), join(home, 'linked'))).toMatchObject({ state: 'done' })
})

test('a clone touches nothing but a hidden folder of its own', async () => {
  const { allow, home, path, root } = await aDisk({ files: { 'a.txt': 'one\n' } })
  // The name that a clone used before, which anything may have.
  mkdirSync(join(home, '.shop.cloning/mine'), { recursive: true })
  const end = await endOf(beginClone(allow(root), ask, { address: path, into: home, name: 'shop' }))
  expect(end).toMatchObject({ state: 'done' })
  expect(existsSync(join(home, '.shop.cloning/mine'))).toBe(true)
  expect(readdirSync(home).sort()).toEqual(['.shop.cloning', 'shop'])
})
