import { appendFileSync, mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { commitLeftovers } from '../leftovers.ts'
import { aRepository, runGit, type TestRepository } from '../testkit.ts'
import { addPlace } from './making.ts'
import { folderOf } from './place.ts'
import { unheld } from './unheld.ts'

/** After a look at a session's repository, the project holds every commit that it names, wherever it names it. */
let repo: TestRepository
let worktree: string
const branch = 'fleet/shell/w/1'
const inside = (...args: string[]) => runGit(worktree, ['-c', 'user.name=a', '-c', 'user.email=a@b', ...args])
const stopping = (...args: string[]) => inside(...args).then(expect.fail, () => {})
const collect = () => commitLeftovers({ worktree, branch, message: 'Leftovers\n' })
const put = (file: string, content: string) => writeFileSync(join(worktree, file), content)
const commit = async (file: string, content: string) => {
  put(file, content)
  await inside('add', file)
  await inside('commit', '--quiet', '-m', `${file} ${content}`)
  return inside('rev-parse', 'HEAD')
}
/** Two sides that differ in b; HEAD is on ours. */
const twoSides = async () => {
  await inside('checkout', '--quiet', '-b', 'side')
  await commit('b', 'theirs\n')
  await inside('checkout', '--quiet', branch)
  await commit('b', 'ours\n')
}
const heldBy = async (file: string) => {
  const commits = (await repo.git('rev-list', '--all')).split('\n')
  return (await Promise.all(commits.map(each => repo.readOn(each, file).catch(() => '')))).filter(Boolean)
}

beforeEach(async () => {
  repo = await aRepository({ files: { a: 'one\n', b: 'one\n', c: 'one\n' } })
  worktree = join(repo.root, 'home/worktrees/p/w')
  const given = { base: 'main', session: 's1', allowPush: false, hooks: true }
  await addPlace(await repo.open(), { path: worktree, branch, from: 'main', ...given })
})
afterEach(() => repo.remove())

describe('what git put aside by itself', () => {
  test('before a merge is kept, and the merge is not concluded without it', async () => {
    await twoSides()
    put('c', 'precious\n')
    await stopping('merge', '--autostash', 'side')
    put('b', 'both\n')
    for (const _ of [1, 2]) {
      const { unfinished, kept } = await collect()
      expect(unfinished).toEqual({ doing: 'merge', paths: ['b'] })
      expect(kept).toContain('refs/fleet/sessions/s1/stashes/0')
      expect(await repo.readOn('refs/fleet/sessions/s1/stashes/0', 'c')).toBe('precious')
    }
    await inside('commit', '--quiet', '-am', 'merged')
    const { unfinished, tip } = await collect()
    expect(unfinished).toBeUndefined()
    expect([await repo.readOn(tip, 'b'), await repo.readOn(tip, 'c')]).toEqual(['both', 'precious'])
    expect(await unheld(worktree, [])).toEqual([])
  })

  test('before a rebase is kept when the place goes', async () => {
    await twoSides()
    put('c', 'precious\n')
    await stopping('rebase', '--autostash', 'side')
    await unheld(worktree, [])
    expect(await heldBy('c')).toContain('precious')
  })
})

const LOGGED = 'refs/fleet/sessions/s1/logged'
const held = async () => (await repo.git('rev-list', '--glob=refs/')).split('\n')
const loose = async (message: string) => inside('commit-tree', '-m', message, await inside('rev-parse', 'HEAD^{tree}'))
const plant = (file: string, text: string) => {
  const path = join(folderOf(worktree), 'git', file)
  mkdirSync(dirname(path), { recursive: true })
  appendFileSync(path, text)
}
const line = (oid: string) => `${'0'.repeat(40)} ${oid} a <a@b> 0 +0000\tcommit: x\n`

test('a commit on a detached HEAD that was left again is held', async () => {
  await inside('checkout', '--quiet', '--detach')
  const detached = await commit('d', 'detached\n')
  await inside('checkout', '--quiet', branch)
  put('e', 'left\n')
  expect((await collect()).kept).toEqual([LOGGED])
  expect(await repo.git('rev-parse', LOGGED)).toBe(detached)
  expect(await repo.filesOn(branch)).toEqual(['a', 'b', 'c', 'e'])
})

test.each([
  'ORIG_HEAD',
  'CHERRY_PICK_HEAD',
  'REVERT_HEAD',
  'BISECT_EXPECTED_REV',
  'sequencer/head',
  'rebase-merge/orig-head',
  'worktrees/x/ORIG_HEAD',
  'worktrees/x/rebase-merge/onto',
  'logs/HEAD',
  'logs/refs/heads/gone',
  'logs/refs/remotes/origin/own',
  'worktrees/x/logs/HEAD',
])('a commit that only %s names is held, after the end of a session and after a look', async file => {
  const text = (oid: string) => (file.includes('logs/') ? line(oid) : `${oid}\n`)
  const first = await loose('first')
  plant(file, text(first))
  await collect()
  expect(await held()).toContain(first)
  const second = await loose('second')
  plant(file, text(second))
  await unheld(worktree, [])
  expect(await held()).toEqual(expect.arrayContaining([first, second]))
})

test('what was on its branch or on another one when somebody last looked stays held when the branch goes elsewhere', async () => {
  await inside('checkout', '--quiet', '-b', 'side')
  const side = await commit('s', 'one\n')
  await inside('checkout', '--quiet', branch)
  const first = await commit('d', 'one\n')
  expect((await collect()).kept).toEqual(['refs/fleet/sessions/s1/heads/side'])
  await inside('commit', '--quiet', '--amend', '-m', 'second')
  const second = await inside('rev-parse', 'HEAD')
  await inside('branch', '--quiet', '-f', 'side', branch)
  expect((await collect()).kept).toContain(LOGGED)
  await inside('commit', '--quiet', '--amend', '-m', 'third')
  await inside('branch', '--quiet', '-f', 'side', branch)
  await collect()
  expect(await held()).toEqual(expect.arrayContaining([side, first, second]))
})

test('commits of its branch, and of a remote, need no ref of their own', async () => {
  await runGit(repo.root, ['clone', '--quiet', repo.path, 'upstream'])
  const upstream = join(repo.root, 'upstream')
  await runGit(upstream, ['-c', 'user.name=a', '-c', 'user.email=a@b', 'commit', '--quiet', '--allow-empty', '-m', 'x'])
  await inside('remote', 'add', 'upstream', upstream)
  await inside('fetch', '--quiet', 'upstream')
  await inside('checkout', '--quiet', 'upstream/main')
  await inside('checkout', '--quiet', branch)
  await commit('d', 'one\n')
  await commit('d', 'two\n')
  await commit('d', 'three\n')
  expect((await collect()).kept).toBeUndefined()
})

test('a commit that git refuses keeps the place, also where only a log names it; one that is nowhere is nothing', async () => {
  const [tree, good] = [await inside('rev-parse', 'HEAD^{tree}'), await loose('good')]
  const file = join(repo.root, 'bad')
  writeFileSync(file, `tree ${tree}\nauthor a <> 0 +0000\ncommitter bad 0 +0000\n\nx\n`)
  plant('logs/HEAD', [good, '1'.repeat(40), 'ab'.repeat(20)].map(line).join(''))
  expect((await collect()).problem).toBeUndefined()
  plant('logs/HEAD', line(await inside('hash-object', '-t', 'commit', '-w', '--literally', file)))
  expect((await collect()).problem).toMatch(/refuses.*its logs/)
  expect((await unheld(worktree, [])).join()).toContain('refuses')
  expect(await held()).toContain(good)
})

test('logs that name more commits than are looked at keep the place', async () => {
  const oids = Array.from({ length: 10_001 }, (_, i) => (i + 1).toString(16).padStart(40, '0'))
  plant('logs/HEAD', oids.map(line).join(''))
  expect((await collect()).problem).toContain('more than 10000')
})

describe('a sequence in its middle is not concluded, since the rest would be lost', () => {
  const twoPicks = async (verb: 'cherry-pick' | 'revert') => {
    await twoSides()
    await inside('checkout', '--quiet', 'side')
    const last = await commit('q', 'q\n')
    await inside('checkout', '--quiet', branch)
    const which = verb === 'revert' ? ['side~1', last] : ['side~1', 'side']
    if (verb === 'revert') await commit('q', 'q\n')
    await stopping(verb, ...which)
    put('b', 'resolved\n')
  }

  test.each(['cherry-pick', 'revert'] as const)('%s, resolved and not gone on with', async verb => {
    await twoPicks(verb)
    for (const _ of [1, 2]) expect((await collect()).unfinished).toEqual({ doing: verb, paths: ['b'] })
    await inside('add', 'b')
    await inside('-c', 'core.editor=true', verb, '--continue')
    const { unfinished, tip } = await collect()
    expect(unfinished).toBeUndefined()
    expect(await repo.readOn(tip, 'b')).toBe('resolved')
    expect(await repo.filesOn(tip)).toEqual(verb === 'revert' ? ['a', 'b', 'c'] : ['a', 'b', 'c', 'q'])
  })

  test('also where its first part was committed', async () => {
    await twoPicks('cherry-pick')
    await inside('commit', '--quiet', '-am', 'first')
    expect((await collect()).unfinished).toMatchObject({ doing: 'cherry-pick' })
  })

  test('its last part is concluded, and nothing of it is left in the way of another one', async () => {
    await twoSides()
    await inside('checkout', '--quiet', '-b', 'other', 'main')
    await commit('q', 'q\n')
    await inside('checkout', '--quiet', branch)
    await stopping('cherry-pick', 'other', 'side')
    put('b', 'resolved\n')
    const { unfinished, tip } = await collect()
    expect(unfinished).toBeUndefined()
    expect([await repo.readOn(tip, 'b'), await repo.readOn(tip, 'q')]).toEqual(['resolved', 'q'])
    expect(await inside('status')).not.toContain('in progress')
  })

  test('patches of a mailbox', async () => {
    await twoSides()
    const patch = join(repo.root, 'patch')
    writeFileSync(patch, `${await inside('format-patch', '--stdout', '-1', 'side')}\n`)
    await stopping('am', patch)
    expect((await collect()).unfinished).toMatchObject({ doing: 'git am' })
  })
})
