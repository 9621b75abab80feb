import { mkdir, rename, rm, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { changedFiles, changes } from './changes.ts'
import { commitTree, mergeTrees, treeOf } from './commits.ts'
import type { Repository } from './layout.ts'
import { filesApart, mergeApart } from './plain-merge.ts'
import { aRepository, type TestRepository } from './testkit.ts'

let at: TestRepository
let repo: Repository

beforeEach(async () => {
  const files = ['a', 'src/b', 'src/c', 'src/deep/d', 'src/deep/e', 'docs/f', 'docs/g']
  at = await aRepository({ files: Object.fromEntries(files.map(name => [name, `${name}\n`.repeat(20)])) })
  repo = await at.open()
})
afterEach(async () => {
  vi.unstubAllEnvs()
  await at.remove()
})

type Act = (path: string) => Promise<void>
const put =
  (file: string, content = file): Act =>
  async path => {
    await mkdir(dirname(join(path, file)), { recursive: true })
    await writeFile(join(path, file), `${content}\n`)
  }
const drop =
  (file: string): Act =>
  path =>
    rm(join(path, file), { recursive: true, force: true })
const move =
  (from: string, to: string): Act =>
  async path => {
    await mkdir(dirname(join(path, to)), { recursive: true })
    await rename(join(path, from), join(path, to)).catch(() => {})
  }

/** A commit on top of another, made of these acts. */
async function commit(on: string, acts: Act[]): Promise<string> {
  await at.git('checkout', '--quiet', '--detach', on)
  for (const act of acts) await act(at.path)
  return at.commit('work')
}

const git = (base: string, tip: string) =>
  at.git('merge-tree', '--write-tree', base, tip).then(
    tree => tree,
    () => 'conflict',
  )

describe('a merge without git', () => {
  test.each<[string, Act[], Act[], boolean]>([
    ['other files', [put('new-1')], [put('new-2')], true],
    ['other files of one folder', [put('src/b', 'x')], [put('src/deep/d', 'y'), put('src/new')], true],
    ['a deletion and an addition', [drop('docs')], [put('src/deep/new')], true],
    ['a rename and a change elsewhere', [move('src/deep', 'lib')], [put('docs/f', 'x')], true],
    ['one file changed by both', [put('a', 'x')], [put('a', 'y')], false],
    ['the same change by both', [put('a', 'x')], [put('a', 'x'), put('b')], false],
    ['a file deleted by one and renamed by the other', [drop('a')], [move('a', 'z')], false],
    ['a file changed by one and renamed by the other', [put('a', 'x')], [move('a', 'z')], false],
    ['a file added to a folder that the other renamed', [move('src/deep', 'lib')], [put('src/deep/new')], false],
    ['a file and a folder of one name', [put('new')], [put('new/file')], false],
    ['a folder that each emptied by half', [drop('docs/f')], [drop('docs/g')], false],
  ])('of %s', async (_, ours, theirs, isApart) => {
    const start = await at.tip()
    const [base, tip] = [await commit(start, ours), await commit(start, theirs)]
    const merged = await mergeApart(repo, base, tip)
    expect(merged !== undefined).toBe(isApart)
    if (merged) expect(merged).toBe(await git(base, tip))
  })

  test('gives what git gives, whatever two sides did', async () => {
    const names = ['a', 'src/b', 'src/c', 'src/deep/d', 'src/deep/e', 'docs/f', 'docs/g', 'new/h', 'src']
    let seed = 7
    const any = <T>(some: readonly T[]): T => {
      seed = (seed * 1103515245 + 12345) % 2147483648
      return some[Math.floor((seed / 2147483648) * some.length)]!
    }
    const acts = (): Act[] =>
      Array.from({ length: any([1, 1, 2, 3]) }, () =>
        any([
          () => put(`${any(names)}-${any([1, 2, 3])}`),
          () => put(any(names), any(['x', 'y'])),
          () => drop(any(names)),
          () => move(any(names), any(['z', 'lib', 'src/k', 'docs/deep/m'])),
        ])(),
      )
    const careful = (some: Act[]): Act[] => some.map(act => path => act(path).catch(() => {}))
    const start = await at.tip()
    let apart = 0
    for (let round = 0; round < 40; round++) {
      const [base, tip] = [await commit(start, careful(acts())), await commit(start, careful(acts()))]
      const merged = await mergeApart(repo, base, tip)
      if (merged === undefined) continue
      apart++
      expect(merged, `round ${round}`).toBe(await git(base, tip))
    }
    expect(apart).toBeGreaterThan(5)
  })

  test('reads what is packed, and follows the branch back to where the work began', async () => {
    const start = await at.tip()
    const tip = await commit(start, [put('src/new')])
    let base = start
    for (let i = 0; i < 5; i++) base = await commit(base, [put(`docs/other-${i}`)])
    await at.git('branch', 'keep', tip)
    await at.git('branch', 'keep-2', base)
    await at.git('gc', '--quiet', '--prune=now')
    expect(await mergeApart(repo, base, tip)).toBe(await git(base, tip))
  })

  test('does not touch work that began elsewhere, has two parents or is not there', async () => {
    const start = await at.tip()
    const side = await commit(start, [put('side')])
    const tip = await commit(side, [put('more')])
    const base = await commit(start, [put('base')])
    expect(await mergeApart(repo, base, tip)).toBeUndefined()
    await at.git('checkout', '--quiet', '--detach', side)
    await at.git('-c', 'user.name=a', '-c', 'user.email=a@b', 'merge', '--quiet', '--no-ff', '-m', 'm', base)
    expect(await mergeApart(repo, base, await at.git('rev-parse', 'HEAD'))).toBeUndefined()
    expect(await mergeApart(repo, base, 'f'.repeat(40))).toBeUndefined()
  })

  test('believes no object that is not what its name says', async () => {
    const start = await at.tip()
    const [base, tip] = [await commit(start, [put('one')]), await commit(start, [put('two')])]
    const other = await commit(start, [put('evil')])
    const fileOf = (oid: string) => join(at.path, '.git/objects', oid.slice(0, 2), oid.slice(2))
    const tree = await at.git('rev-parse', `${tip}^{tree}`)
    await rm(fileOf(tree))
    await rename(fileOf(await at.git('rev-parse', `${other}^{tree}`)), fileOf(tree))
    expect(await mergeApart(repo, base, tip)).toBeUndefined()
  })
})

test.each<[string, Act[], number, boolean]>([
  ['added and changed', [put('a', 'x'), put('src/new/one'), put('src/new/two')], 3, true],
  ['deleted', [drop('src')], 4, true],
  ['renamed', [move('a', 'z')], 1, false],
])('files that were %s are counted as git counts them', async (_, acts, files, isCounted) => {
  const start = await at.tip()
  const tip = await commit(start, acts)
  expect((await changes(repo, start, tip)).files.length).toBe(files)
  expect(await changedFiles(repo, start, tip)).toBe(files)
  expect(await filesApart(repo, start, tip)).toBe(isCounted ? files : undefined)
})

describe('a commit without git', () => {
  const AT = '2026-03-04T05:06:07.890Z'
  const make = async () => {
    const start = await at.tip()
    const wanted = { tree: `${start}^{tree}`, parents: [start], message: 'Words\n\nTrailer: ü\n', at: AT }
    const plain = await commitTree(repo, wanted)
    vi.stubEnv('FLEET_GIT_WRITES', 'git')
    const byGit = await commitTree(repo, wanted)
    vi.unstubAllEnvs()
    return { plain, byGit }
  }

  test('is the one that git makes', async () => {
    const { plain, byGit } = await make()
    expect(plain).toBe(byGit)
    expect(await treeOf(repo, plain)).toBe(await at.git('rev-parse', `${plain}^{tree}`))
    await at.git('fsck', '--strict')
  })

  test.each([
    ['of nobody', {}],
    ['of an odd name', { 'user.name': ' .Zoë <x> "O\'Neil"; ', 'user.email': '<z@example.com>' }],
    [
      'of an author and a committer',
      { 'user.name': 'U', 'author.name': 'A', 'committer.email': 'c@d', 'user.email': 'u@v' },
    ],
    ['of a name without an address', { 'user.name': 'Only' }],
    ['of a name that git refuses', { 'user.name': '"."', 'user.email': 'u@v' }],
  ])('%s too', async (_, config) => {
    vi.stubEnv('HOME', at.root)
    await at.git('config', '--remove-section', 'user')
    for (const [key, value] of Object.entries(config)) await at.git('config', key, value)
    const result = await make().catch((failure: Error) => failure.message)
    if (typeof result === 'string') expect(result).toMatch(/disallowed characters/)
    else expect(result.plain).toBe(result.byGit)
  })

  test('is in the time zone of the machine', async () => {
    vi.stubEnv('TZ', 'America/St_Johns')
    const { plain, byGit } = await make()
    expect(plain).toBe(byGit)
    expect(await at.git('log', '-1', '--format=%ci', plain)).toMatch(/-0330$/)
  })
})

test('a merge of two sides that differ takes no process, one with conflicts still names them', async () => {
  const start = await at.tip()
  const [base, tip] = [await commit(start, [put('a', 'x')]), await commit(start, [put('new')])]
  expect(await mergeTrees(repo, base, tip)).toEqual({ tree: await git(base, tip) })
  const other = await commit(start, [put('a', 'y')])
  expect(await mergeTrees(repo, base, other)).toMatchObject({ conflicts: [{ path: 'a', kind: 'contents' }] })
})
