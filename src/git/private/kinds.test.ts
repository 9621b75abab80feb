import { existsSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { commitLeftovers } from '../leftovers.ts'
import { openRepository } from '../repository.ts'
import { aRepository, runGit, type TestRepository } from '../testkit.ts'
import { addWorktree } from '../worktrees.ts'
import { convertLinked } from './converting.ts'
import { addPlace, removePlace } from './making.ts'
import { unheld } from './unheld.ts'

let origin: TestRepository
let path: string
let worktree: string
const branch = 'fleet/shell/w/1'
const GIVEN = { base: 'main', session: 's1', allowPush: false, hooks: true }
const AS = ['-c', 'user.name=a', '-c', 'user.email=a@b']

beforeEach(async () => {
  origin = await aRepository({ files: { a: 'one\n', 'x/1': 'one\n', 'y/1': 'one\n' } })
  await origin.commit('second', { a: 'two\n' })
  path = join(origin.root, 'project')
  worktree = join(origin.root, 'home/worktrees/p/w')
})
afterEach(() => origin.remove())

const clone = async (...args: string[]) => {
  await runGit(origin.root, ['clone', '--quiet', ...args, `file://${origin.path}`, 'project'])
  await runGit(path, ['config', 'user.email', 'person@example.com'])
  await runGit(path, ['config', 'user.name', 'A Person'])
}
const inside = (...args: string[]) => runGit(worktree, [...AS, ...args])

/** An agent commits, stashes and leaves a file. Afterwards the project has all of it. */
async function works(): Promise<void> {
  const repo = await openRepository(path)
  await addPlace(repo, { path: worktree, branch, from: 'main', ...GIVEN })
  await inside('log', '--oneline', '--all')
  await writeFile(join(worktree, 'a'), 'by the agent\n')
  await inside('commit', '--quiet', '-am', 'by the agent')
  await writeFile(join(worktree, 'a'), 'stashed\n')
  await inside('stash', 'push', '--quiet')
  await writeFile(join(worktree, 'left'), 'left\n')
  const { problem, committed } = await commitLeftovers({ worktree, branch, message: 'Leftovers\n' })
  expect({ problem, committed }).toEqual({ problem: undefined, committed: true })
  expect((await runGit(path, ['diff', '--name-only', 'main', branch])).split('\n')).toEqual(['a', 'left'])
  expect(await runGit(path, ['show', 'refs/fleet/sessions/s1/stashes/0:a'])).toBe('stashed')
  expect(await inside('status', '--porcelain')).toBe('')
}

test('a shallow clone', async () => {
  await clone('--depth=1')
  await works()
})

test('a partial clone', async () => {
  await origin.git('config', 'uploadpack.allowFilter', 'true')
  await clone('--filter=blob:none')
  await works()
})

test('a sparse checkout stays as narrow as the person’s', async () => {
  await clone()
  await runGit(path, ['sparse-checkout', 'set', 'x'])
  await works()
  expect(existsSync(join(worktree, 'x/1'))).toBe(true)
  expect(existsSync(join(worktree, 'y'))).toBe(false)
})

test('a repository that names objects by SHA-256', async () => {
  await runGit(origin.root, ['init', '--quiet', '--template=', '--object-format=sha256', '-b', 'main', 'project'])
  writeFileSync(join(path, 'a'), 'one\n')
  await runGit(path, ['add', '-A'])
  await runGit(path, [...AS, 'commit', '--quiet', '-m', 'first'])
  await works()
  await runGit(path, ['fsck', '--strict', '--no-dangling'])
})

test('a project that borrows objects itself', async () => {
  await runGit(origin.root, ['clone', '--quiet', '--shared', origin.path, 'project'])
  await works()
})

test('fifty thousand tags', async () => {
  await clone()
  const tip = await runGit(path, ['rev-parse', 'HEAD'])
  const tags = Array.from({ length: 50_000 }, (_, n) => `${tip} refs/tags/t${String(n).padStart(5, '0')}\n`)
  writeFileSync(join(path, '.git/packed-refs'), `# pack-refs with: sorted \n${tags.join('')}`)
  await works()
  expect((await inside('tag', '--list', 't4999*')).split('\n')).toHaveLength(10)
})

test('submodules lie over the person’s copy and share no file with it', async () => {
  const library = await aRepository({ files: { lib: 'library\n' } })
  await clone()
  await runGit(path, ['-c', 'protocol.file.allow=always', 'submodule', '--quiet', 'add', library.path, 'sm'])
  await runGit(path, [...AS, 'commit', '--quiet', '-m', 'with a submodule'])
  await runGit(join(path, 'sm'), ['gc', '--quiet'])
  await works()
  expect(existsSync(join(worktree, 'sm/lib'))).toBe(true)
  expect(await runGit(join(worktree, 'sm'), ['status', '--porcelain'])).toBe('')
  const packs = join(path, '.git/modules/sm/objects/pack')
  for (const name of readdirSync(packs)) expect(statSync(join(packs, name)).nlink).toBe(1)
  await library.remove()
})

test('work in a submodule that no commit names keeps the worktree from going', async () => {
  const library = await aRepository({ files: { lib: 'library\n' } })
  await clone()
  for (const name of ['sm', 'empty'])
    await runGit(path, ['-c', 'protocol.file.allow=always', 'submodule', '--quiet', 'add', library.path, name])
  await runGit(path, [...AS, 'commit', '--quiet', '-m', 'with submodules'])
  // As in a clone that never fetched this submodule.
  rmSync(join(path, '.git/modules/empty'), { recursive: true })
  const repo = await openRepository(path)
  const below = (...args: string[]) => runGit(join(worktree, 'sm'), [...AS, ...args])
  const left = async (work: () => Promise<unknown>) => {
    await addPlace(repo, { path: worktree, branch, from: 'main', ...GIVEN })
    await work()
    await commitLeftovers({ worktree, branch, message: 'Leftovers\n' })
    const found = await unheld(worktree, [])
    await removePlace(worktree, repo)
    return found
  }
  expect(await left(async () => {})).toEqual([])
  expect(await left(() => writeFile(join(worktree, 'empty/file'), 'x'))).toEqual(['empty'])
  expect(await left(() => writeFile(join(worktree, 'sm/lib'), 'changed'))).toEqual(['sm'])
  const stashed = async () => {
    await writeFile(join(worktree, 'sm/lib'), 'changed')
    await below('stash', 'push', '--quiet')
  }
  expect(await left(stashed)).toEqual(['sm'])
  const committed = async () => {
    await below('checkout', '--quiet', '-b', 'mine')
    await below('commit', '--quiet', '--allow-empty', '-m', 'mine')
    await below('checkout', '--quiet', '--detach', 'HEAD~1')
  }
  expect(await left(committed)).toEqual(['sm'])
  await library.remove()
})

test('a linked worktree becomes a place where it is, with all that is under way in it', async () => {
  await clone()
  const repo = await openRepository(path)
  await addWorktree(repo, { path: worktree, branch, from: 'main' })
  await writeFile(join(worktree, 'a'), 'edited\n')
  await writeFile(join(worktree, 'staged'), 'staged\n')
  await inside('add', 'staged')
  const before = await inside('status', '--porcelain', '--branch')
  expect(await convertLinked(repo, worktree, branch, GIVEN)).toBe(true)
  expect(await convertLinked(repo, worktree, branch, GIVEN)).toBe(false)
  expect(await inside('status', '--porcelain', '--branch')).toBe(before)
  expect((await runGit(path, ['worktree', 'list'])).split('\n')).toHaveLength(1)
  expect(await addPlace(repo, { path: worktree, branch, from: 'main', ...GIVEN })).toMatchObject({ existed: true })
  await commitLeftovers({ worktree, branch, message: 'Leftovers\n' })
  expect((await runGit(path, ['diff', '--name-only', 'main', branch])).split('\n')).toEqual(['a', 'staged'])
})
