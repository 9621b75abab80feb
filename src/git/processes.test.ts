import { execFileSync } from 'node:child_process'
import { chmod, mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test, vi } from 'vitest'
import * as git from './index.ts'
import { aRepository } from './testkit.ts'

/**
 * Puts a `git` first on PATH that counts its calls and then runs the real one. Processes that git itself starts are not
 * counted.
 */
async function counted(folder: string) {
  const real = execFileSync('sh', ['-c', 'command -v git'], { encoding: 'utf8' }).trim()
  const log = join(folder, 'calls')
  await mkdir(folder)
  await writeFile(log, '')
  await writeFile(join(folder, 'git'), `#!/bin/sh\necho "$@" >>'${log}'\nexec '${real}' "$@"\n`)
  await chmod(join(folder, 'git'), 0o755)
  vi.stubEnv('PATH', `${folder}:${process.env.PATH}`)
  return async () =>
    (await readFile(log, 'utf8'))
      .split('\n')
      .filter(Boolean)
      .map(line => line.replace(/-c \S+ /g, ''))
}

test('a mission on the plain path, from worktree to landing and clean-up, takes at most seven git processes', async () => {
  const at = await aRepository()
  const repo = await at.open()
  const calls = await counted(join(at.root, 'bin'))

  const mark = await git.guardMark(repo)
  await git.pushGuardEnvironment(repo)
  const branch = await git.branchName(repo, { agent: 'shell', title: 'Write a line', id: 'abc123' })
  const worktree = join(at.root, 'w')
  const { tip: start } = await git.addWorktree(repo, { path: worktree, branch, from: 'main' })
  await writeFile(join(worktree, 'line'), 'a line\n')
  const collected = await git.commitLeftovers({ worktree, branch, start, message: 'Write a line\n' })
  const { tip } = collected
  const { descends, files } = collected.changes ?? (await git.changes(repo, start, tip))
  expect(files).toEqual([{ path: 'line', change: 'added' }])
  expect(git.guardDifference(mark, await git.guardMark(repo))).toEqual([])
  const base = await git.branchTip(repo, 'main')
  const merged = await git.mergeTrees(repo, base!, tip, descends ? start : undefined)
  if ('conflicts' in merged) throw new Error('conflict')
  const to = await git.commitTree(repo, { tree: merged.tree, parents: [base!], message: 'Write a line\n' })
  expect(await git.advance(repo, { branch: 'main', from: base!, to })).toEqual({ moved: true })
  await git.removeWorktree(repo, worktree)
  await git.keepRef(repo, { ref: git.keptRef('mission', 1), oid: tip, deleteBranch: branch })

  const made = await calls()
  expect(made.length, made.join('\n')).toBeLessThanOrEqual(7)
  expect(await at.read('line')).toBe('a line\n')
  vi.unstubAllEnvs()
  await at.remove()
})
