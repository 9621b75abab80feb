import { appendFileSync, mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { commitLeftovers } from '../leftovers.ts'
import { aRepository, runGit, type TestRepository } from '../testkit.ts'
import { addPlace } from './making.ts'

let repo: TestRepository
let worktree: string
let start: string
const branch = 'fleet/shell/w/1'
const skipped = async () =>
  (await commitLeftovers({ worktree, branch, message: 'Leftovers\n', start, never: ['.env'] })).skipped
const put = (file: string, content: string) => {
  mkdirSync(dirname(join(worktree, file)), { recursive: true })
  writeFileSync(join(worktree, file), content)
}

beforeEach(async () => {
  repo = await aRepository({ files: { a: 'one\n', 'lib/a': 'one\n', '.gitignore': 'dist/\n*.log\n' } })
  worktree = join(repo.root, 'home/worktrees/p/w')
  start = await repo.tip()
  const given = { base: 'main', session: 's1', allowPush: false, hooks: true }
  await addPlace(await repo.open(), { path: worktree, branch, from: 'main', ...given })
  put('dist/bundle', 'ignored before\n')
  put('x.log', 'ignored before\n')
})
afterEach(() => repo.remove())

const why = 'only a rule that the agent added to .gitignore hides it'

test.each(['left', 'committed'])('work that is all hidden by new rules is named, the rules being %s', async how => {
  appendFileSync(join(worktree, '.gitignore'), '*\n')
  for (const name of ['b', 'lib/b', 'new/c', '.env']) put(name, 'work\n')
  if (how === 'committed') await runGit(worktree, ['commit', '--quiet', '-am', 'rules'])
  expect(await skipped()).toEqual(['b', 'lib/b', 'new/'].map(path => ({ path, why })))
})

test('so is work that a new ignore file hides together with itself', async () => {
  put('lib/.gitignore', '*\n')
  for (let n = 0; n < 9; n++) put(`lib/b${n}`, 'work\n')
  const told = await skipped()
  expect(told).toHaveLength(6)
  expect(told.at(-1)).toEqual({ path: '4 more', why })
})

test.each<[string, () => void]>([
  [
    'beside other changes',
    () => {
      appendFileSync(join(worktree, '.gitignore'), 'node_modules/\n')
      put('node_modules/x/index.js', 'x\n')
      put('b', 'two\n')
    },
  ],
  [
    'of a folder that ignores itself, as caches do',
    () => {
      put('.pytest_cache/.gitignore', '*\n')
      put('.pytest_cache/v/x', 'x\n')
    },
  ],
  ['that hide nothing', () => appendFileSync(join(worktree, '.gitignore'), 'node_modules/\n')],
  ['that were there before', () => put('dist/more', 'ignored before\n')],
])('rules %s are ordinary', async (_, work) => {
  work()
  expect(await skipped()).toEqual([])
})
