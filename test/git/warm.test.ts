import { execFileSync } from 'node:child_process'
import {
  chmodSync,
  linkSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  renameSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import {
  cachesOf,
  commitLeftovers,
  emptyTrash,
  keepCaches,
  layAside,
  makeReady,
  moveCachesIn,
  moveIn,
  placeAt,
  readyAt,
} from '../../src/git/index.ts'
import { addPlace } from '../../src/git/private/making.ts'
import { folderOf } from '../../src/git/private/place.ts'
import { aRepository, runGit, type TestRepository } from '../../src/git/testkit.ts'

/**
 * What one session leaves, the next session in the same worktree does not find: it sees exactly its start commit.
 * FLEET_TEST_WARM=200 runs that many rounds, starting at FLEET_TEST_WARM_FROM.
 */
const ROUNDS = Number(process.env.FLEET_TEST_WARM ?? 6)
const FROM = Number(process.env.FLEET_TEST_WARM_FROM ?? 1)
const isRoot = process.getuid?.() === 0

const FILES = {
  '.gitattributes': '*.txt text=auto\n',
  '.gitignore': '*.ignored\n/build/\n',
  'a.txt': 'one\ntwo\n',
  'same-size.txt': 'abcdef\n',
  'src/b.txt': 'b\n',
  'src/deep/er/c.txt': 'c\n',
  'src/deep/er/d.bin': '\u0000\u0001',
  'tool.sh': '#!/bin/sh\n',
  'folder/x': 'x\n',
  'folder/y': 'y\n',
}

let repo: TestRepository
let home: string
const GIVEN = { base: 'main', session: 's1', allowPush: false, hooks: true }

beforeEach(async () => {
  repo = await aRepository({ files: FILES })
  await repo.git('update-index', '--chmod=+x', 'tool.sh')
  symlinkSync('a.txt', join(repo.path, 'link'))
  await repo.commit('with a link and a program')
  home = join(repo.root, 'home')
})
afterEach(() => repo.remove())

/** What an agent, or a process it left, can do to its worktree and its repository. */
interface Scene {
  tree: string
  git: string
  outside: string
}
const LEFTOVERS: Record<string, (scene: Scene) => unknown> = {
  'an untracked file': ({ tree }) => writeFileSync(join(tree, 'untracked'), 'x'),
  'an ignored file': ({ tree }) => writeFileSync(join(tree, 'src/secret.ignored'), 'x'),
  'an ignored folder': ({ tree }) => plant(tree, 'build/out/file', 'x'),
  'an empty folder': ({ tree }) => mkdirSync(join(tree, 'src/empty/below'), { recursive: true }),
  'a file in a known folder': ({ tree }) => writeFileSync(join(tree, 'src/deep/planted'), 'x'),
  'a link out of the worktree': ({ tree, outside }) => symlinkSync(outside, join(tree, 'src/out')),
  'a link that leads nowhere': ({ tree }) => symlinkSync('/nowhere', join(tree, 'nowhere')),
  'a file that became a link': ({ tree, outside }) => {
    rmSync(join(tree, 'a.txt'))
    symlinkSync(join(outside, 'precious'), join(tree, 'a.txt'))
  },
  'a folder that became a link': ({ tree, outside }) => {
    renameSync(join(tree, 'folder'), join(outside, `moved-${Date.now()}-${Math.random()}`))
    symlinkSync(outside, join(tree, 'folder'))
  },
  'a folder that became a file': ({ tree }) => {
    rmSync(join(tree, 'folder'), { recursive: true })
    writeFileSync(join(tree, 'folder'), 'x')
  },
  'a file that became a folder': ({ tree }) => {
    rmSync(join(tree, 'tool.sh'))
    plant(tree, 'tool.sh/inside', 'x')
  },
  'a link that became a file': ({ tree }) => {
    rmSync(join(tree, 'link'))
    writeFileSync(join(tree, 'link'), 'a.txt')
  },
  'a changed file': ({ tree }) => writeFileSync(join(tree, 'a.txt'), 'changed\n'),
  'a change of the same size with the old time': ({ tree }) => {
    const file = join(tree, 'same-size.txt')
    const { atime, mtime } = lstatSync(file)
    writeFileSync(file, 'ABCDEF\n')
    utimesSync(file, atime, mtime)
  },
  'line ends that git does not see': ({ tree }) => writeFileSync(join(tree, 'src/b.txt'), 'b\r\n'),
  'a deleted file': ({ tree }) => rmSync(join(tree, 'folder/x'), { force: true }),
  'a nested repository': ({ tree }) => execFileSync('git', ['init', '--quiet', join(tree, 'nested')]),
  'a repository in a known folder': ({ tree }) => {
    execFileSync('git', ['init', '--quiet', join(tree, 'src')])
    writeFileSync(join(tree, 'src/.git/config'), '[core]\n\tfsmonitor = touch /tmp/never\n')
  },
  'a link to a repository in a known folder': ({ tree, outside }) =>
    writeFileSync(join(tree, 'src/deep/.git'), `gitdir: ${outside}\n`),
  'a repository of its own instead of ours': ({ tree }) => {
    rmSync(join(tree, '.git'), { recursive: true })
    execFileSync('git', ['init', '--quiet', tree])
  },
  hooks: ({ git }) => plant(git, 'hooks/post-checkout', '#!/bin/sh\ntouch ran\n', 0o755),
  configuration: ({ git }) => writeFileSync(join(git, 'config'), '[core]\n\tpager = touch ran\n', { flag: 'a' }),
  attributes: ({ tree, git }) => {
    plant(git, 'info/attributes', '* text eol=crlf\n')
    writeFileSync(join(tree, 'src/.gitattributes'), '* eol=crlf\n')
  },
  'patterns to ignore': ({ tree, git }) => {
    plant(git, 'info/exclude', '*\n')
    writeFileSync(join(tree, 'src/.gitignore'), '*\n')
    writeFileSync(join(tree, 'src/hidden'), 'x')
  },
  'sparse patterns': ({ tree, git }) => {
    plant(git, 'info/sparse-checkout', '/src/\n')
    execFileSync('git', ['config', 'core.sparseCheckout', 'true'], { cwd: tree })
    execFileSync('git', ['read-tree', '-mu', 'HEAD'], { cwd: tree })
  },
  'a file marked as absent': ({ tree }) => {
    execFileSync('git', ['update-index', '--skip-worktree', 'a.txt'], { cwd: tree })
    writeFileSync(join(tree, 'a.txt'), 'behind a mark\n')
  },
  'a file marked as unchanged': ({ tree }) => {
    execFileSync('git', ['update-index', '--assume-unchanged', 'folder/y'], { cwd: tree })
    writeFileSync(join(tree, 'folder/y'), 'behind a mark\n')
  },
  'an index that lies': ({ tree }) => {
    writeFileSync(join(tree, 'same-size.txt'), 'LIES!!\n')
    execFileSync('git', ['add', '-A'], { cwd: tree })
    execFileSync('git', ['update-index', '--refresh', '-q'], { cwd: tree })
  },
  locks: ({ git }) => {
    for (const name of ['index.lock', 'HEAD.lock', 'config.lock', 'packed-refs.lock'])
      writeFileSync(join(git, name), '')
  },
  'refs, a stash and logs': ({ tree }) => {
    writeFileSync(join(tree, 'a.txt'), 'stashed\n')
    const as = ['-c', 'user.name=a', '-c', 'user.email=a@b']
    execFileSync('git', [...as, 'stash', '--quiet'], { cwd: tree })
    execFileSync('git', ['branch', '--force', 'planted'], { cwd: tree })
    execFileSync('git', ['update-ref', 'refs/replace/1111111111111111111111111111111111111111', 'HEAD'], { cwd: tree })
  },
  'an unfinished merge': ({ git }) => writeFileSync(join(git, 'MERGE_MSG'), 'x'),
  'a file that anyone may write': ({ tree }) => chmodSync(join(tree, 'a.txt'), 0o666),
  'a file that may be run': ({ tree }) => chmodSync(join(tree, 'src/b.txt'), 0o755),
  'a file that nobody may read': ({ tree }) => chmodSync(join(tree, 'folder/y'), 0),
  'a folder that anyone may write': ({ tree }) => chmodSync(join(tree, 'src'), 0o1777),
  'a folder that hands on its group': ({ tree }) => chmodSync(join(tree, 'src/deep'), 0o2755),
  'a folder that nobody may enter': ({ tree }) => {
    plant(tree, 'src/deep/er/closed', 'x')
    chmodSync(join(tree, 'src/deep/er'), 0)
    chmodSync(join(tree, 'src/deep'), 0)
  },
  'a second name of a file': ({ tree, outside }) =>
    linkSync(join(tree, 'a.txt'), join(outside, `name-${Math.random()}`)),
  'a file replaced by its own copy': ({ tree }) => {
    const content = readFileSync(join(tree, 'tool.sh'))
    rmSync(join(tree, 'tool.sh'))
    writeFileSync(join(tree, 'tool.sh'), content, { mode: 0o755 })
  },
  'a pipe': ({ tree }) => execFileSync('mkfifo', [join(tree, 'src/pipe')]),
  'a socket': ({ tree }) =>
    new Promise<void>(done => {
      const server = createServer().listen(join(tree, 's'), () => server.close(() => done()))
      server.on('error', () => done())
    }),
  ...(isRoot
    ? { 'a device': ({ tree }: Scene) => execFileSync('mknod', [join(tree, 'src/null'), 'c', '1', '3']) }
    : {}),
  'names that differ in case only': ({ tree }) => {
    writeFileSync(join(tree, 'A.TXT'), 'x')
    mkdirSync(join(tree, 'SRC'))
    plant(tree, 'SRC/b.txt', 'x')
  },
  'a name in other bytes': ({ tree }) => writeFileSync(Buffer.from(`${join(tree, 'src')}/gr\xf6\xdfe`, 'latin1'), 'x'),
  'a name with a line break': ({ tree }) => writeFileSync(join(tree, 'new\nline'), 'x'),
  'a name like an option': ({ tree }) => writeFileSync(join(tree, '--force'), 'x'),
  'a very long path': ({ tree }) =>
    execFileSync(
      '/bin/sh',
      ['-c', `n=${'n'.repeat(200)}; for i in $(seq 25); do mkdir "$n" && cd "$n"; done; echo x >x`],
      {
        cwd: join(tree, 'src'),
      },
    ),
}

function plant(folder: string, path: string, content: string, mode = 0o644): void {
  mkdirSync(join(folder, path, '..'), { recursive: true })
  writeFileSync(join(folder, path), content, { mode })
}

/** Everything about a folder that another program could see, apart from times and numbers of files. */
function seen(folder: string, skip: (path: string) => boolean = () => false, below = ''): string[] {
  return readdirSync(join(folder, below), { encoding: 'latin1' as 'utf8' })
    .sort()
    .flatMap(name => {
      const path = below ? `${below}/${name}` : name
      if (skip(path)) return []
      const bytes = Buffer.from(`${folder}/${path}`, 'latin1')
      const found = lstatSync(bytes)
      const about = `${path} ${found.mode.toString(8)}`
      if (found.isSymbolicLink()) return [`${about} -> ${readlinkSync(bytes)}`]
      if (found.isDirectory()) return [about, ...seen(folder, skip, path)]
      return [`${about} ${found.nlink} ${found.isFile() ? readFileSync(bytes).toString('latin1') : 'odd'}`]
    })
}

const worktreeOf = (name: string): string => join(home, 'worktrees/p', name)
const warmOf = (name: string) => ({ folder: join(home, 'warm/p', name), trash: join(home, 'trash') })

/** A mission's place, in a warm worktree or a new one. */
async function placed(name: string, from: string, warm?: string, mayBeNew = false) {
  const path = worktreeOf(name)
  const entry = warm ? warmOf(warm) : undefined
  let used = false
  await addPlace(await repo.open(), {
    ...{ path, branch: `fleet/shell/${name}`, from, ...GIVEN },
    warm: async place => {
      if (!entry) return false
      used = await moveIn(entry, place)
      return used
    },
  })
  const place = placeAt(path)!
  if (entry) await moveCachesIn(entry, place, [])
  if (!mayBeNew) expect(used).toBe(entry !== undefined)
  return place
}

async function returned(name: string, as: string, commit: string): Promise<void> {
  const place = placeAt(worktreeOf(name))!
  await layAside(place, warmOf(as))
  const repository = await repo.open()
  await makeReady(repository, warmOf(as), { commit, sparse: [], now: new Date().toISOString() })
}

/** The link and the paths in files of git name the place; nothing else may differ between two places. */
const neutral = (lines: string[], name: string): string[] => lines.map(line => line.replaceAll(name, 'NAME'))
const ofNoIndex = (path: string): boolean => path === 'index'

/** Compared with a place that was made for nothing else, and with a clone by another git. */
async function requireExact(name: string, commit: string): Promise<void> {
  const fresh = `fresh-${name}`
  await placed(fresh, commit)
  const clone = join(repo.root, `clone-${name}`)
  await runGit(repo.root, ['clone', '--quiet', '--no-checkout', repo.path, clone])
  await runGit(clone, ['checkout', '--quiet', '--detach', commit])
  const isGit = (path: string): boolean => path === '.git'
  expect(seen(worktreeOf(name), isGit)).toEqual(seen(clone, isGit))
  expect(neutral(seen(worktreeOf(name)), name)).toEqual(neutral(seen(worktreeOf(fresh)), fresh))
  const gits = [name, fresh].map(each => neutral(seen(join(folderOf(worktreeOf(each)), 'git'), ofNoIndex), each))
  expect(gits[0]).toEqual(gits[1])
  expect(await runGit(worktreeOf(name), ['status', '--porcelain', '--ignored'])).toBe('')
  expect(await runGit(worktreeOf(name), ['ls-files', '-v'])).not.toMatch(/^[^H]/m)
  expect(await runGit(worktreeOf(name), ['rev-parse', 'HEAD'])).toBe(commit)
}

function scene(name: string): Scene {
  const outside = join(repo.root, 'outside')
  mkdirSync(outside, { recursive: true })
  writeFileSync(join(outside, 'precious'), 'mine\n')
  return { tree: worktreeOf(name), git: join(folderOf(worktreeOf(name)), 'git'), outside }
}

describe('each kind of leftover', () => {
  test.each(Object.keys(LEFTOVERS))('%s', async kind => {
    const first = await repo.tip()
    await placed('mission-1', first)
    const there = scene('mission-1')
    await LEFTOVERS[kind]!(there)
    await returned('mission-1', 'w', first)
    await placed('mission-2', first, 'w')
    await requireExact('mission-2', first)
    expect(await emptyTrash(join(home, 'trash'))).toEqual([])
    expect(readFileSync(join(there.outside, 'precious'), 'utf8')).toBe('mine\n')
  })
})

/** The same numbers for the same seed. */
function random(seed: number) {
  let state = seed >>> 0
  return (most: number): number => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0
    return Math.floor((state / 2 ** 32) * most)
  }
}

