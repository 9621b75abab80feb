import fs, { existsSync, readFileSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { syncBuiltinESMExports } from 'node:module'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { openRepository } from '../repository.ts'
import { aRepository, runGit, type TestRepository } from '../testkit.ts'
import { addWorktree } from '../worktrees.ts'
import { convertLinked } from './converting.ts'
import { addPlace, removePlace } from './making.ts'
import { folderOf, isLinked, placeAt } from './place.ts'
import { unheld } from './unheld.ts'

let origin: TestRepository
let worktree: string
const branch = 'fleet/shell/w/1'
const GIVEN = { base: 'main', session: 's1', allowPush: false, hooks: true }
const inside = (...args: string[]) => runGit(worktree, args)

beforeEach(async () => {
  origin = await aRepository({ files: { a: 'one\n' } })
  worktree = join(origin.root, 'home/worktrees/p/w')
  await addWorktree(await openRepository(origin.path), { path: worktree, branch, from: 'main' })
  await writeFile(join(worktree, 'a'), 'edited\n')
  await writeFile(join(worktree, 'mine'), 'mine\n')
  await writeFile(join(worktree, 'staged'), 'staged\n')
  await inside('add', 'staged')
})
afterEach(() => origin.remove())

/** Stops the work like a kill, before its nth change to one of the files that decide who owns the worktree. */
async function cutShort(nth: number, work: () => Promise<unknown>): Promise<boolean> {
  const folder = folderOf(worktree)
  const deciding = [
    join(worktree, '.git'),
    join(folder, 'place.json'),
    join(folder, 'git/packed-refs'),
    join(origin.path, '.git/worktrees'),
  ]
  let seen = 0
  const guarded =
    (call: (...args: never[]) => unknown) =>
    (...args: never[]) => {
      if (deciding.some(path => String(args[0]).startsWith(path)) && seen++ >= nth) throw new Error('cut short')
      return call(...args)
    }
  const { writeFileSync, renameSync, rmSync } = fs
  const { rm } = fs.promises
  Object.assign(fs, {
    writeFileSync: guarded(writeFileSync as never),
    renameSync: guarded(renameSync),
    rmSync: guarded(rmSync),
  })
  Object.assign(fs.promises, { rm: guarded(rm) })
  syncBuiltinESMExports()
  try {
    await work()
    return false
  } catch (error) {
    if (!/cut short/.test(String(error))) throw error
    return true
  } finally {
    Object.assign(fs, { writeFileSync, renameSync, rmSync })
    Object.assign(fs.promises, { rm })
    syncBuiltinESMExports()
  }
}

const STEPS = [0, 1, 2, 3, 4, 5, 6, 7, 8]

test.each(STEPS)('a conversion that is cut short at step %i loses nothing, and is finished', async step => {
  const repo = await openRepository(origin.path)
  const before = await inside('status', '--porcelain', '--branch')
  const wasCut = await cutShort(step, () => convertLinked(repo, worktree, branch, GIVEN))
  expect(wasCut).toBe(step < STEPS.length - 1)
  // Before the conversion is finished, the work is found and the worktree is not removed.
  expect(await unheld(worktree, [])).toEqual(expect.arrayContaining(['a', 'mine', 'staged']))
  expect((await inside('status', '--porcelain', '--branch')).replace('?? .git.new\n', '')).toBe(before)

  await convertLinked(repo, worktree, branch, GIVEN)
  expect(await addPlace(repo, { path: worktree, branch, from: 'main', ...GIVEN })).toMatchObject({ existed: true })
  expect(await isLinked(placeAt(worktree)!)).toBe(true)
  expect(readFileSync(join(worktree, 'mine'), 'utf8')).toBe('mine\n')
  expect(await inside('status', '--porcelain', '--branch')).toBe(before)
  expect((await origin.git('worktree', 'list')).split('\n')).toHaveLength(1)
})

test('one that cannot be converted is never taken for half-made', async () => {
  const repo = await openRepository(origin.path)
  fs.mkdirSync(folderOf(worktree), { recursive: true })
  await expect(addPlace(repo, { path: worktree, branch, from: 'main', ...GIVEN })).rejects.toThrow(worktree)
  expect(existsSync(join(worktree, 'mine'))).toBe(true)
})

test.each(STEPS)('one that was cut short at step %i and then thrown away leaves nothing in the project', async step => {
  const repo = await openRepository(origin.path)
  await cutShort(step, () => convertLinked(repo, worktree, branch, GIVEN))
  await removePlace(worktree, repo)
  expect([worktree, folderOf(worktree)].map(existsSync)).toEqual([false, false])
  expect((await origin.git('worktree', 'list')).split('\n')).toHaveLength(1)
})
