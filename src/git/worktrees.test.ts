import { chmod, mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, describe as group, test } from 'vitest'
import { branchName, slug } from './branch-names.ts'
import { worktreeBytes } from './disk.ts'
import { guardMark } from './guard.ts'
import type { Repository } from './layout.ts'
import { describe, openRepository, requireCommits } from './repository.ts'
import { git, requireGit } from './run.ts'
import { aRepository, type RepositoryOptions, runGit, type TestRepository } from './testkit.ts'
import { addWorktree, checkoutScratch, removeWorktree, scratchWorktree } from './worktrees.ts'

let made: TestRepository[] = []
const repository = async (options?: RepositoryOptions) => {
  const repo = await aRepository(options)
  made.push(repo)
  return repo
}
beforeEach(() => {
  made = []
})
afterEach(() => Promise.all(made.map(repo => repo.remove())))

const HOSTILE = [
  '$(touch pwned)',
  '`id`',
  '"quoted" \'and\'',
  'line\nbreak',
  '--upload-pack=evil',
  '-rf',
  '..',
  '日本語',
  '',
]

group('opening', () => {
  test('a plain folder, a missing path and a folder without commits are refused in plain words', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'flotilla-plain-'))
    await expect(openRepository(folder)).rejects.toThrow('is not a git repository')
    await rm(folder, { recursive: true })
    await expect(openRepository(folder)).rejects.toThrow('does not exist')

    const empty = await (await repository({ commits: false })).open()
    const description = await describe(empty)
    expect(description.hasCommits).toBe(false)
    expect(() => requireCommits(empty, description)).toThrow('has no commits yet')
  })

  test('any branch name, from a sub-directory, with remotes', async () => {
    const repo = await repository({ branch: 'stamm/größe', files: { 'deep/er/file': '1' } })
    await repo.git('remote', 'add', 'origin', 'https://example.com/x.git')
    const opened = await openRepository(join(repo.path, 'deep/er'))
    expect(opened).toEqual({
      path: repo.path,
      gitDir: join(repo.path, '.git'),
      commonDir: join(repo.path, '.git'),
      bare: false,
    })
    expect(await describe(opened)).toEqual({
      bare: false,
      shallow: false,
      head: 'stamm/größe',
      detached: false,
      hasCommits: true,
      defaultBranch: 'stamm/größe',
      remotes: ['origin'],
    })
  })

  test('bare, shallow and detached repositories are told apart and still give a default branch', async () => {
    const bare = await repository({ bare: true, branch: 'trunk' })
    expect(await describe(await bare.open())).toMatchObject({ bare: true, defaultBranch: 'trunk' })

    const deep = await repository()
    await deep.commit('second', { a: '2' })
    await runGit(deep.root, ['clone', '--quiet', '--depth=1', `file://${deep.path}`, 'shallow'])
    const shallow = await openRepository(join(deep.root, 'shallow'))
    expect(await describe(shallow)).toMatchObject({ shallow: true, head: 'main', remotes: ['origin'] })

    await deep.git('checkout', '--quiet', '--detach')
    expect(await describe(await deep.open())).toMatchObject({ detached: true, head: undefined, defaultBranch: 'main' })
  })

  test('this git is new enough', async () => expect(await requireGit()).toMatch(/^\d+\.\d+/))
})

group('branch names', () => {
  test.each(HOSTILE)('%j becomes a name that git accepts', async title => {
    const repo = await repository()
    const branch = await branchName(await repo.open(), { agent: 'shell', title, id: 'abc123' })
    await repo.git('check-ref-format', '--branch', branch)
    expect(branch).toMatch(/^fleet\/shell\/[a-z0-9-]+\/abc123$/)
  })

  test('a title keeps what can be read of it', () => {
    expect(slug('Höhe des Schiffs: prüfen!')).toBe('hohe-des-schiffs-prufen')
    expect(slug('日本語')).toBe('mission')
    expect(slug('x'.repeat(300))).toHaveLength(40)
  })

  test.each(['fleet', 'fleet/shell', 'fleet/shell/fix'])(
    'a branch named %s moves ours to another prefix',
    async inTheWay => {
      const repo = await repository()
      await repo.git('branch', inTheWay)
      const mission = { agent: 'shell', title: 'fix', id: 'abc123' }
      expect(await branchName(await repo.open(), mission)).toBe('flotilla/shell/fix/abc123')
      await repo.git('pack-refs', '--all')
      expect(await branchName(await repo.open(), mission)).toBe('flotilla/shell/fix/abc123')
    },
  )
})

