import { chmodSync, mkdirSync, rmSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { commitLeftovers } from '../leftovers.ts'
import { aRepository, runGit, type TestRepository } from '../testkit.ts'
import { addPlace } from './making.ts'
import { ourEnvironment, type Place, placeAt } from './place.ts'
import { isUntouched } from './untouched.ts'

/** Git is not asked about a worktree only if it has exactly the files of its last commit. */
let repo: TestRepository
let place: Place
const branch = 'fleet/shell/w/1'
const at = (file: string) => join(place.worktree, file)

beforeEach(async () => {
  const files = { a: 'one\n', 'a.b': 'x\n', 'k/deep/file': 'one\n', 'k/file': 'two\n', '.gitignore': '*.log\n' }
  repo = await aRepository({ files })
  const worktree = join(repo.root, 'home/worktrees/p/w')
  const given = { base: 'main', session: 's1', allowPush: false, hooks: true }
  await addPlace(await repo.open(), { path: worktree, branch, from: 'main', ...given })
  place = placeAt(worktree)!
  writeFileSync(at('k/new'), 'three\n')
  symlinkSync('a', at('link'))
  writeFileSync(at('run'), '#!/bin/sh\n')
  chmodSync(at('run'), 0o755)
  await commitLeftovers({ worktree, branch, message: 'Leftovers\n' })
})
afterEach(() => repo.remove())

const ours = (...args: string[]) => runGit(place.worktree, args, ourEnvironment(place))

/** A file that is as old as the index is looked at again, so the index is written until it is younger than all. */
const untouched = () =>
  vi.waitFor(async () => {
    await ours('update-index', '--force-write-index')
    expect(await isUntouched(place)).toBe(true)
  }, 10_000)

test('after its work was committed, nothing is left for git to find', async () => {
  await untouched()
})

test.each<[string, () => void]>([
  ['another content of the same length', () => writeFileSync(at('k/file'), 'TWO\n')],
  [
    'a file with its old times',
    () => {
      writeFileSync(at('a'), 'ONE\n')
      utimesSync(at('a'), new Date(0), new Date(0))
    },
  ],
  ['a file that is gone', () => rmSync(at('a'))],
  ['a new file', () => writeFileSync(at('k/deep/more'), '')],
  ['an ignored file', () => writeFileSync(at('k/x.log'), '')],
  ['an empty folder', () => mkdirSync(at('k/empty'))],
  ['another mode', () => chmodSync(at('a'), 0o755)],
  [
    'a file in place of a link',
    () => {
      rmSync(at('link'))
      writeFileSync(at('link'), 'a')
    },
  ],
  [
    'a link in place of a folder',
    () => {
      rmSync(at('k/deep'), { recursive: true })
      symlinkSync('/', at('k/deep'))
    },
  ],
  ['a repository', () => mkdirSync(at('k/.git'))],
])('git looks at a worktree with %s', async (_, change) => {
  await untouched()
  change()
  expect(await isUntouched(place)).toBe(false)
})

test('git looks if our index is not the commit, or leaves a file out', async () => {
  await untouched()
  await ours('update-index', '--assume-unchanged', 'a')
  expect(await isUntouched(place)).toBe(false)
  await ours('update-index', '--no-assume-unchanged', 'a')
  await untouched()
  await ours('update-index', '--cacheinfo', `100644,${await repo.git('rev-parse', 'main:k/file')},a`)
  expect(await isUntouched(place)).toBe(false)
})
