import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import type { Repository } from './layout.ts'
import { strandedSubmodules } from './submodules.ts'
import { aRepository, runGit, type TestRepository } from './testkit.ts'
import { addWorktree } from './worktrees.ts'

let at: TestRepository
let library: TestRepository
let repo: Repository
let worktree: string
beforeEach(async () => {
  library = await aRepository({ files: { lib: 'library' } })
  at = await aRepository()
  repo = await at.open()
  worktree = join(at.root, 'w')
})
afterEach(async () => {
  vi.unstubAllEnvs()
  await at.remove()
  await library.remove()
})

const someone = ['-c', 'user.name=agent', '-c', 'user.email=a@b']

async function withSubmodule() {
  await at.git('-c', 'protocol.file.allow=always', 'submodule', '--quiet', 'add', '--name', 'lib', library.path, 'sm')
  await at.commit('with a submodule')
  return (await addWorktree(repo, { path: worktree, branch: 'work', from: 'main' })).tip
}

async function commitInside() {
  await writeFile(join(worktree, 'sm/new'), 'z')
  await runGit(join(worktree, 'sm'), ['add', 'new'])
  await runGit(join(worktree, 'sm'), [...someone, 'commit', '--quiet', '-m', 'inner'])
  await runGit(worktree, [...someone, 'commit', '--quiet', '-am', 'bump'])
  return runGit(worktree, ['rev-parse', 'HEAD'])
}

test('a submodule commit that only the worktree has is named until the person has it too', async () => {
  const start = await withSubmodule()
  const tip = await commitInside()
  expect(await strandedSubmodules(repo, worktree, start, tip)).toEqual(['sm'])
  expect(await strandedSubmodules(repo, worktree, start, start)).toEqual([])
  await runGit(join(at.path, 'sm'), ['fetch', '--quiet', join(worktree, 'sm'), 'HEAD'])
  expect(await strandedSubmodules(repo, worktree, start, tip)).toEqual([])
})

test('a submodule moved to a commit that the person has, or taken out, is in order', async () => {
  const older = await library.tip()
  await library.commit('newer', { lib: 'newer' })
  const start = await withSubmodule()
  await runGit(join(worktree, 'sm'), ['checkout', '--quiet', older])
  await runGit(worktree, [...someone, 'commit', '--quiet', '-am', 'back'])
  expect(await strandedSubmodules(repo, worktree, start, 'work')).toEqual([])
  await runGit(worktree, ['rm', '--quiet', '-f', 'sm'])
  await runGit(worktree, [...someone, 'commit', '--quiet', '-am', 'out'])
  expect(await strandedSubmodules(repo, worktree, start, 'work')).toEqual([])
})

test('a copy that keeps its git folder inside the checkout counts as the copy of the person', async () => {
  await runGit(at.path, ['clone', '--quiet', library.path, 'sm'])
  const start = await withSubmodule()
  await runGit(worktree, ['clone', '--quiet', join(at.path, 'sm'), 'sm'])
  const tip = await commitInside()
  expect(await strandedSubmodules(repo, worktree, start, tip)).toEqual(['sm'])
  await runGit(join(at.path, 'sm'), ['fetch', '--quiet', join(worktree, 'sm'), 'HEAD'])
  expect(await strandedSubmodules(repo, worktree, start, tip)).toEqual([])
})

test('a submodule that the agent itself added is named, also one whose name climbs out of its place', async () => {
  const { tip: start } = await addWorktree(repo, { path: worktree, branch: 'work', from: 'main' })
  await runGit(worktree, ['clone', '--quiet', library.path, 'sm'])
  await writeFile(join(worktree, '.gitmodules'), `[submodule "../../../w/sm/.git"]\n\tpath = sm\n\turl = ../library\n`)
  await runGit(worktree, ['add', '.gitmodules', 'sm'])
  const tip = await commitInside()
  expect(await strandedSubmodules(repo, worktree, start, tip)).toEqual(['sm'])
})

test('a repository without submodules is not asked', async () => {
  const { tip: start } = await addWorktree(repo, { path: worktree, branch: 'work', from: 'main' })
  const tip = await at.commit('more', { more: '1' })
  vi.stubEnv('PATH', join(at.root, 'no-git-here'))
  expect(await strandedSubmodules(repo, worktree, start, tip)).toEqual([])
})
