import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { liveDifferenceOf } from '../differences.ts'
import { commitLeftovers } from '../leftovers.ts'
import { snapshot } from '../snapshots.ts'
import { aRepository, runGit, type TestRepository } from '../testkit.ts'
import { addPlace } from './making.ts'
import { unheld } from './unheld.ts'

/** Project settings that change how git stores its index, or what it sees. */
let repo: TestRepository
let worktree: string
const branch = 'fleet/shell/w/1'
const GIVEN = { base: 'main', session: 's1', allowPush: false, hooks: true }
const add = async () => addPlace(await repo.open(), { path: worktree, branch, from: 'main', ...GIVEN })
const collect = () => commitLeftovers({ worktree, branch, message: 'Leftovers\n' })
const inside = (...args: string[]) => runGit(worktree, args)
const put = (file: string, content: string) => writeFileSync(join(worktree, file), content)
const look = async () =>
  snapshot(await repo.open(), { worktree, ref: 'refs/fleet/s/1', message: 'Snapshot\n', never: [] })

beforeEach(async () => {
  repo = await aRepository({ files: { 'a.txt': 'one\n', b: 'one\n' } })
  worktree = join(repo.root, 'home/worktrees/p/w')
})
afterEach(() => repo.remove())

test('with core.ignorecase, a file whose name differs in case only is seen where the disk tells them apart', async () => {
  await repo.git('config', 'core.ignorecase', 'true')
  await add()
  put('A.TXT', 'another\n')
  expect(await unheld(worktree, [])).toEqual(['A.TXT'])
  expect((await liveDifferenceOf(worktree, await repo.tip(), { maxBytes: 10_000 }))?.text).toContain('A.TXT')
  expect(await inside('status', '--porcelain')).toBe('?? A.TXT')
  expect(await collect()).toMatchObject({ committed: true })
  expect(await repo.filesOn(branch)).toEqual(['A.TXT', 'a.txt', 'b'])
})

test('with core.splitIndex, git works in a session and its work is taken in', async () => {
  await repo.git('config', 'core.splitIndex', 'true')
  await add()
  expect(await inside('status', '--porcelain')).toBe('')
  put('b', 'two\n')
  await look()
  expect(await collect()).toMatchObject({ committed: true })
  expect(await inside('status', '--porcelain')).toBe('')
  put('b', 'three\n')
  expect(await collect()).toMatchObject({ committed: true })
  expect(await repo.readOn(branch, 'b')).toBe('three')
})

test('where an agent splits its index, what it had only staged is kept, and what it left out stays unchanged', async () => {
  await add()
  put('b', 'staged\n')
  await inside('add', 'b')
  await inside('update-index', '--skip-worktree', 'a.txt')
  await inside('update-index', '--split-index')
  rmSync(join(worktree, 'a.txt'))
  put('b', 'written over\n')
  const { kept, problem } = await collect()
  expect({ kept, problem }).toEqual({ kept: ['refs/fleet/sessions/s1/staged/1'], problem: undefined })
  expect(await repo.readOn('refs/fleet/sessions/s1/staged/1', 'b')).toBe('staged')
  expect(await repo.readOn(branch, 'b')).toBe('written over')
  expect(await repo.readOn(branch, 'a.txt')).toBe('one')
})

test('with core.commentChar, a conflict that was staged with its markers is still one', async () => {
  await repo.git('config', 'core.commentChar', ';')
  await add()
  const theirs = await repo.commit('theirs', { b: 'theirs\n' })
  put('b', 'mine\n')
  await inside('commit', '--quiet', '-am', 'mine')
  await inside('merge', '--quiet', theirs).catch(() => {})
  await inside('add', 'b')
  expect((await collect()).unfinished).toEqual({ doing: 'merge', paths: ['b'] })
})
