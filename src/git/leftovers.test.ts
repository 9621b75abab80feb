import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmod, mkdir, mkdtemp, readFile, rename, rm, symlink, truncate, unlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { changes } from './changes.ts'
import { commitLeftovers } from './leftovers.ts'
import { mergeInto } from './merge-into.ts'
import { addPlace } from './private/making.ts'
import { aRepository, runGit, type TestRepository } from './testkit.ts'
import { addWorktree, checkoutScratch } from './worktrees.ts'

vi.mock('node:timers/promises', { spy: true })

let repo: TestRepository
let worktree: string
const branch = 'fleet/shell/w/1'
const files = { '.gitignore': '*.log\n', a: 'one\n', b: 'one\n', old: 'a text that moves elsewhere\n' }

const GIVEN = { base: 'main', session: 's1', allowPush: false, hooks: true }
type Kind = 'linked' | 'private'
const make = async (kind: Kind, name: string, on: string) => {
  worktree = kind === 'linked' ? join(repo.root, name) : join(repo.root, 'home/worktrees/p', name)
  const wanted = { path: worktree, branch: on, from: 'main' }
  const opened = await repo.open()
  await (kind === 'linked' ? addWorktree(opened, wanted) : addPlace(opened, { ...wanted, ...GIVEN }))
}

beforeEach(async () => {
  repo = await aRepository({ files })
})
afterEach(async () => {
  vi.unstubAllEnvs()
  await repo.remove()
})

const put = (file: string, content: string) => writeFile(join(worktree, file), content)
const collect = (more = {}) => commitLeftovers({ worktree, branch, message: 'Leftovers\n', ...more })
const inside = (...args: string[]) => runGit(worktree, ['-c', 'user.name=agent', '-c', 'user.email=a@b', ...args])
const status = () => inside('status', '--porcelain')

