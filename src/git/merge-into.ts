import { join } from 'node:path'
import { NotAllowed } from '../domain/errors.ts'
import { operationIn } from './checkouts.ts'
import { asSomeone } from './commits.ts'
import { readText, requireWorktree } from './layout.ts'
import { freeLocks } from './locks.ts'
import { fields, GitFailed, git, gitText } from './run.ts'

export type MergedInto = { tip: string } | { conflicts: string[] }

/**
 * Merges a commit into the branch of a worktree of ours, leaving conflict markers for the agent. Its leftovers are
 * committed already. A merge found under way is answered with what is still in conflict there.
 */
export async function mergeInto(worktree: string, commit: string): Promise<MergedInto> {
  const dirs = await requireWorktree(worktree)
  await freeLocks(worktree)
  const doing = await operationIn(dirs.gitDir)
  if (doing && doing !== 'merge')
    throw new NotAllowed(`A ${doing} is under way in ${worktree}.`, { try: 'Finish it or abort it there.' })
  if (!doing) {
    const args = ['merge', '--quiet', '--no-stat', '--no-autostash', '--no-verify', '--no-edit', commit]
    const merge = await asSomeone(worktree, args, { effect: 'git.merge-base-into-branch', answers: [1] })
    const stopped = await readText(join(dirs.gitDir, 'MERGE_HEAD'))
    if (merge.exit !== 0 && !stopped) throw new GitFailed(args, merge.exit, merge.stderr)
    if (!stopped) return { tip: await gitText(worktree, ['rev-parse', 'HEAD']) }
  }
  return { conflicts: await unmergedPaths(worktree) }
}

async function unmergedPaths(worktree: string): Promise<string[]> {
  const entries = fields((await git(worktree, ['ls-files', '-z', '--unmerged'])).stdout)
  return [...new Set(entries.map(entry => entry.slice(entry.indexOf('\t') + 1)))]
}