test('any leftovers together, session after session in one worktree, at any commit', async () => {
  const commits = [await repo.tip()]
  commits.push(await repo.commit('more', { 'a.txt': 'three\n', 'src/new/e.txt': 'e\n', 'folder/z': 'z\n' }))
  await repo.git('rm', '--quiet', '-r', 'folder')
  commits.push(await repo.commit('less', { 'src/b.txt': 'b\r\n', folder: 'a file now\n' }))
  const kinds = Object.keys(LEFTOVERS)
  for (let seed = FROM; seed < FROM + ROUNDS; seed++) {
    const below = random(seed)
    await placed(`s${seed}-0`, commits[0]!)
    for (let step = 1; step <= 3; step++) {
      const before = `s${seed}-${step - 1}`
      const chosen = Array.from({ length: 1 + below(6) }, () => kinds[below(kinds.length)]!)
      for (const kind of chosen) {
        // One leftover may have taken away what the next one needs.
        await Promise.resolve(scene(before))
          .then(LEFTOVERS[kind]!)
          .catch(() => {})
      }
      if (below(2))
        await commitLeftovers({ worktree: worktreeOf(before), branch: `fleet/shell/${before}`, message: 'x' }).catch(
          () => {},
        )
      await returned(before, `${seed}-${step}`, commits[below(3)]!)
      const start = commits[below(3)]!
      await placed(`s${seed}-${step}`, start, `${seed}-${step}`)
      try {
        await requireExact(`s${seed}-${step}`, start)
      } catch (error) {
        throw new Error(`seed ${seed}, step ${step}: ${chosen.join(', ')}`, { cause: error })
      }
    }
  }
}, 600_000)