describe.each<Kind>(['linked', 'private'])('%s', kind => {
  beforeEach(() => make(kind, 'w', branch))

  test('a clean worktree costs no commit', async () => {
    expect(await collect()).toEqual({ tip: await repo.tip(), committed: false, skipped: [] })
  })

  test('everything is committed: new, changed, deleted, renamed, executable, linked, staged or not', async () => {
    await put('a', 'two\n')
    await unlink(join(worktree, 'b'))
    await rename(join(worktree, 'old'), join(worktree, 'größer "neu"\n$(x)'))
    await mkdir(join(worktree, 'b'))
    await put('b/inner', 'a file became a folder')
    await put('-rf', 'leading dash')
    await put('run.sh', '#!/bin/sh\n')
    await chmod(join(worktree, 'run.sh'), 0o755)
    await symlink('a', join(worktree, 'link'))
    await put('staged', 'staged')
    await inside('add', 'staged')
    await put('x.log', 'ignored')

    const { tip, committed, skipped } = await collect()
    expect({ committed, skipped }).toEqual({ committed: true, skipped: [] })
    expect(tip).toBe(await repo.tip(branch))
    expect((await repo.filesOn(branch)).sort()).toEqual(
      ['.gitignore', 'a', 'b/inner', 'größer "neu"\n$(x)', '-rf', 'run.sh', 'link', 'staged'].sort(),
    )
    expect(await inside('ls-tree', 'HEAD', 'run.sh')).toContain('100755')
    expect(await status()).toBe('')
    expect(await repo.git('log', '-1', '--format=%an %s', branch)).toBe('A Person Leftovers')
  })

  test('without an identity the commit is by Flotilla, and rejecting hooks do not run', async () => {
    const home = await mkdtemp(join(tmpdir(), 'flotilla-home-'))
    vi.stubEnv('HOME', home)
    vi.stubEnv('XDG_CONFIG_HOME', home)
    await repo.git('config', '--remove-section', 'user')
    await mkdir(join(repo.path, '.git/hooks'), { recursive: true })
    for (const hook of ['pre-commit', 'commit-msg', 'reference-transaction']) {
      await writeFile(join(repo.path, '.git/hooks', hook), '#!/bin/sh\nexit 1\n')
      await chmod(join(repo.path, '.git/hooks', hook), 0o755)
    }
    await put('a', 'two\n')
    expect(await collect()).toMatchObject({ committed: true })
    expect(await repo.git('log', '-1', '--format=%an <%ae>', branch)).toBe('Flotilla <fleet@localhost>')
    await rm(home, { recursive: true })
  })

  test('big files, secrets, nested repositories are left out, named and kept, staged or not', async () => {
    await put('a', 'two\n')
    await put('big', '')
    await truncate(join(worktree, 'big'), 21 * 1024 * 1024)
    await put('.env', 'SECRET=1')
    await inside('add', '.env')
    await mkdir(join(worktree, 'keys'))
    await put('keys/private', 'SECRET=2')
    await runGit(worktree, ['init', '--quiet', '--template=', 'nested'])
    await put('nested/work', 'cloned')

    const { committed, skipped } = await collect({ never: ['.env', 'keys'] })
    expect(committed).toBe(true)
    expect(skipped.map(({ path }) => path).sort()).toEqual(['.env', 'big', 'keys/private', 'nested/'])
    expect(await repo.filesOn(branch)).toEqual(['.gitignore', 'a', 'b', 'old'])
    expect(await readFile(join(worktree, '.env'), 'utf8')).toBe('SECRET=1')
    expect(await collect({ never: ['.env', 'keys'] })).toMatchObject({ committed: false, tip: await repo.tip(branch) })
  })

  test('work on a branch of the agent or a detached HEAD comes home, and the other branch stays', async () => {
    await inside('checkout', '--quiet', '-b', 'feature')
    await put('a', 'two\n')
    await inside('commit', '--quiet', '-am', 'on feature')
    const feature = await inside('rev-parse', 'feature')
    await put('b', 'two\n')
    expect(await collect()).toMatchObject({ committed: true })
    expect(await inside('rev-parse', 'feature')).toBe(feature)
    expect(await repo.readOn(branch, 'a')).toBe('two')
    expect(await repo.readOn(branch, 'b')).toBe('two')
    expect(await inside('symbolic-ref', '--short', 'HEAD')).toBe(branch)

    await inside('checkout', '--quiet', '--detach')
    await put('b', 'three\n')
    expect(await collect()).toMatchObject({ committed: true })
    expect(await repo.readOn(branch, 'b')).toBe('three')
  })

  test('work that left our branch behind is not mixed up with it', async () => {
    await put('a', 'two\n')
    const { tip } = await collect()
    await inside('checkout', '--quiet', '--detach', 'main')
    await put('b', 'elsewhere\n')
    expect(await collect()).toEqual({
      tip,
      committed: false,
      skipped: [],
      unfinished: { doing: 'work on another branch', paths: expect.arrayContaining(['b']) },
    })
    expect(await readFile(join(worktree, 'b'), 'utf8')).toBe('elsewhere\n')
  })

  test('a merge with markers is left alone; once they are gone it is concluded', async () => {
    await put('a', 'ours\n')
    const { tip } = await collect()
    const base = await repo.commit('theirs', { a: 'theirs\n' })
    expect(await mergeInto(worktree, base)).toEqual({ conflicts: ['a'] })
    expect(await mergeInto(worktree, base)).toEqual({ conflicts: ['a'] })
    expect(await collect()).toMatchObject({ tip, committed: false, unfinished: { doing: 'merge', paths: ['a'] } })
    expect(await readFile(join(worktree, 'a'), 'utf8')).toContain('<<<<<<<')

    await inside('add', 'a')
    expect(await collect()).toMatchObject({ tip, committed: false, unfinished: { doing: 'merge', paths: ['a'] } })

    await put('a', 'both\n')
    expect(await collect()).toMatchObject({ committed: true, skipped: [] })
    expect((await repo.git('log', '-1', '--format=%P', branch)).split(' ')).toEqual([tip, base])
    expect(await mergeInto(worktree, base)).toEqual({ tip: await repo.tip(branch) })
  })

  test('an unfinished rebase is left as it is', async () => {
    await put('a', 'ours\n')
    const { tip } = await collect()
    await repo.commit('theirs', { a: 'theirs\n' })
    await expect(inside('rebase', await repo.tip())).rejects.toThrow()
    // In a place, the commit that HEAD points to gets a ref, and `kept` names it.
    const { kept = [], ...left } = await collect()
    expect(left).toEqual({
      tip,
      committed: false,
      skipped: [],
      unfinished: { doing: 'rebase', paths: ['a'] },
    })
    for (const ref of kept) expect(await repo.git('rev-parse', ref)).toBe(await inside('rev-parse', 'HEAD'))
  })

  test('a pipe in place of a file in conflict, or of any other, holds nobody up', async () => {
    await put('a', 'mine\n')
    await inside('commit', '--quiet', '-am', 'mine')
    await repo.commit('theirs', { a: 'theirs\n' })
    await expect(inside('merge', await repo.tip())).rejects.toThrow()
    await unlink(join(worktree, 'a'))
    execFileSync('mkfifo', [join(worktree, 'a')])
    if (kind === 'linked') await expect(collect()).rejects.toThrow('unmerged')
    else expect(await collect()).toMatchObject({ unfinished: { doing: 'merge', paths: ['a'] } })

    await inside('reset', '--quiet', '--hard')
    await unlink(join(worktree, 'b'))
    execFileSync('mkfifo', [join(worktree, 'b')])
    await put('a', 'two\n')
    expect(await collect()).toMatchObject({
      committed: true,
      skipped: [{ path: 'b', why: expect.stringMatching(/pipe/) }],
    })
    expect(await repo.readOn(branch, 'b')).toBe('one')
  })

  test('work inside a submodule is named, since no commit of ours can hold it', async () => {
    const library = await aRepository({ files: { lib: 'library' } })
    await repo.git('-c', 'protocol.file.allow=always', 'submodule', '--quiet', 'add', library.path, 'vendor')
    await repo.commit('with a submodule')
    await make(kind, 'with-submodule', 'fleet/shell/sub/1')
    await put('vendor/lib', 'changed')
    await put('a', 'two\n')
    const collected = await collect({ branch: 'fleet/shell/sub/1' })
    expect(collected).toMatchObject({ committed: true, skipped: [{ path: 'vendor' }] })
    await library.remove()
  })

  test('what changed is told along with the commit exactly as git tells it', async () => {
    const start = await repo.tip()
    const opened = await repo.open()
    await put('a', 'two\n')
    await put('nëw', 'x')
    const one = await collect({ start })
    expect(one.changes).toEqual(await changes(opened, start, one.tip))
    expect((await collect({ start })).changes).toBeUndefined()

    await rename(join(worktree, 'old'), join(worktree, 'renamed'))
    const two = await collect({ start: one.tip })
    expect(two).toMatchObject({ committed: true })
    expect(two.changes).toBeUndefined()
  })

  test('a commit that fails says why and loses nothing', async () => {
    await repo.git('config', 'filter.broken.clean', 'false')
    await repo.git('config', 'filter.broken.required', 'true')
    await put('.gitattributes', '*.bin filter=broken\n')
    await put('x.bin', 'work')
    await expect(collect()).rejects.toThrow("filter 'false' failed")
    expect(await readFile(join(worktree, 'x.bin'), 'utf8')).toBe('work')
    expect(await repo.tip(branch)).toBe(await repo.tip())
  })
})

