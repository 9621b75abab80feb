import { execFileSync } from 'node:child_process'
import { access, chmod, mkdir, readdir, symlink, truncate, unlink, utimes, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { advance } from './advance.ts'
import { changes } from './changes.ts'
import { commitTree, mergeTrees } from './commits.ts'
import { differenceOf, liveDifferenceOf } from './differences.ts'
import { explainsTip, guardDifference, guardMark, pushGuardEnvironment } from './guard.ts'
import { gitDirOf, type Repository, readRef } from './layout.ts'
import { commitLeftovers } from './leftovers.ts'
import { git } from './run.ts'
import { aRepository, runGit, type TestRepository } from './testkit.ts'
import { addWorktree } from './worktrees.ts'

let at: TestRepository
let repo: Repository
let worktree: string
beforeEach(async () => {
  at = await aRepository()
  repo = await at.open()
  worktree = join(at.root, 'worktrees/w')
  await addWorktree(repo, { path: worktree, branch: 'fleet/shell/w/1', from: 'main' })
})
afterEach(async () => {
  vi.unstubAllEnvs()
  await at.remove()
})

test('what an agent plants for the person is noticed and named', async () => {
  const before = await guardMark(repo)
  expect(guardDifference(before, await guardMark(repo))).toEqual([])
  await runGit(worktree, ['config', 'core.pager', 'evil'])
  await mkdir(join(at.path, '.git/hooks'), { recursive: true })
  await writeFile(join(at.path, '.git/hooks/pre-commit'), 'evil')
  const after = await guardMark(repo)
  expect(guardDifference(before, after)).toEqual(['config', 'hooks'])
  await chmod(join(at.path, '.git/hooks/pre-commit'), 0o755)
  await mkdir(join(at.path, '.git/info'), { recursive: true })
  await writeFile(join(at.path, '.git/info/attributes'), '* filter=evil')
  expect(guardDifference(after, await guardMark(repo))).toEqual(['info/attributes', 'hooks'])
})

test('a pipe, a device or a file without end in the shared folder is noticed and holds nobody up', async () => {
  const hooks = join(at.path, '.git/hooks')
  await mkdir(hooks, { recursive: true })
  const mark = { now: await guardMark(repo) }
  const noticed = async () => {
    const before = mark.now
    mark.now = await guardMark(repo)
    return guardDifference(before, mark.now)
  }
  execFileSync('mkfifo', [join(hooks, 'pre-commit')])
  expect(await noticed()).toEqual(['hooks'])
  expect(await noticed()).toEqual([])
  await symlink('/dev/zero', join(hooks, 'post-merge'))
  expect(await noticed()).toEqual(['hooks'])
  await writeFile(join(hooks, 'huge'), '')
  await noticed()
  await truncate(join(hooks, 'huge'), 2 ** 40)
  expect(await noticed()).toEqual(['hooks'])
  await mkdir(join(at.path, '.git/info'), { recursive: true })
  execFileSync('mkfifo', [join(at.path, '.git/info/exclude')])
  expect(await noticed()).toEqual(['info/exclude'])
})

test('a pipe in place of a link or a ref is no link and no ref', async () => {
  await unlink(join(worktree, '.git'))
  execFileSync('mkfifo', [join(worktree, '.git'), join(at.path, '.git/refs/heads/piped')])
  expect(await gitDirOf(worktree)).toBeUndefined()
  expect(await readRef(repo, 'refs/heads/piped')).toBeUndefined()
})

test('a live diff runs nothing that the configuration of a nested repository names', async () => {
  const nested = join(worktree, 'nested')
  const inside = (...args: string[]) => runGit(nested, ['-c', 'user.name=agent', '-c', 'user.email=a@b', ...args])
  await runGit(worktree, ['init', '--quiet', 'nested'])
  await writeFile(join(nested, 'file'), 'one')
  await inside('add', 'file')
  await inside('commit', '--quiet', '-m', 'one')
  await runGit(worktree, ['-c', 'advice.addEmbeddedRepo=false', 'add', 'nested'])
  await inside('config', 'filter.x.clean', `sh -c 'touch ${join(at.root, 'ran')}; cat'`)
  await writeFile(join(nested, '.git/info/attributes'), '* filter=x\n')
  await writeFile(join(nested, 'file'), 'two')
  await utimes(join(nested, 'file'), 1e9, 1e9)
  await writeFile(join(worktree, 'fresh'), 'fresh\n')
  expect((await liveDifferenceOf(worktree, 'main', { maxBytes: 10_000 }))?.text).toContain('+fresh')
  await expect(access(join(at.root, 'ran'))).rejects.toThrow()
})

test('a pipe in place of the index of a worktree holds no live diff up', async () => {
  const index = join(at.path, '.git/worktrees/w/index')
  await unlink(index)
  execFileSync('mkfifo', [index])
  await writeFile(join(worktree, 'new'), 'fresh\n')
  expect((await liveDifferenceOf(worktree, 'main', { maxBytes: 10_000 }))?.text).toContain('+fresh')
})

test('a commit of the person explains the tip, a move from a worktree of ours does not', async () => {
  const ours = join(at.root, 'worktrees')
  expect(await explainsTip(repo, 'main', await at.commit('mine', { mine: '1' }), ours)).toBe(true)
  const moved = await runGit(worktree, ['commit-tree', 'main^{tree}', '-p', 'main', '-m', 'moved'])
  await runGit(worktree, ['update-ref', 'refs/heads/main', moved])
  expect(await explainsTip(repo, 'main', moved, ours)).toBe(false)
})

test('a base that an agent checked out in its own worktree is not explained by it', async () => {
  await at.git('checkout', '--quiet', '--detach')
  await runGit(worktree, ['checkout', '--quiet', 'main'])
  await runGit(worktree, ['-c', 'user.name=a', '-c', 'user.email=a@b', 'commit', '--quiet', '--allow-empty', '-m', 'x'])
  expect(await explainsTip(repo, 'main', await at.tip(), join(at.root, 'worktrees'))).toBe(false)
})

test('a push from a session fails wherever it goes, and a fetch still works', async () => {
  await runGit(at.root, ['clone', '--quiet', '--bare', 'repo', 'upstream'])
  const upstream = join(at.root, 'upstream')
  await at.git('remote', 'add', 'origin', upstream)
  await at.git('remote', 'add', 'split', upstream)
  await at.git('remote', 'set-url', '--push', 'split', `file://${upstream}`)
  // The person's rule has a longer prefix than ours, so it would win if we did not name the whole address.
  await at.git('config', `url.${at.root}/up.pushInsteadOf`, `${at.root}/up`)
  const env = await pushGuardEnvironment(repo)
  const push = (to: string) =>
    runGit(worktree, ['push', to, 'HEAD:refs/heads/pushed'], { ...env, GIT_TERMINAL_PROMPT: '0' })
  const before = await runGit(upstream, ['for-each-ref'])
  const addresses = [
    'https://127.0.0.1:1/x',
    'ssh://127.0.0.1:1/x',
    'git@127.0.0.1:x/y.git',
    '../../upstream',
    'git://127.0.0.1/x',
  ]
  for (const to of ['origin', 'split', ...addresses]) await expect(push(to)).rejects.toThrow(/flotilla-does-not-push/)
  expect(await runGit(upstream, ['for-each-ref'])).toBe(before)
  await runGit(worktree, ['fetch', '--quiet', 'origin'], env)
})

test('a repository without remotes is guarded too', async () => {
  await runGit(at.root, ['init', '--quiet', '--bare', '--template=', 'elsewhere'])
  const env = await pushGuardEnvironment(repo)
  await expect(runGit(worktree, ['push', join(at.root, 'elsewhere'), 'HEAD:x'], env)).rejects.toThrow(
    /flotilla-does-not-push/,
  )
})

test('a program named in the config of a hostile repository does not run in our calls', async () => {
  const evil = join(at.root, 'evil')
  await writeFile(evil, `#!/bin/sh\ntouch ${join(at.root, 'ran')}\n`)
  await chmod(evil, 0o755)
  for (const key of [
    'core.fsmonitor',
    'core.pager',
    'core.editor',
    'diff.external',
    'diff.evil.command',
    'diff.evil.textconv',
    'gpg.program',
  ])
    await at.git('config', key, evil)
  await at.git('config', 'commit.gpgSign', 'true')
  await at.git('config', 'log.showSignature', 'true')
  await mkdir(join(at.path, '.git/info'))
  await writeFile(join(at.path, '.git/info/attributes'), '* diff=evil\n')
  await writeFile(join(worktree, 'README.md'), 'changed')
  const start = await at.tip()
  await liveDifferenceOf(worktree, start, { maxBytes: 10_000 })
  const { tip } = await commitLeftovers({ worktree, branch: 'fleet/shell/w/1', message: 'x' })
  await changes(repo, start, tip)
  await differenceOf(repo, start, tip, { maxBytes: 10_000 })
  const merged = await mergeTrees(repo, start, tip)
  if ('conflicts' in merged) throw new Error('conflict')
  const to = await commitTree(repo, { tree: merged.tree, parents: [start], message: 'x' })
  expect(await advance(repo, { branch: 'main', from: start, to })).toEqual({ moved: true })
  expect(await readdir(at.root)).not.toContain('ran')
  await at.git('diff', 'HEAD~1').catch(() => {})
  expect(await readdir(at.root)).toContain('ran')
})

test('git sees no secret of the server and no GIT_DIR of its parent process', async () => {
  await at.git('config', 'alias.show-environment', '!env')
  vi.stubEnv('FLEET_CANARY', 'secret')
  vi.stubEnv('GIT_DIR', '/nowhere')
  const { stdout } = await git(at.path, ['show-environment'])
  expect(stdout.toString()).toContain('LC_ALL=C')
  expect(stdout.toString()).not.toMatch(/FLEET_CANARY|nowhere/)
})