test('what landed as the agent wrote it is written again as git would', async () => {
  const first = await repo.tip()
  await placed('mission-1', first)
  writeFileSync(join(worktreeOf('mission-1'), 'a.txt'), 'landed\r\n')
  const { tip } = await commitLeftovers({
    worktree: worktreeOf('mission-1'),
    branch: 'fleet/shell/mission-1',
    message: 'landed',
  })
  await repo.git('merge', '--quiet', '--ff-only', tip)
  await returned('mission-1', 'w', tip)
  await placed('mission-2', tip, 'w')
  await requireExact('mission-2', tip)
  expect(readFileSync(join(worktreeOf('mission-2'), 'a.txt'), 'utf8')).toBe('landed\n')
})

test('a warm worktree that somebody touches while it waits is made exact, or made anew', async () => {
  const first = await repo.tip()
  await placed('mission-1', first)
  await returned('mission-1', 'w', first)
  writeFileSync(join(warmOf('w').folder, 'tree/a.txt'), 'meanwhile\n')
  writeFileSync(join(warmOf('w').folder, 'tree/planted'), 'meanwhile\n')
  await placed('mission-2', first, 'w')
  await requireExact('mission-2', first)
})

test('one that was not made ready is not known as ready', async () => {
  const first = await repo.tip()
  const place = await placed('mission-1', first)
  await layAside(place, warmOf('w'))
  expect(readyAt(warmOf('w').folder)).toBeUndefined()
  await placed('mission-2', first, 'w', true)
  await requireExact('mission-2', first)
})