group('adding and removing', () => {
  const add = (repo: Repository, root: string, name: string, from = 'main') =>
    addWorktree(repo, { path: join(root, name), branch: `fleet/shell/${name}/1`, from })

  test.each([{}, { bare: true }, { branch: 'trunk' }])(
    'works in a repository with %j and leaves nothing behind',
    async options => {
      const repo = await repository(options)
      const opened = await repo.open()
      const before = await guardMark(opened)
      const added = await add(opened, repo.root, 'w', repo.branch)
      expect(added).toEqual({ tip: await repo.tip(), existed: false, emptySubmodules: [] })
      expect(await readFile(join(repo.root, 'w/README.md'), 'utf8')).toBe('# A project\n')
      expect(await runGit(join(repo.root, 'w'), ['status', '--porcelain'])).toBe('')
      expect(await guardMark(opened)).toEqual(before)

      await removeWorktree(opened, join(repo.root, 'w'))
      await removeWorktree(opened, join(repo.root, 'w'))
      expect(await readdir(repo.root)).toEqual(['repo'])
      expect(await repo.git('worktree', 'list')).not.toContain('fleet')
    },
  )

  test('rejecting hooks do not run', async () => {
    const repo = await repository()
    await mkdir(join(repo.path, '.git/hooks'))
    for (const hook of ['post-checkout', 'reference-transaction', 'pre-commit', 'post-index-change']) {
      await writeFile(join(repo.path, '.git/hooks', hook), '#!/bin/sh\nexit 1\n')
      await chmod(join(repo.path, '.git/hooks', hook), 0o755)
    }
    await add(await repo.open(), repo.root, 'w')
    expect(await readdir(join(repo.root, 'w'))).toContain('README.md')
  })

  test('a shallow clone, a detached HEAD and a rebase in progress are no obstacle', async () => {
    const repo = await repository()
    await repo.commit('second', { 'README.md': 'two' })
    await runGit(repo.root, ['clone', '--quiet', '--depth=1', `file://${repo.path}`, 'shallow'])
    await add(await openRepository(join(repo.root, 'shallow')), repo.root, 'from-shallow')
    await repo.git('checkout', '--quiet', '-b', 'side', 'HEAD~1')
    await repo.commit('other', { 'README.md': 'three' })
    await expect(repo.git('rebase', 'main')).rejects.toThrow()
    await add(await repo.open(), repo.root, 'from-rebase')
    expect(await readFile(join(repo.root, 'from-rebase/README.md'), 'utf8')).toBe('two')
  })

  test('twenty at once on one repository all succeed', async () => {
    const repo = await repository()
    const opened = await repo.open()
    const names = Array.from({ length: 20 }, (_, i) => `w${i}`)
    await Promise.all(names.map(name => add(opened, repo.root, name)))
    expect((await repo.git('worktree', 'list')).split('\n')).toHaveLength(21)
    await Promise.all(names.map(name => removeWorktree(opened, join(repo.root, name))))
    expect((await repo.git('worktree', 'list')).split('\n')).toHaveLength(1)
  })

  test('asked again, it finds the worktree with the work in it', async () => {
    const repo = await repository()
    const opened = await repo.open()
    await add(opened, repo.root, 'w')
    await writeFile(join(repo.root, 'w/new'), 'work')
    expect(await add(opened, repo.root, 'w')).toMatchObject({ existed: true, tip: await repo.tip() })
    expect(await readFile(join(repo.root, 'w/new'), 'utf8')).toBe('work')
    await expect(addWorktree(opened, { path: join(repo.root, 'w'), branch: 'other', from: 'main' })).rejects.toThrow(
      'in the way',
    )
  })

  test('a half-made one is made again', async () => {
    const repo = await repository()
    const opened = await repo.open()
    const path = join(repo.root, 'w')
    const making = ['worktree', 'add', '--quiet', '--no-checkout', '--lock', '--reason', 'flotilla: being made']
    await repo.git(...making, '-b', 'fleet/shell/w/1', path, 'main')
    await add(opened, repo.root, 'w')
    expect(await runGit(path, ['status', '--porcelain'])).toBe('')
    await expect(stat(join(repo.path, '.git/worktrees/w/locked'))).rejects.toThrow()
  })

  test.each(['.git', 'gitdir'])(
    'one cut short in the write of its %s is made again, and no record is left',
    async which => {
      const repo = await repository()
      const opened = await repo.open()
      const [path, record] = [join(repo.root, 'w'), join(repo.path, '.git/worktrees/w')]
      await add(opened, repo.root, 'w')
      await writeFile(join(record, 'locked'), `flotilla: being made at ${path}\n`)
      await rm(path, { recursive: true })
      await mkdir(path)
      await writeFile(join(path, '.git'), which === '.git' ? '' : `gitdir: ${record}\n`)
      await (which === '.git' ? rm(join(record, 'gitdir')) : writeFile(join(record, 'gitdir'), ''))
      await add(opened, repo.root, 'w')
      expect(await runGit(path, ['status', '--porcelain'])).toBe('')
      expect(await readdir(join(repo.path, '.git/worktrees'))).toHaveLength(1)
    },
  )

  test('a branch without its worktree gets it back at the same path', async () => {
    const repo = await repository()
    const opened = await repo.open()
    await add(opened, repo.root, 'w')
    await rm(join(repo.root, 'w'), { recursive: true })
    await repo.commit('later', { later: '1' })
    const again = await add(opened, repo.root, 'w')
    expect(again.tip).not.toBe(await repo.tip())
    expect(await readdir(join(repo.root, 'w'))).not.toContain('later')
  })

  test('a folder of someone else at the path is refused and kept, by adding and by removing', async () => {
    const repo = await repository()
    const opened = await repo.open()
    await mkdir(join(repo.root, 'w'))
    await writeFile(join(repo.root, 'w/precious'), 'mine')
    await expect(add(opened, repo.root, 'w')).rejects.toThrow('in the way')
    await expect(removeWorktree(opened, join(repo.root, 'w'))).rejects.toThrow('is not a worktree that Flotilla made')
    await expect(removeWorktree(opened, repo.path)).rejects.toThrow('is not a worktree that Flotilla made')
    expect(await readFile(join(repo.root, 'w/precious'), 'utf8')).toBe('mine')
  })

  test('a half-removed one is removed', async () => {
    const repo = await repository()
    const opened = await repo.open()
    await add(opened, repo.root, 'w')
    await rm(join(repo.root, 'w/.git'))
    await removeWorktree(opened, join(repo.root, 'w'))
    expect(await readdir(repo.root)).toEqual(['repo'])
    expect(await repo.git('worktree', 'list')).not.toContain('fleet')
  })

  test('a start that does not exist fails with the reason and leaves no worktree', async () => {
    const repo = await repository()
    await expect(add(await repo.open(), repo.root, 'w', '$(touch pwned)')).rejects.toThrow('Needed a single revision')
    expect(await readdir(repo.root)).toEqual(['repo'])
  })

  test('what is made is a worktree like any other to git', async () => {
    const repo = await repository()
    const opened = await repo.open()
    await add(opened, repo.root, 'w')
    const path = join(repo.root, 'w')
    expect(await repo.git('worktree', 'list', '--porcelain')).toContain(
      `worktree ${path}\nHEAD ${await repo.tip()}\nbranch refs/heads/fleet/shell/w/1`,
    )
    expect(await repo.git('worktree', 'prune', '--dry-run', '--verbose', '--expire=now')).toBe('')
    await repo.git('fsck', '--strict')
    await expect(repo.git('branch', '-D', 'fleet/shell/w/1')).rejects.toThrow(/checked out at|used by worktree at/)
    await repo.git('worktree', 'move', path, `${path}-moved`)
    await repo.git('worktree', 'remove', `${path}-moved`)
    expect(await readdir(repo.root)).toEqual(['repo'])
  })

  test('two worktrees whose folders have one name do not meet', async () => {
    const repo = await repository()
    const opened = await repo.open()
    for (const folder of ['a', 'b'])
      await addWorktree(opened, { path: join(repo.root, folder, 'same'), branch: `fleet/x/${folder}/1`, from: 'main' })
    await removeWorktree(opened, join(repo.root, 'a/same'))
    expect(await runGit(join(repo.root, 'b/same'), ['status', '--porcelain', '--branch'])).toBe('## fleet/x/b/1')
  })

  test('a sparse checkout passes on what it leaves out', async () => {
    const repo = await repository({ files: { 'in/a': '1', 'out/b': '2' } })
    await repo.git('sparse-checkout', 'set', 'in')
    const opened = await repo.open()
    await add(opened, repo.root, 'w')
    expect((await readdir(join(repo.root, 'w'))).sort()).toEqual(['.git', 'in'])
    expect(await add(opened, repo.root, 'w')).toMatchObject({ existed: true })
    await removeWorktree(opened, join(repo.root, 'w'))
    expect(await repo.git('worktree', 'list')).not.toContain('fleet')
  })

  test('a checkout that fails says why and leaves nothing', async () => {
    const repo = await repository({ files: { '.gitattributes': '*.bin filter=broken\n', 'x.bin': 'x' } })
    await repo.git('config', 'filter.broken.smudge', 'false')
    await repo.git('config', 'filter.broken.required', 'true')
    await expect(add(await repo.open(), repo.root, 'w')).rejects.toThrow("filter 'false' failed")
    expect(await readdir(repo.root)).toEqual(['repo'])
    expect(await repo.git('worktree', 'list')).not.toContain('fleet')
  })

  test('submodules are filled from the copies at hand, without a write to the shared config', async () => {
    const library = await repository({ files: { 'lib.txt': 'library' } })
    const repo = await repository()
    await repo.git('-c', 'protocol.file.allow=always', 'submodule', '--quiet', 'add', library.path, 'vendor/lib')
    await repo.commit('with a submodule')
    await library.remove()
    const opened = await repo.open()
    const before = await guardMark(opened)
    expect(await add(opened, repo.root, 'w')).toMatchObject({ emptySubmodules: [] })
    expect(await readFile(join(repo.root, 'w/vendor/lib/lib.txt'), 'utf8')).toBe('library')
    expect(await guardMark(opened)).toEqual(before)
    await removeWorktree(opened, join(repo.root, 'w'))

    await rm(join(repo.path, '.git/modules'), { recursive: true })
    expect(await add(opened, repo.root, 'w2')).toMatchObject({ emptySubmodules: ['vendor/lib'] })
  })
})