describe('linked', () => {
  beforeEach(() => make('linked', 'w', branch))

  test('a worktree whose link is gone or forged is not worked in', async () => {
    await put('a', 'two\n')
    await unlink(join(worktree, '.git'))
    await runGit(repo.root, ['init', '--quiet', '--template=', '.'])
    await expect(collect()).rejects.toThrow('no worktree')
    await writeFile(join(worktree, '.git'), `gitdir: ${join(repo.path, '.git')}\n`)
    await expect(collect()).rejects.toThrow('no worktree')
    await addWorktree(await repo.open(), { path: join(repo.root, 'other'), branch: 'other', from: 'main' })
    await writeFile(join(worktree, '.git'), `gitdir: ${join(repo.path, '.git/worktrees/other')}\n`)
    await expect(collect()).rejects.toThrow('no worktree')
    await expect(mergeInto(worktree, 'main')).rejects.toThrow('no worktree')
    await expect(checkoutScratch(worktree, 'main')).rejects.toThrow('no worktree')
    expect(await repo.git('status', '--porcelain', '--branch')).toBe('## main')
  })

  test('a lock of a killed git is removed, one that is held is not', async () => {
    const lock = join(repo.path, '.git/worktrees/w/index.lock')
    await put('a', 'two\n')
    await writeFile(lock, '')
    expect(await collect()).toMatchObject({ committed: true })

    await put('a', 'three\n')
    const holder = spawn('sh', ['-c', 'exec 9>"$1"; echo held; read line; rm "$1"', 'sh', lock])
    await once(holder.stdout, 'data')
    vi.mocked(pause).mockClear()
    const collecting = collect()
    // It pauses only after it found a lock that is held.
    await vi.waitFor(() => expect(pause).toHaveBeenCalled())
    holder.stdin.end('go\n')
    expect(await collecting).toMatchObject({ committed: true })
  })
})