describe('files that were written under other rules are written again', () => {
  test('attributes of another commit', async () => {
    const first = await repo.tip()
    const crlf = await repo.commit('line ends', { '.gitattributes': '*.txt text eol=crlf\n' })
    for (const [made, cleaned, start] of [
      [first, first, crlf],
      [first, crlf, crlf],
      [crlf, crlf, first],
    ] as const) {
      const id = `${made}${cleaned}${start}`.slice(0, 8) + Math.random()
      await placed(`a-${id}`, made)
      await returned(`a-${id}`, id, cleaned)
      await placed(`b-${id}`, start, id, true)
      await requireExact(`b-${id}`, start)
    }
  })

  test.each<[string, string[][], string[][]]>([
    ['line ends of the person', [['config', 'core.autocrlf', 'true']], [['config', 'core.autocrlf', 'false']]],
    ['a sparse checkout of the person', [['sparse-checkout', 'set', 'src']], [['sparse-checkout', 'disable']]],
  ])('%s', async (_, before, after) => {
    const first = await repo.tip()
    for (const args of before) await repo.git(...args)
    await placed('mission-1', first)
    await returned('mission-1', 'w', first)
    for (const args of after) await repo.git(...args)
    await placed('mission-2', first, 'w', true)
    await requireExact('mission-2', first)
    await placed('mission-3', first)
    for (const args of before) await repo.git(...args)
    for (const args of after) await repo.git(...args)
    await returned('mission-3', 'v', first)
    await placed('mission-4', first, 'v')
    await requireExact('mission-4', first)
  })
})

