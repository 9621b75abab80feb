import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { commitLeftovers } from '../leftovers.ts'
import { aRepository, runGit, type TestRepository } from '../testkit.ts'
import { addWorktree } from '../worktrees.ts'
import { addPlace } from './making.ts'
import { dropRecord, folderOf } from './place.ts'
import { unheld } from './unheld.ts'

/** Like a place, a linked worktree is removed only if the project holds everything in it. */
let repo: TestRepository
let worktree: string
const branch = 'fleet/shell/w/1'
const AS = ['-c', 'user.name=a', '-c', 'user.email=a@b']
const inside = (...args: string[]) => runGit(worktree, [...AS, ...args])
const collect = () => commitLeftovers({ worktree, branch, message: 'Leftovers\n' })
const look = () => unheld(worktree, ['.env'])
const put = (file: string, content: string) => writeFileSync(join(worktree, file), content)
const commit = async (file: string) => {
  put(file, `${file}\n`)
  await inside('add', file)
  await inside('commit', '--quiet', '-m', file)
}

beforeEach(async () => {
  repo = await aRepository({ files: { a: 'one\n', '.gitignore': '*.log\ndeps/\n' } })
  worktree = join(repo.root, 'home/worktrees/p/w')
  await addWorktree(await repo.open(), { path: worktree, branch, from: 'main' })
  put('b', 'by the agent\n')
  await collect()
})
afterEach(() => repo.remove())

test('a worktree with only held, ignored and copied files can be removed', async () => {
  put('x.log', 'ignored\n')
  put('.env', 'copied\n')
  put('a', 'stashed\n')
  await inside('stash', '--quiet')
  await inside('branch', 'side')
  expect(await look()).toEqual([])
})

const UNHELD: Record<string, [work: () => unknown, told: RegExp]> = {
  'a new file': [() => put('mine.txt', 'mine\n'), /^mine\.txt$/],
  'a file whose name is no text': [
    () => writeFileSync(Buffer.concat([Buffer.from(`${worktree}/`), Buffer.from('m\xfcd', 'latin1')]), 'mine\n'),
    /^m.*d$/,
  ],
  'a changed file': [() => put('a', 'two\n'), /^a$/],
  'what is only staged': [
    async () => {
      put('a', 'two\n')
      await inside('add', 'a')
      put('a', 'one\n')
    },
    /^a$/,
  ],
  'a commit on no branch': [
    async () => {
      await inside('checkout', '--quiet', '--detach')
      await commit('lone')
    },
    /^the commit \w+ lone$/,
  ],
  'a commit that only a ref of the worktree names': [
    async () => {
      await inside('update-ref', 'refs/worktree/x', await inside('commit-tree', 'HEAD^{tree}', '-m', 'own'))
    },
    /^the commit \w+ own$/,
  ],
  'a merge under way, and what git stashed for it': [
    async () => {
      await inside('checkout', '--quiet', '-b', 'side')
      put('b', 'side\n')
      await inside('commit', '--quiet', '-am', 'side')
      await inside('checkout', '--quiet', branch)
      put('b', 'ours\n')
      await inside('commit', '--quiet', '-am', 'ours')
      put('a', 'precious\n')
      await inside('merge', '--autostash', 'side').catch(() => {})
    },
    /^a merge that is under way\nthe commit \w+ .*autostash/m,
  ],
  'a repository of its own in an ignored folder': [
    async () => {
      mkdirSync(join(worktree, 'deps'))
      await inside('init', '--quiet', 'deps/own')
      await runGit(join(worktree, 'deps/own'), [...AS, 'commit', '--quiet', '--allow-empty', '-m', 'x'])
    },
    /^deps\/own\/\.git$/,
  ],
  'what git no longer knows': [() => rmSync(join(worktree, '.git')), /^b$/m],
}
test.each(Object.entries(UNHELD))('%s keeps it', async (_, [work, told]) => {
  await work()
  expect((await look()).join('\n')).toMatch(told)
})

test('a place that was never finished can be removed', async () => {
  worktree = join(repo.root, 'home/worktrees/p/half')
  const given = { base: 'main', session: 's1', allowPush: false, hooks: true }
  await addPlace(await repo.open(), { path: worktree, branch: 'fleet/shell/half/1', from: 'main', ...given })
  dropRecord(folderOf(worktree))
  expect(await look()).toEqual([])
})
