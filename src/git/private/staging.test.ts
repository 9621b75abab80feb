import { mkdirSync, renameSync, rmSync, symlinkSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { commitLeftovers } from '../leftovers.ts'
import { snapshot } from '../snapshots.ts'
import { aRepository, runGit, type TestRepository } from '../testkit.ts'
import { addPlace } from './making.ts'
import { unheld } from './unheld.ts'

let repo: TestRepository
let worktree: string
const branch = 'fleet/shell/w/1'
const GIVEN = { base: 'main', session: 's1', allowPush: false, hooks: true }
const add = async () => addPlace(await repo.open(), { path: worktree, branch, from: 'main', ...GIVEN })
const collect = () => commitLeftovers({ worktree, branch, message: 'Leftovers\n' })
const look = async () =>
  snapshot(await repo.open(), { worktree, ref: 'refs/fleet/s/1', message: 'Snapshot\n', never: [] })
const inside = (...args: string[]) => runGit(worktree, args)
const put = (file: string, content: string | Buffer) => writeFile(join(worktree, file), content)

beforeEach(async () => {
  repo = await aRepository({ files: { 'a.txt': 'one\n', 'd/x': 'one\n', 'd/y': 'one\n' } })
  worktree = join(repo.root, 'home/worktrees/p/w')
})
afterEach(() => repo.remove())

test('a folder that became a link to another one is committed as that', async () => {
  await add()
  renameSync(join(worktree, 'd'), join(worktree, 'e'))
  symlinkSync('e', join(worktree, 'd'))
  await look()
  expect(await collect()).toMatchObject({ committed: true, skipped: [] })
  expect(await repo.filesOn(branch)).toEqual(['a.txt', 'd', 'e/x', 'e/y'])
  expect(await unheld(worktree, [])).toEqual([])
})

test('a file that was staged in a folder which then became a link is not looked for behind the link', async () => {
  await add()
  mkdirSync(join(worktree, 'n'))
  await put('n/new', 'staged\n')
  await inside('add', 'n/new')
  renameSync(join(worktree, 'n'), join(worktree, 'm'))
  symlinkSync('m', join(worktree, 'n'))
  expect(await collect()).toMatchObject({ committed: true, skipped: [] })
  expect(await repo.filesOn(branch)).toEqual(['a.txt', 'd/x', 'd/y', 'm/new', 'n'])
})

test('a file that is not in the encoding its attributes name is left out and named; the rest is committed', async () => {
  await add()
  await put('.gitattributes', '*.txt working-tree-encoding=UTF-16\n')
  await put('odd.txt', 'odd')
  await put('even.txt', Buffer.from('\ufeffeven', 'utf16le'))
  await put('n', 'n\n')
  await look()
  const { committed, skipped } = await collect()
  expect(committed).toBe(true)
  expect(skipped).toEqual([{ path: 'odd.txt', why: 'it is not in the encoding UTF-16, which .gitattributes names' }])
  expect(await repo.filesOn(branch)).toEqual(['.gitattributes', 'a.txt', 'd/x', 'd/y', 'even.txt', 'n'])
  expect(await unheld(worktree, [])).toContain('odd.txt')
})

test('a folder may become a file, and a file a folder', async () => {
  await add()
  rmSync(join(worktree, 'd'), { recursive: true })
  await put('d', 'a file now\n')
  expect(await collect()).toMatchObject({ committed: true })
  expect(await repo.readOn(branch, 'd')).toBe('a file now')
  rmSync(join(worktree, 'd'))
  mkdirSync(join(worktree, 'd'))
  await put('d/x', 'in a folder\n')
  expect(await collect()).toMatchObject({ committed: true })
  expect(await repo.readOn(branch, 'd/x')).toBe('in a folder')
})

describe.each(['private', 'linked'])('names that git refuses (%s)', isolation => {
  const WHY = 'git refuses this name'
  const begin = async () => {
    if (isolation === 'private') return add()
    await repo.git('worktree', 'add', '--quiet', '-b', branch, worktree)
  }
  const begun = (start: string) => commitLeftovers({ worktree, branch, message: 'Leftovers\n', start })

  test('are left out and named, and not said to be committed', async () => {
    await begin()
    const start = await repo.tip()
    mkdirSync(join(worktree, '.GIT'))
    await put('.GIT/w', 'work\n')
    await put('git~1', 'x\n')
    await put('n', 'n\n')
    symlinkSync('n', join(worktree, '.gitmodules'))
    const { committed, skipped, changes } = await begun(start)
    expect(committed).toBe(true)
    expect(skipped).toEqual(['.GIT/w', '.gitmodules', 'git~1'].map(path => ({ path, why: WHY })))
    expect(changes?.files.map(({ path }) => path)).toEqual(['n'])
    expect(await repo.filesOn(branch)).toEqual(['a.txt', 'd/x', 'd/y', 'n'])
    if (isolation === 'private') expect((await unheld(worktree, [])).sort()).toEqual(['.GIT/w', '.gitmodules', 'git~1'])
  })

  test('alone they make no commit, however often one looks', async () => {
    await begin()
    await put('git~1', 'x\n')
    for (const _ of [1, 2])
      expect(await begun(await repo.tip())).toMatchObject({
        tip: await repo.tip(),
        committed: false,
        skipped: [{ path: 'git~1', why: WHY }],
      })
  })

  test('a tracked .gitmodules that became a link is not said to be modified', async () => {
    await repo.commit('modules', { '.gitmodules': '' })
    await begin()
    rmSync(join(worktree, '.gitmodules'))
    symlinkSync('a.txt', join(worktree, '.gitmodules'))
    const { committed, skipped } = await begun(await repo.tip())
    expect({ committed, skipped }).toEqual({ committed: false, skipped: [{ path: '.gitmodules', why: WHY }] })
  })
})
