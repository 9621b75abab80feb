import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { commitLeftovers } from '../leftovers.ts'
import { aRepository, runGit, type TestRepository } from '../testkit.ts'
import { addPlace } from './making.ts'
import { unheld } from './unheld.ts'

let repo: TestRepository
let worktree: string
const branch = 'fleet/shell/w/1'
const GIVEN = { base: 'main', session: 's1', allowPush: false, hooks: true }

const add = async (more = {}) =>
  addPlace(await repo.open(), { path: worktree, branch, from: 'main', ...GIVEN, ...more })
const collect = () => commitLeftovers({ worktree, branch, message: 'Leftovers\n' })
const inside = (...args: string[]) => runGit(worktree, args)
const put = (file: string, content: string) => writeFile(join(worktree, file), content)
/** Names of refs as bytes: a shell can write names that our arguments cannot have. */
const shell = (script: string) => runGit(worktree, ['-c', `alias.do=!${script}`, 'do'])

beforeEach(async () => {
  repo = await aRepository({ files: { a: 'one\n' } })
  worktree = join(repo.root, 'home/worktrees/p/w')
})
afterEach(() => repo.remove())

test('work on a branch with a name that is not ASCII goes on from ours, and is brought home', async () => {
  await add()
  await inside('checkout', '--quiet', '-b', 'feature/größe')
  await put('g', 'committed\n')
  await inside('add', 'g')
  await inside('commit', '--quiet', '-m', 'g')
  await put('h', 'left\n')
  const { tip, unfinished, kept, problem } = await collect()
  expect({ unfinished, problem }).toEqual({ unfinished: undefined, problem: undefined })
  expect(await repo.tip(branch)).toBe(tip)
  expect([await repo.readOn(branch, 'g'), await repo.readOn(branch, 'h')]).toEqual(['committed', 'left'])
  expect(kept).toContain('refs/fleet/sessions/s1/heads/feature/größe')
  expect(await repo.readOn('refs/fleet/sessions/s1/heads/feature/größe', 'g')).toBe('committed')
})

test.each(['loose', 'packed'])('commits on a branch whose name is not UTF-8 are kept (%s)', async how => {
  await add()
  await inside('checkout', '--quiet', '-b', 'side')
  await put('g', 'precious\n')
  await inside('add', 'g')
  await inside('commit', '--quiet', '-m', 'g')
  const side = await inside('rev-parse', 'HEAD')
  await inside('checkout', '--quiet', branch)
  await shell('git branch -m side "$(printf "caf\\351")"')
  if (how === 'packed') await inside('pack-refs', '--all')
  const { kept, problem } = await collect()
  expect({ kept, problem }).toEqual({ kept: ['refs/fleet/sessions/s1/heads/caf%E9'], problem: undefined })
  const held = await repo.git('for-each-ref', '--format=%(objectname)', 'refs/fleet/sessions')
  expect(held.split('\n')).toEqual([side])
  expect(await unheld(worktree, [])).toEqual([])
})

test.each(['loose', 'packed'])('tags of the project keep the bytes of their names (%s)', async how => {
  await repo.git('-c', 'alias.do=!git tag "$(printf "v\\351")"; git tag größe', 'do')
  if (how === 'packed') await repo.git('pack-refs', '--all')
  await add()
  const escaped = ['-c', 'alias.do=!git tag --list | od -An -c', 'do']
  expect(await inside(...escaped)).toBe(await repo.git(...escaped))
  // They were given and are unchanged, so they are not the agent's own.
  expect((await collect()).kept).toBeUndefined()
  await add()
  expect(await inside(...escaped)).toBe(await repo.git(...escaped))
})

test('a project whose base branch has a name that is not ASCII', async () => {
  await repo.git('checkout', '--quiet', '-b', 'größe')
  await repo.git('pack-refs', '--all')
  await add({ base: 'größe', from: 'größe' })
  expect(await inside('rev-parse', 'größe')).toBe(await repo.tip('größe'))
  expect((await collect()).kept).toBeUndefined()
})
