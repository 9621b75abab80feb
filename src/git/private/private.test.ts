import { createHash } from 'node:crypto'
import { chmodSync, existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { deflateSync } from 'node:zlib'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { commitLeftovers } from '../leftovers.ts'
import { snapshot } from '../snapshots.ts'
import { aRepository, runGit, type TestRepository } from '../testkit.ts'
import { addPlace, checkoutPlace, removePlace } from './making.ts'
import { folderOf, placeAt } from './place.ts'
import { readPacked } from './refs.ts'

let repo: TestRepository
let worktree: string
const branch = 'fleet/shell/w/1'
const GIVEN = { base: 'main', session: 's1', allowPush: false, hooks: true }

const add = async (more = {}) =>
  addPlace(await repo.open(), { path: worktree, branch, from: 'main', ...GIVEN, ...more })
const collect = (more = {}) => commitLeftovers({ worktree, branch, message: 'Leftovers\n', ...more })
const inside = (...args: string[]) => runGit(worktree, args)
const put = (file: string | Buffer, content: string) =>
  writeFile(Buffer.concat([Buffer.from(`${worktree}/`), Buffer.from(file)]), content)
const sessionDir = () => join(folderOf(worktree), 'git')

beforeEach(async () => {
  repo = await aRepository({ files: { a: 'one\n', b: 'one\n', '.gitignore': '*.log\n' } })
  worktree = join(repo.root, 'home/worktrees/p/w')
})
afterEach(() => repo.remove())

test('a place looks like an ordinary clone, and registers nothing in the project', async () => {
  await repo.git('tag', '-a', '-m', 'one', 'v1')
  await repo.git('branch', 'fleet/other/work')
  await repo.git('update-ref', 'refs/fleet/x/1', 'HEAD')
  await repo.git('update-ref', 'refs/stash', 'HEAD')
  await add()
  expect(await inside('status', '--porcelain', '--branch')).toBe(`## ${branch}`)
  expect((await inside('for-each-ref', '--format=%(refname)')).split('\n').sort()).toEqual(
    [`refs/heads/${branch}`, 'refs/heads/main', 'refs/tags/v1'].sort(),
  )
  expect(await inside('config', 'user.email')).toBe('person@example.com')
  expect(await inside('log', '--format=%s', '--all')).toBe('first')
  expect((await repo.git('worktree', 'list')).split('\n')).toHaveLength(1)
  expect(await repo.git('status', '--porcelain')).toBe('')
  expect(await repo.tip(branch)).toBe(await repo.tip())
  // If it is made again, the existing one is kept as it is.
  await put('a', 'two\n')
  expect(await add()).toMatchObject({ existed: true })
  expect(await readFile(join(worktree, 'a'), 'utf8')).toBe('two\n')
})

test('what the agent commits, stashes and names is taken in; its branch is moved by us', async () => {
  await add()
  await put('a', 'committed\n')
  await inside('commit', '--quiet', '-am', 'by the agent')
  await inside('branch', 'side')
  await put('b', 'first stash\n')
  await inside('stash', 'push', '--quiet')
  await put('b', 'second stash\n')
  await inside('stash', 'push', '--quiet')
  await put('new.txt', 'left')
  const { tip, committed, problem, kept } = await collect()
  expect({ committed, problem }).toEqual({ committed: true, problem: undefined })
  expect(kept).toEqual(['heads/side', 'stashes/0', 'stashes/1'].map(name => `refs/fleet/sessions/s1/${name}`))
  expect(await repo.tip(branch)).toBe(tip)
  expect(await repo.readOn(branch, 'a')).toBe('committed')
  expect(await repo.readOn('refs/fleet/sessions/s1/stashes/0', 'b')).toBe('first stash')
  expect(await repo.readOn('refs/fleet/sessions/s1/stashes/1', 'b')).toBe('second stash')
  expect(await repo.readOn('refs/fleet/sessions/s1/heads/side', 'a')).toBe('committed')
  await repo.git('fsck', '--strict', '--no-dangling')
  await expect(repo.git('rev-parse', '--verify', '--quiet', 'refs/stash')).rejects.toThrow()
  expect((await repo.git('log', '--format=%s', `main..${branch}`)).split('\n')).toEqual(['Leftovers', 'by the agent'])
  // Collecting again changes nothing.
  expect(await collect()).toMatchObject({ tip, committed: false })
  expect(await inside('status', '--porcelain')).toBe('')
  expect((await inside('stash', 'list')).split('\n')).toHaveLength(2)
})

test('what was staged and then written over is kept under a ref, and so is what was staged and removed', async () => {
  await add()
  for (const [file, content] of [
    ['a', 'staged\n'],
    ['gone', 'staged, then removed\n'],
    ['same', 'same\n'],
    ['secret', 'x\n'],
  ] as const)
    await put(file, content)
  await inside('add', '-A')
  await put('a', 'on disk\n')
  await put('secret', 'y\n')
  await rm(join(worktree, 'gone'))
  const { tip, kept, problem } = await collect({ never: ['secret'] })
  expect({ kept, problem }).toEqual({ kept: ['refs/fleet/sessions/s1/staged/1'], problem: undefined })
  expect(await repo.readOn(branch, 'a')).toBe('on disk')
  expect((await repo.git('diff', '--name-status', tip, kept![0]!)).split('\n')).toEqual(['M\ta', 'A\tgone'])
  expect(await repo.readOn(kept![0]!, 'a')).toBe('staged')
  expect(await repo.git('log', '-1', '--format=%P', kept![0]!)).toBe(tip)
  await repo.git('fsck', '--strict', '--no-dangling')
  // Collecting again finds nothing more. A file that is staged as it is on disk needs no ref.
  await put('b', 'staged and on disk\n')
  await inside('add', 'b')
  expect((await collect({ never: ['secret'] })).kept).toBeUndefined()
})

test('a file that was staged and then gave its place to a folder is kept, and does not hold up the rest', async () => {
  await add()
  await put('place', 'staged\n')
  await inside('add', 'place')
  await rm(join(worktree, 'place'))
  mkdirSync(join(worktree, 'place'))
  await put('a', 'on disk\n')
  const { kept } = await collect()
  expect(await repo.readOn(branch, 'a')).toBe('on disk')
  expect(await repo.readOn(kept![0]!, 'place')).toBe('staged')
})

test('more than a hundred objects come in as a pack that nothing keeps once a ref names it', async () => {
  await add()
  mkdirSync(join(worktree, 'many'))
  for (let n = 0; n < 120; n++) await put(`many/${n}`, `file ${n}\n`)
  await inside('add', '-A')
  await inside('commit', '--quiet', '-m', 'many')
  await collect()
  const packs = await readdir(join(repo.path, '.git/objects/pack'))
  expect(packs.filter(name => name.endsWith('.pack'))).toHaveLength(1)
  expect(packs.filter(name => name.endsWith('.keep'))).toEqual([])
  expect((await readdir(join(repo.path, '.git/objects'))).filter(name => name.startsWith('tmp_'))).toEqual([])
  await repo.git('fsck', '--strict', '--no-dangling')
})

test.each([5, 150])(
  'an object under a false name is refused, with %i objects; the files are still committed',
  async count => {
    await add()
    await put('a', 'harmless\n')
    for (let n = 0; n < count; n++) await put(`f${n}`, `file ${n}\n`)
    await inside('add', '-A')
    await inside('commit', '--quiet', '-m', 'looks fine')
    const oid = await inside('rev-parse', 'HEAD:a')
    const file = join(sessionDir(), 'objects', oid.slice(0, 2), oid.slice(2))
    chmodSync(file, 0o644)
    writeFileSync(file, deflateSync(Buffer.from('blob 5\0evil\n')))
    const start = await repo.tip()
    const collected = await collect()
    expect(collected.problem).toMatch(/refuses|not what their names/)
    expect(await repo.git('log', '--format=%P', '-1', collected.tip)).toBe(start)
    expect(await repo.readOn(collected.tip, 'a')).toBe('harmless')
    expect((await readdir(join(repo.path, '.git/objects'))).filter(name => name.startsWith('tmp_'))).toEqual([])
    await repo.git('fsck', '--strict', '--no-dangling')
  },
)

test('alternates and links of a session lead nowhere, and a person is told', async () => {
  const other = await aRepository({ files: { secret: 'elsewhere\n' } })
  await add()
  writeFileSync(
    join(sessionDir(), 'objects/info/alternates'),
    `${join(repo.path, '.git/objects')}\n${join(other.path, '.git/objects')}\n`,
  )
  const foreign = await other.git('rev-parse', 'HEAD:secret')
  await inside('update-index', '--add', '--cacheinfo', `100644,${foreign},stolen`)
  await inside('commit', '--quiet', '-m', 'borrowed')
  const { problem, tip } = await collect()
  expect(problem).toMatch(/commits|borrows/)
  await expect(repo.git('cat-file', '-e', foreign)).rejects.toThrow()
  expect(await repo.filesOn(tip)).not.toContain('stolen')
  expect(readFileSync(join(sessionDir(), 'objects/info/alternates'), 'utf8')).toBe(
    `${join(repo.path, '.git/objects')}\n`,
  )
  await other.remove()
})

test('everything that a person’s git would run is rewritten at the end of a session', async () => {
  await repo.write('.git/hooks/pre-commit', '#!/bin/sh\ntouch "$(git rev-parse --show-toplevel)/ran.log"\n')
  chmodSync(join(repo.path, '.git/hooks/pre-commit'), 0o755)
  await repo.write('.git/info/exclude', 'private.txt\n')
  await add()
  await put('a', 'two\n')
  await inside('commit', '--quiet', '-am', 'with the hook')
  expect(existsSync(join(worktree, 'ran.log'))).toBe(true)

  const planted = join(repo.root, 'planted')
  await inside('config', 'core.fsmonitor', `touch ${planted}; false`)
  await inside('config', 'filter.evil.clean', `touch ${planted}; cat`)
  writeFileSync(join(sessionDir(), 'info/attributes'), '* filter=evil\n')
  writeFileSync(join(sessionDir(), 'hooks/post-checkout'), `#!/bin/sh\ntouch ${planted}\n`, { mode: 0o755 })
  await rm(join(sessionDir(), 'info/exclude'))
  symlinkSync(join(repo.path, '.git/config'), join(sessionDir(), 'MERGE_MSG'))
  writeFileSync(join(sessionDir(), 'commondir'), `${join(repo.path, '.git')}\n`)
  await put('b', 'two\n')
  await put('private.txt', 'not to be committed\n')
  const before = readFileSync(join(repo.path, '.git/config'), 'utf8')
  await rm(planted, { force: true })
  await collect()
  expect(existsSync(planted)).toBe(false)
  expect(await repo.filesOn(branch)).not.toContain('private.txt')
  await inside('status')
  await inside('checkout', '--quiet', '--detach')
  expect(existsSync(planted)).toBe(false)
  expect(readFileSync(join(repo.path, '.git/config'), 'utf8')).toBe(before)
})

test.each(['.husky', '.husky/_'])(
  'hooks in %s of the worktree are the project’s, whatever becomes of them there',
  async path => {
    const hook = (line: string) => `#!/bin/sh\n${line}\n`
    // As husky has it: one hook has a helper below its folder, the other calls a hook in the folder above.
    const files = {
      '.husky/pre-commit': hook('. "$(dirname "$0")/_/helper"'),
      '.husky/_/pre-commit': hook('exec sh -e "$(dirname "$(dirname "$0")")/pre-commit"'),
      '.husky/_/helper': 'touch ran.log\n',
    }
    for (const [file, text] of Object.entries(files)) await repo.write(file, text)
    for (const file of ['.husky/pre-commit', '.husky/_/pre-commit']) chmodSync(join(repo.path, file), 0o755)
    await repo.commit('hooks')
    await repo.git('config', 'core.hooksPath', path)
    await add()
    const commit = async (name: string) => {
      await rm(join(worktree, 'ran.log'), { force: true })
      await put(name, 'x\n')
      await inside('add', name)
      await inside('commit', '--quiet', '-m', name)
      return existsSync(join(worktree, 'ran.log'))
    }
    expect(await commit('by the agent')).toBe(true)

    const planted = join(repo.root, 'planted')
    for (const file of Object.keys(files)) await put(file, hook(`touch ${planted}`))
    // A person may commit there while the agent is still at work, and afterwards.
    expect(await commit('by a person')).toBe(true)
    await collect()
    expect(await commit('by a person, later')).toBe(true)
    expect(existsSync(planted)).toBe(false)
    expect(await repo.readOn(branch, '.husky/_/helper')).toContain(planted)
  },
)

test('a rebase or cherry-pick that a person finishes runs nothing of the agent’s making', async () => {
  await add()
  const planted = join(repo.root, 'planted')
  const commits = async (...names: string[]) => {
    for (const name of names) {
      await put(name, `${name}\n`)
      await inside('add', '-A')
      await inside('commit', '--quiet', '-m', name)
    }
  }
  await commits('one', 'two', 'three')
  // The strategy names a program, and this name leads back into the worktree.
  mkdirSync(join(worktree, 'git-merge-..'))
  await writeFile(join(worktree, 'strategy.log'), `#!/bin/sh\ntouch ${planted}\nexit 1\n`, { mode: 0o755 })
  const begin = { GIT_SEQUENCE_EDITOR: "sed -i '1i exec false'" }
  await runGit(worktree, ['rebase', '--quiet', '-i', 'HEAD~2'], begin).catch(() => {})
  const todo = join(sessionDir(), 'rebase-merge/git-rebase-todo')
  const steps = ['exec', 'x', '\texec'].map(step => `${step} touch ${planted}\n`)
  writeFileSync(todo, [steps[0], readFileSync(todo, 'utf8'), ...steps].join(''))
  writeFileSync(join(sessionDir(), 'rebase-merge/strategy'), '../../strategy.log\n')
  expect((await collect()).unfinished?.doing).toBe('rebase')
  await inside('reset', '--quiet', '--hard', 'HEAD~1')
  await inside('rebase', '--continue')
  expect(await inside('log', '--format=%s', '-3')).toBe('three\ntwo\nfirst')
  expect(existsSync(planted)).toBe(false)

  await inside('checkout', '--quiet', '-B', branch)
  await inside('checkout', '--quiet', '-b', 'other', 'HEAD~2')
  for (const text of ['other', 'another', 'last']) {
    await put('two', `${text}\n`)
    await inside('add', '-A')
    await inside('commit', '--quiet', '-m', text)
  }
  await inside('checkout', '--quiet', branch)
  await inside('cherry-pick', 'other~1', 'other').catch(() => {})
  writeFileSync(join(sessionDir(), 'sequencer/opts'), '[options]\n\tstrategy = ../../strategy.log\n')
  expect((await collect()).unfinished?.doing).toBe('cherry-pick')
  await put('two', 'another\n')
  await inside('add', 'two')
  await inside('-c', 'core.editor=true', 'cherry-pick', '--continue')
  expect(await inside('log', '--format=%s', '-2')).toBe('last\nanother')
  expect(existsSync(planted)).toBe(false)
})

test('a repository made in the place of the link loses no file, and the link comes back', async () => {
  await add()
  await rm(join(worktree, '.git'))
  await inside('init', '--quiet', '-b', 'mine')
  await put('made.txt', 'work')
  const { committed } = await collect()
  expect(committed).toBe(true)
  expect(await repo.filesOn(branch)).toContain('made.txt')
  expect(await inside('status', '--porcelain', '--branch')).toBe(`## ${branch}`)
})

test('a narrowed checkout deletes nothing, and files that were added by force are committed', async () => {
  await repo.commit('folders', { 'x/1': 'one\n', 'y/1': 'one\n' })
  await add()
  await inside('sparse-checkout', 'set', 'x')
  expect(existsSync(join(worktree, 'y'))).toBe(false)
  await put('x/1', 'two\n')
  await put('forced.log', 'ignored, and wanted')
  await inside('add', '-f', 'forced.log')
  await collect()
  expect((await repo.git('diff', '--name-status', 'main', branch)).split('\n').sort()).toEqual([
    'A\tforced.log',
    'M\tx/1',
  ])
})

test('names that are not UTF-8 are committed as they are, new and edited', async () => {
  const latin = Buffer.from([0x63, 0x61, 0x66, 0xe9])
  await add()
  await put(latin, 'one')
  const first = await collect({ start: await repo.tip() })
  expect(first.changes?.files).toEqual([{ path: 'caf\\xe9', change: 'added' }])
  await put(latin, 'two')
  const second = await collect()
  expect(second.committed).toBe(true)
  const listed = await repo.git('-c', 'core.quotePath=true', 'ls-tree', '-r', '--name-only', branch)
  expect(listed.split('\n')).toContain('"caf\\351"')
  expect(await inside('status', '--porcelain')).toBe('')
})

test('a snapshot of live work stands on the agent’s own commits and moves nothing', async () => {
  await add()
  await put('a', 'committed\n')
  await inside('commit', '--quiet', '-am', 'by the agent')
  await put('b', 'not committed\n')
  const head = await inside('rev-parse', 'HEAD')
  const oid = await snapshot(await repo.open(), { worktree, message: 'Live\n', ref: 'refs/fleet/m/0', never: [] })
  expect(await repo.git('log', '-1', '--format=%P', oid)).toBe(head)
  expect(await repo.readOn(oid, 'b')).toBe('not committed')
  expect(await repo.tip(branch)).toBe(await repo.tip())
  expect(await inside('status', '--porcelain')).toBe(' M b')
})

test('refs are brought up to date, except those the agent changed', async () => {
  await repo.git('tag', 'v1')
  await add()
  await inside('tag', '-f', 'v1', await inside('commit-tree', '-m', 'x', 'HEAD^{tree}'))
  const next = await repo.commit('base moves', { c: '1' })
  await repo.git('tag', 'v2')
  await add()
  expect(await inside('rev-parse', 'main')).toBe(next)
  expect(await inside('rev-parse', 'v2')).toBe(next)
  expect(await inside('rev-parse', 'v1')).not.toBe(await repo.git('rev-parse', 'v1'))
})

test('a branch that is deleted and collected in the project breaks nothing in a session', async () => {
  await repo.git('checkout', '--quiet', '-b', 'feature')
  await repo.commit('on feature', { f: '1' })
  await add({ from: 'feature', base: 'feature' })
  await repo.git('checkout', '--quiet', 'main')
  await repo.git('branch', '-D', 'feature')
  await repo.git('branch', '-D', branch)
  await repo.git(
    '-c',
    'gc.pruneExpire=now',
    '-c',
    'gc.reflogExpire=now',
    '-c',
    'gc.reflogExpireUnreachable=now',
    'gc',
    '--quiet',
  )
  await inside('log', '--all', '--oneline')
  await inside('fsck', '--strict')
  await put('a', 'two\n')
  expect(await collect()).toMatchObject({ committed: true })
})

test('tags that are deleted and collected in the project break nothing in a session', async () => {
  await repo.git('checkout', '--quiet', '--detach')
  await repo.commit('released', { r: '1' })
  await repo.git('tag', '-a', '-m', 'one', 'v1')
  await repo.commit('tagged', { r: '2' })
  await repo.git('tag', 'light')
  await repo.git('checkout', '--quiet', 'main')
  await repo.git('tag', '-a', '-m', 'on main', 'v0')
  for (const path of [worktree, `${worktree}2`]) await add({ path, branch: `${branch}-${path.length}` })
  await repo.git('tag', '-d', 'v0', 'v1', 'light')
  await repo.git('reflog', 'expire', '--expire=now', '--all')
  await repo.git('-c', 'gc.pruneExpire=now', 'gc', '--quiet')
  for (const path of [worktree, `${worktree}2`]) {
    expect((await runGit(path, ['log', '--all', '--format=%s'])).split('\n').sort()).toEqual([
      'first',
      'released',
      'tagged',
    ])
    expect(await runGit(path, ['for-each-ref', '--format=%(contents:subject)', 'refs/tags/v*'])).toBe('on main\none')
    await runGit(path, ['fsck', '--strict'])
  }
})

test('checks get exactly one commit, whatever the check before did', async () => {
  const open = await repo.open()
  const first = await repo.tip()
  await checkoutPlace(open, worktree, first, GIVEN)
  await put('kept.log', 'warm')
  await put('a', 'changed by a check\n')
  await put('untracked', 'x')
  await inside('config', 'core.fsmonitor', 'false')
  await inside('commit', '--quiet', '-am', 'committed by a check')
  const second = await repo.commit('next', { b: 'two\n' })
  await checkoutPlace(open, worktree, second, GIVEN)
  expect(await inside('rev-parse', 'HEAD')).toBe(second)
  expect(await inside('status', '--porcelain')).toBe('')
  expect(await readFile(join(worktree, 'a'), 'utf8')).toBe('one\n')
  expect(existsSync(join(worktree, 'kept.log'))).toBe(true)
  expect((await repo.git('worktree', 'list')).split('\n')).toHaveLength(1)
})

test('nothing is left of a place that was removed', async () => {
  await add()
  await removePlace(worktree, await repo.open())
  expect(existsSync(worktree)).toBe(false)
  expect(existsSync(folderOf(worktree))).toBe(false)
  expect(placeAt(worktree)).toBeUndefined()
  expect(await repo.git('for-each-ref', 'refs/fleet')).toBe('')
})

test('an identity that depends on the folder is the one of the project', async () => {
  const included = join(repo.root, 'work.config')
  await writeFile(included, '[user]\n\temail = me@work\n')
  await repo.git('config', '--unset', 'user.email')
  await repo.git('config', `includeIf.gitdir:${repo.path}/.path`, included)
  await add()
  expect(await inside('config', 'user.email')).toBe('me@work')
  expect(readFileSync(join(sessionDir(), 'config'), 'utf8')).not.toMatch(/include/i)
  await put('a', 'two\n')
  await collect()
  expect(await repo.git('log', '-1', '--format=%ae', branch)).toBe('me@work')
})

test('what is packed reads back as it was', () => {
  const oid = createHash('sha1').update('x').digest('hex')
  expect([...readPacked(`# pack-refs with: sorted \n${oid} refs/tags/a\n^${oid}\n${oid} refs/tags/b c\n`)]).toEqual([
    ['refs/tags/a', oid],
    ['refs/tags/b c', oid],
  ])
})

test('what the agent committed itself is not committed again, however large', async () => {
  await add()
  await put('big', 'x'.repeat(2000))
  await inside('add', '-A')
  await inside('commit', '--quiet', '-m', 'big')
  const tip = await inside('rev-parse', 'HEAD')
  expect(await collect({ maxBytes: 1000 })).toEqual({ tip, committed: false, skipped: [] })
})
