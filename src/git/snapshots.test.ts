import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { NotAllowed } from '../domain/errors.ts'
import { snapshot } from './snapshots.ts'
import { aRepository, runGit, type TestRepository } from './testkit.ts'
import { addWorktree } from './worktrees.ts'

let repo: TestRepository
let worktree: string
beforeEach(async () => {
  repo = await aRepository({ files: { a: 'one\n', gone: 'x\n' } })
  worktree = join(repo.root, 'w')
  await addWorktree(await repo.open(), { path: worktree, branch: 'fleet/shell/w/1', from: 'main' })
})
afterEach(() => repo.remove())

const put = (file: string, content: string) => writeFile(join(worktree, file), content)
const inside = (...args: string[]) => runGit(worktree, ['-c', 'user.name=agent', '-c', 'user.email=a@b', ...args])
const take = async () =>
  snapshot(await repo.open(), { worktree, message: 'Under way\n', ref: 'refs/fleet/m/0', never: ['.env'] })
const state = async () => [await inside('status', '--porcelain'), await inside('ls-files', '--stage')]

test('holds what is there, committed or not, and leaves branch, index and files as they are', async () => {
  await put('a', 'two\n')
  await inside('add', 'a')
  await put('a', 'three\n')
  await put('new', 'n\n')
  await inside('rm', '-q', 'gone')
  const before = await state()

  const commit = await take()
  expect(await state()).toEqual(before)
  expect(await repo.filesOn(commit)).toEqual(['a', 'new'])
  expect(await repo.readOn(commit, 'a')).toBe('three')
  expect(await inside('rev-parse', 'refs/fleet/m/0', `${commit}^`)).toBe(`${commit}\n${await repo.tip()}`)
})

test('a clean worktree is its own snapshot', async () => {
  expect(await take()).toBe(await repo.tip())
})

test('a copied secret is in none, staged or not', async () => {
  await put('.env', 'SECRET=1\n')
  await put('a', 'two\n')
  expect(await repo.filesOn(await take())).toEqual(['a', 'gone'])
  await inside('add', '.env')
  expect(await repo.filesOn(await take())).toEqual(['a', 'gone'])
})

test('files in conflict are refused', async () => {
  await inside('checkout', '-q', '-b', 'other')
  await put('a', 'other\n')
  await inside('commit', '-qam', 'other')
  await inside('checkout', '-q', 'fleet/shell/w/1')
  await put('a', 'mine\n')
  await inside('commit', '-qam', 'mine')
  await inside('merge', 'other').catch(() => {})
  await expect(take()).rejects.toThrow(NotAllowed)
})