describe('caches', () => {
  const made = { key: 'k', besides: [], changedMore: false }
  const withCache = async (path: string, fill: (folder: string) => void) => {
    const place = await placed('mission-1', await repo.tip())
    mkdirSync(join(place.worktree, path), { recursive: true })
    fill(join(place.worktree, path))
    await keepCaches(place, { ...made, paths: [path] })
    return place
  }
  const again = async (wanted: string[]) => {
    const first = await repo.tip()
    await returned('mission-1', 'w', first)
    await addPlace(await repo.open(), {
      ...{ path: worktreeOf('mission-2'), branch: 'fleet/shell/mission-2', from: first, ...GIVEN },
      warm: place => moveIn(warmOf('w'), place),
    })
    const place = placeAt(worktreeOf('mission-2'))!
    await moveCachesIn(warmOf('w'), place, wanted)
    return place
  }

  test('a folder above that became a link: nothing behind it is touched', async () => {
    const { outside } = scene('mission-1')
    plant(outside, 'cache/of-the-person', 'mine')
    const place = await withCache('build/cache', folder => writeFileSync(join(folder, 'a'), 'a'))
    rmSync(join(place.worktree, 'build'), { recursive: true })
    symlinkSync(outside, join(place.worktree, 'build'))
    const next = await again(['build/cache'])
    expect(readFileSync(join(outside, 'cache/of-the-person'), 'utf8')).toBe('mine')
    expect(cachesOf(next)).toBeUndefined()
    await requireExact('mission-2', await repo.tip())
  })

  test('a commit with a link above, or something else at the path, gets none', async () => {
    const { outside } = scene('mission-1')
    await withCache('deps/cache', folder => writeFileSync(join(folder, 'a'), 'a'))
    symlinkSync(outside, join(repo.path, 'deps'))
    await repo.commit('a link in the way')
    expect(cachesOf(await again(['deps/cache']))).toBeUndefined()
    expect(readdirSync(outside)).toEqual(['precious'])
  })

  test.each<[string, (folder: string) => void]>([
    ['no files', () => {}],
    ['an environment of Python below it', folder => plant(folder, 'py311/pyvenv.cfg', 'home = /usr/bin')],
    ['a link to the worktree by its path', folder => symlinkSync(worktreeOf('mission-1'), join(folder, 'self'))],
  ])('a folder with %s is not kept', async (_, fill) => {
    const place = await withCache('deps', folder => {
      fill(folder)
    })
    expect(cachesOf(place)).toMatchObject({ complete: false, paths: [] })
  })

  test('untouched files come back, also from folders in each other; a record that was cut short is none', async () => {
    const place = await withCache('deps', folder => plant(folder, 'in/a', 'a'))
    await keepCaches(place, { ...made, paths: ['deps', 'deps/in'] })
    writeFileSync(join(place.worktree, 'deps/planted'), 'x')
    const next = await again(['deps'])
    expect(cachesOf(next)).toMatchObject({ key: 'k', complete: true, paths: ['deps'] })
    expect(seen(join(next.worktree, 'deps')).map(line => line.split(' ')[0])).toEqual(['in', 'in/a'])
    writeFileSync(join(next.folder, 'caches.json'), '')
    expect(cachesOf(next)).toBeUndefined()
  })
})
