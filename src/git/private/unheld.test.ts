import { mkdirSync, readdirSync, rmSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { commitLeftovers } from '../leftovers.ts'
import { aRepository, runGit, type TestRepository } from '../testkit.ts'
import { addPlace } from './making.ts'
import { folderOf } from './place.ts'
import { unheld } from './unheld.ts'

/** A place is removed only if the project holds everything in it, or it is named as ignored. */
let repo: TestRepository
let worktree: string
const branch = 'fleet/shell/w/1'
const AS = ['-c', 'user.name=a', '-c', 'user.email=a@b']
const inside = (...args: string[]) => runGit(worktree, [...AS, ...args])
const below = (folder: string, ...args: string[]) => runGit(join(worktree, folder), [...AS, ...args])
const collect = () => commitLeftovers({ worktree, branch, message: 'Leftovers\n' })
const look = () => unheld(worktree, [])
const sessionGit = () => join(folderOf(worktree), 'git')
const kept = async () =>
  (await repo.git('for-each-ref', '--format=%(refname)', 'refs/fleet/sessions')).split('\n').filter(Boolean)

const put = (file: string, content: string) => {
  mkdirSync(join(worktree, file, '..'), { recursive: true })
  writeFileSync(join(worktree, file), content)
}
const commitIn = async (folder: string, file: string) => {
  put(join(folder, file), `${file}\n`)
  await below(folder, 'add', file)
  await below(folder, 'commit', '--quiet', '-m', file)
}

beforeEach(async () => {
  repo = await aRepository({ files: { a: 'one\n', 'k/file': 'one\n', '.gitignore': '.worktrees/\ndeps/\n*.log\n' } })
  worktree = join(repo.root, 'home/worktrees/p/w')
  const given = { base: 'main', session: 's1', allowPush: false, hooks: true }
  await addPlace(await repo.open(), { path: worktree, branch, from: 'main', ...given })
})
afterEach(() => repo.remove())

/** A commit that git refuses, on top of another one. */
async function badCommit(on: string): Promise<string> {
  const [tree, parent] = [await inside('rev-parse', `${on}^{tree}`), await inside('rev-parse', on)]
  const file = join(repo.root, 'bad')
  writeFileSync(file, `tree ${tree}\nparent ${parent}\nauthor a <> 0 +0000\ncommitter bad 0 +0000\n\nx\n`)
  return inside('hash-object', '-t', 'commit', '-w', '--literally', file)
}

test('a place with only held and ignored files can be removed', async () => {
  put('b', 'two\n')
  put('x.log', 'ignored\n')
  await collect()
  expect(await look()).toEqual([])
})

describe('commits that are refused', () => {
  test('keep the place, and the good ones beside them are taken in', async () => {
    put('a', 'stashed\n')
    await inside('stash', '--quiet')
    await inside('checkout', '--quiet', '-b', 'side')
    put('side', 'side\n')
    await inside('add', 'side')
    await inside('commit', '--quiet', '-m', 'side')
    await inside('update-ref', 'refs/heads/bad', await badCommit('side'))
    await inside('checkout', '--quiet', branch)
    put('b', 'two\n')
    const { problem, committed } = await collect()
    expect(committed).toBe(true)
    expect(problem).toMatch(/refuses.*refs\/heads\/bad/)
    expect(await kept()).toEqual(['refs/fleet/sessions/s1/heads/side', 'refs/fleet/sessions/s1/stashes/0'])
    expect(await repo.readOn('refs/fleet/sessions/s1/stashes/0', 'a')).toBe('stashed')
    expect((await look()).join()).toMatch(/refuses.*refs\/heads\/bad/)
  })

  test('keep it also when they were on its own branch, which went on without them', async () => {
    const bad = await badCommit('HEAD')
    await inside('update-ref', 'HEAD', bad)
    put('b', 'two\n')
    expect((await collect()).problem).toContain('refuses')
    expect((await look()).join()).toContain('refuses')
    expect(await inside('log', '-1', '--format=%s', bad)).toBe('x')
  })

  test('keep it also when they were only staged', async () => {
    put('b', 'staged\n')
    await inside('add', 'b')
    put('b', 'two\n')
    const oid = await inside('rev-parse', ':b')
    rmSync(join(sessionGit(), 'objects', oid.slice(0, 2)), { recursive: true })
    expect((await collect()).problem).toContain('staged')
    expect((await look()).join()).toContain('staged')
  })
})

test('commits that came since are held by a ref', async () => {
  await collect()
  put('b', 'later\n')
  await inside('add', 'b')
  await inside('commit', '--quiet', '-m', 'later')
  await look()
  expect(await repo.git('log', '-1', '--format=%s', 'refs/fleet/sessions/s1/live')).toBe('later')
})

test('what only a ref of a remote names is kept, unless a fetch brought it: then the remote has it', async () => {
  const tree = await inside('rev-parse', 'HEAD^{tree}')
  const own = await inside('commit-tree', tree, '-m', 'own')
  await inside('update-ref', 'refs/remotes/origin/own', own)
  await runGit(repo.root, ['clone', '--quiet', repo.path, 'upstream'])
  await runGit(join(repo.root, 'upstream'), [...AS, 'commit', '--quiet', '--allow-empty', '-m', 'theirs'])
  await inside('remote', 'add', 'upstream', join(repo.root, 'upstream'))
  await inside('fetch', '--quiet', 'upstream')
  await collect()
  expect(await kept()).toEqual(['refs/fleet/sessions/s1/remotes/origin/own'])
  expect(await repo.git('log', '-1', '--format=%s', 'refs/fleet/sessions/s1/remotes/origin/own')).toBe('own')
})

describe('files in Git LFS', () => {
  const NAME = 'ab'.repeat(32)
  const plant = (name: string, content = '') => {
    const folder = join(sessionGit(), 'lfs/objects', name.slice(0, 2), name.slice(2, 4))
    mkdirSync(folder, { recursive: true })
    writeFileSync(join(folder, name), content)
    return join(folder, name)
  }
  const pointer = (name: string) => `version https://git-lfs.github.com/spec/v1\noid sha256:${name}\nsize 5\n`

  test('that are too large keep the place, and the others come in', async () => {
    const small = '2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824'
    truncateSync(plant(NAME), 2100 * 1024 * 1024)
    plant(small, 'hello')
    put('f.bin', pointer(NAME))
    await inside('add', '-A')
    await inside('commit', '--quiet', '-m', 'large')
    expect((await collect()).problem).toContain('Git LFS')
    expect((await look()).join()).toContain('Git LFS')
    expect(readdirSync(join(repo.path, '.git/lfs/objects/2c/f2'))).toEqual([small])
  })

  test.each(['staged', 'left'])('that only a pointer which was %s names come in', async how => {
    const small = '2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824'
    plant(small, 'hello')
    put('f.bin', pointer(small))
    if (how === 'staged') {
      await inside('add', 'f.bin')
      rmSync(join(worktree, 'f.bin'))
    }
    put('b', 'two\n')
    expect((await collect()).problem).toBeUndefined()
    expect(readdirSync(join(repo.path, '.git/lfs/objects/2c/f2'))).toEqual([small])
    expect(await look()).toEqual([])
  })
})

describe('repositories that the project does not know', () => {
  const cases: Record<string, [work: () => Promise<unknown>, told: RegExp]> = {
    'one in the place of its own': [
      async () => {
        rmSync(join(worktree, '.git'))
        await inside('init', '--quiet', '-b', 'main')
        await commitIn('.', 'work')
      },
      /replaced-/,
    ],
    'one in a tracked folder': [
      async () => {
        await below('k', 'init', '--quiet')
        await commitIn('k', 'file')
        await below('k', 'checkout', '--quiet', '-b', 'feature')
        await commitIn('k', 'feature')
        await below('k', 'checkout', '--quiet', '-')
      },
      /^k\b/,
    ],
    'one without a HEAD': [
      async () => {
        await inside('init', '--quiet', 'nest')
        await commitIn('nest', 'p')
        rmSync(join(worktree, 'nest/.git/HEAD'))
      },
      /^nest\b/,
    ],
    'a file that is called .git': [async () => put('s/.git', 'work\n'), /^s\/\.git/],
    'a folder that is called .git': [async () => put('t/.git/notes', 'work\n'), /^t\b/],
    'one in an ignored folder': [
      async () => {
        await inside('init', '--quiet', 'deps/own')
        await commitIn('deps/own', 'p')
      },
      /^deps\/own/,
    ],
    'a worktree in an ignored folder': [
      async () => {
        await inside('worktree', 'add', '--quiet', '.worktrees/x', '-b', 'feat')
        put('.worktrees/x/u', 'uncommitted\n')
      },
      /^\.worktrees\/x/,
    ],
  }
  test.each(Object.entries(cases))('%s keeps the place, and it is said', async (_, [work, told]) => {
    await work()
    put('n', 'two\n')
    const { skipped } = await collect()
    expect(skipped.map(({ path, why }) => `${path} ${why}`).join('\n')).toMatch(new RegExp(told, 'm'))
    expect((await look()).join('\n')).toMatch(new RegExp(told, 'm'))
  })

  test('a commit on a detached HEAD of another worktree is taken in, wherever that lies', async () => {
    const elsewhere = join(repo.root, 'elsewhere')
    await inside('worktree', 'add', '--quiet', '--detach', elsewhere)
    await runGit(elsewhere, [...AS, 'commit', '--quiet', '--allow-empty', '-m', 'detached'])
    await collect()
    expect(await kept()).toEqual(['refs/fleet/sessions/s1/worktrees/elsewhere'])
    expect((await look()).join()).toContain('replaced-worktrees')
  })

  test.each(['whole', 'shallow'])('a %s clone that its remote holds is as ignored as its folder', async how => {
    await repo.git('-c', 'protocol.file.allow=always', 'submodule', '--quiet', 'add', repo.path, 'sub')
    await repo.commit('with a submodule')
    await repo.git('tag', 'v1')
    const from = how === 'shallow' ? ['--depth=1', '--branch=v1'] : []
    await inside(
      '-c',
      'protocol.file.allow=always',
      '-c',
      'advice.detachedHead=false',
      'clone',
      '--quiet',
      ...from,
      '--recurse-submodules',
      `file://${repo.path}`,
      'deps/clone',
    )
    await collect()
    expect(await look()).toEqual([])
    await commitIn('deps/clone', 'own')
    expect((await look()).join()).toContain('deps/clone')
  })
})

describe('work in a submodule that its commit does not hold', () => {
  const cases: Record<string, () => Promise<unknown>> = {
    'a tagged branch': async () => {
      await below('sub', 'checkout', '--quiet', '-b', 'fix')
      await commitIn('sub', 'n')
      await below('sub', 'tag', 'v2')
    },
    'a commit that only a tag names': async () => {
      await commitIn('sub', 'n')
      await below('sub', 'tag', 'v2')
    },
    'a commit that only another ref names': async () =>
      below('sub', 'update-ref', 'refs/wip/x', await below('sub', 'commit-tree', '-m', 'wip', 'HEAD^{tree}')),
    'a commit that only the log of HEAD names': () => commitIn('sub', 'n'),
  }
  test.each(Object.entries(cases))('%s keeps the place', async (_, work) => {
    await repo.git('-c', 'protocol.file.allow=always', 'submodule', '--quiet', 'add', repo.path, 'sub')
    await repo.commit('with a submodule')
    worktree = join(repo.root, 'home/worktrees/p/with')
    const given = { base: 'main', session: 's1', allowPush: false, hooks: true }
    await addPlace(await repo.open(), { path: worktree, branch: 'fleet/with', from: 'main', ...given })
    expect(await look()).toEqual([])
    const head = await below('sub', 'rev-parse', 'HEAD')
    await work()
    await below('sub', 'checkout', '--quiet', head)
    expect(await look()).toEqual(['sub'])
  })
})