test('a scratch worktree holds exactly the commit and keeps what it ignores', async () => {
  const repo = await repository({ files: { '.gitignore': 'node_modules\n', a: '1', gone: 'x' } })
  const first = await repo.tip()
  await repo.git('rm', '--quiet', 'gone')
  const second = await repo.commit('second', { a: '2' })
  const path = join(repo.root, 'scratch')
  await scratchWorktree(await repo.open(), path, first)
  await mkdir(join(path, 'node_modules'))
  await writeFile(join(path, 'node_modules/warm'), 'yes')
  await writeFile(join(path, 'a'), 'changed by a check')
  await writeFile(join(path, 'stray'), 'left by a check')

  await scratchWorktree(await repo.open(), path, second)
  await checkoutScratch(path, second)
  expect((await readdir(path)).sort()).toEqual(['.git', '.gitignore', 'a', 'node_modules'])
  expect(await readFile(join(path, 'a'), 'utf8')).toBe('2')
  expect(await readFile(join(path, 'node_modules/warm'), 'utf8')).toBe('yes')
})

test('disk use counts what is there, once', async () => {
  const repo = await repository()
  const before = await worktreeBytes(repo.root)
  await repo.write('big', Buffer.alloc(1_000_000, 1))
  const after = await worktreeBytes(repo.root)
  expect(after - before).toBeGreaterThan(990_000)
  expect(after - before).toBeLessThan(1_100_000)
})

test('an address with a password in an error is shown without it', async () => {
  const repo = await repository()
  const fetching = git(repo.path, ['fetch', 'ext::https://me:secret@example.invalid/x'])
  const failure = await fetching.catch(error => error)
  expect(JSON.stringify({ ...failure, message: failure.message })).toContain('example.invalid')
  expect(failure.message + JSON.stringify(failure)).not.toContain('secret')
})
