import { execFileSync } from 'node:child_process'
import { existsSync, readdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { commitLeftovers } from '../leftovers.ts'
import { aRepository, type TestRepository } from '../testkit.ts'
import { addWorktree, removeWorktree } from '../worktrees.ts'
import { addPlace, removePlace } from './making.ts'
import { unheld } from './unheld.ts'

/** Nested folders, until their path is longer than the system allows. */
const STEP = 'd'.repeat(200)
const DEEP = `for i in $(seq 30); do mkdir ${STEP} && cd -P ${STEP} || exit 1; done; echo deep > file`
const deepen = (folder: string) => execFileSync('bash', ['-c', DEEP], { cwd: folder })

let repo: TestRepository
let worktree: string
const branch = 'fleet/shell/w/1'
const GIVEN = { base: 'main', session: 's1', allowPush: false, hooks: true }
const collect = () => commitLeftovers({ worktree, branch, message: 'Leftovers\n' })

beforeEach(async () => {
  repo = await aRepository({ files: { a: 'one\n', '.gitignore': 'ignored/\n' } })
  worktree = join(repo.root, 'home/worktrees/p/w')
})
afterEach(() => execFileSync('rm', ['-rf', repo.root]))

test('files behind a path that is too long are named, and are removed with the place', async () => {
  await addPlace(await repo.open(), { path: worktree, branch, from: 'main', ...GIVEN })
  deepen(worktree)
  writeFileSync(join(worktree, 'b'), 'two\n')
  const { committed, skipped } = await collect()
  expect(committed).toBe(true)
  expect(skipped).toEqual([{ path: expect.stringMatching(`^${STEP}/`), why: 'its path is too long' }])
  expect(skipped[0]!.path.length).toBeLessThan(300)
  expect(await unheld(worktree, [])).toEqual([skipped[0]!.path])
  await removePlace(worktree, await repo.open())
  expect(existsSync(worktree)).toBe(false)
  expect(readdirSync(dirname(worktree))).toEqual([])
})

test('a file whose own name makes its path too long is left out alone', async () => {
  await addPlace(await repo.open(), { path: worktree, branch, from: 'main', ...GIVEN })
  const short = 'e'.repeat(Math.floor((4095 - worktree.length) / 20) - 1)
  const last = 'f'.repeat(250)
  execFileSync(
    'bash',
    ['-c', `for i in $(seq 20); do mkdir ${short} && cd -P ${short} || exit 1; done; > x; > ${last}`],
    {
      cwd: worktree,
    },
  )
  const { skipped } = await collect()
  expect(skipped).toMatchObject([{ why: 'its path is too long' }])
  expect(await repo.filesOn(branch)).toHaveLength(3)
  await removePlace(worktree, await repo.open())
  expect(readdirSync(dirname(worktree))).toEqual([])
})

test('a linked worktree with such a folder goes too', async () => {
  await addWorktree(await repo.open(), { path: worktree, branch, from: 'main' })
  deepen(worktree)
  await removeWorktree(await repo.open(), worktree)
  expect(readdirSync(dirname(worktree))).toEqual([])
})
