import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { commitLeftovers } from '../leftovers.ts'
import { aRepository, runGit, type TestRepository } from '../testkit.ts'
import { addPlace } from './making.ts'

let repo: TestRepository
let worktree: string
const branch = 'fleet/shell/w/1'

const collect = () => commitLeftovers({ worktree, branch, message: 'Leftovers\n' })
const inside = (...args: string[]) => runGit(worktree, args)
const put = (file: string, content: string) => writeFile(join(worktree, file), content)

beforeEach(async () => {
  repo = await aRepository({ files: { a: 'one\n', b: 'one\n' } })
  worktree = join(repo.root, 'home/worktrees/p/w')
  const given = { base: 'main', session: 's1', allowPush: false, hooks: true }
  await addPlace(await repo.open(), { path: worktree, branch, from: 'main', ...given })
  await put('a', 'by the agent\n')
  await collect()
})
afterEach(() => repo.remove())

test('what a person commits on the branch in their own checkout goes on from the work, and is part of it', async () => {
  await repo.git('checkout', '--quiet', branch)
  const theirs = await repo.commit('a fix', { b: 'fixed\n', c: 'new\n' })
  expect(await collect()).toMatchObject({ tip: theirs, committed: false, followed: true })
  expect(await repo.tip(branch)).toBe(theirs)
  expect(await repo.git('status', '--porcelain')).toBe('')
  expect([await readFile(join(worktree, 'b'), 'utf8'), await readFile(join(worktree, 'c'), 'utf8')]).toEqual([
    'fixed\n',
    'new\n',
  ])
  expect([await inside('rev-parse', 'HEAD'), await inside('status', '--porcelain')]).toEqual([theirs, ''])
  // Collecting again finds nothing more.
  expect(await collect()).toEqual({ tip: theirs, committed: false, skipped: [] })
})

test('what a person commits on the branch beside later work stays there, and is told', async () => {
  await repo.git('checkout', '--quiet', branch)
  const theirs = await repo.commit('a fix', { b: 'fixed\n' })
  await put('b', 'by the agent\n')
  const { tip, apart } = await collect()
  expect(apart).toBe(theirs)
  expect(await repo.readOn(tip, 'b')).toBe('by the agent')
  expect(await repo.tip(branch)).toBe(theirs)
  expect(await repo.git('status', '--porcelain')).toBe('')
  // The branch also stays if nobody has it checked out, because it is not where we left it.
  await repo.git('checkout', '--quiet', 'main')
  expect(await collect()).toMatchObject({ tip, apart: theirs })
  expect(await repo.tip(branch)).toBe(theirs)
})

test.each([
  ['the checkout', async () => void (await repo.git('checkout', '--quiet', branch))],
  ['a worktree', async () => void (await repo.git('worktree', 'add', '--quiet', join(repo.root, 'theirs'), branch))],
])('a branch that is checked out in %s is not moved', async (_, checkOut) => {
  const before = await repo.tip(branch)
  await checkOut()
  await put('b', 'more\n')
  const { tip, apart } = await collect()
  expect(apart).toBeUndefined()
  expect(await repo.readOn(tip, 'b')).toBe('more')
  expect(await repo.tip(branch)).toBe(before)
  expect(await repo.git('status', '--porcelain')).toBe('')
})

test('an agent may go back behind what it had committed: the branch is where we left it, so it follows', async () => {
  await put('b', 'more\n')
  const { tip: further } = await collect()
  await inside('reset', '--quiet', '--hard', 'HEAD~1')
  const back = await inside('rev-parse', 'HEAD')
  expect(back).not.toBe(further)
  expect(await collect()).toMatchObject({ tip: back })
  expect(await repo.tip(branch)).toBe(back)
})
