import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { NotAllowed, NotFound } from '../domain/errors.ts'
import { operationIn } from './checkouts.ts'
import { asSomeone } from './commits.ts'
import { exists, readText, requireWorktree } from './layout.ts'
import { freeLocks } from './locks.ts'
import { diskSettings } from './private/own-disk.ts'
import { type Place, placeAt, projectOf } from './private/place.ts'
import { programSettings } from './private/programs.ts'
import { seal } from './private/sealing.ts'
import { configEnvironment, settingsOf } from './private/settings.ts'
import { fields, GitFailed, git, gitText, type Within } from './run.ts'

export type MergedInto = { tip: string } | { conflicts: string[] }

/**
 * Merges a commit into the branch of one of our worktrees and leaves conflict markers for the agent. Its leftovers are
 * committed already. If a merge is under way, the result is what is still in conflict.
 */
export async function mergeInto(worktree: string, commit: string, within?: Within): Promise<MergedInto> {
  const place = placeAt(worktree)
  if (place) return mergeIntoPlace(place, commit, within)
  const dirs = await requireWorktree(worktree)
  await freeLocks(worktree)
  return merge(worktree, dirs.gitDir, commit)
}

/**
 * This needs the session's own index, so it runs in the session's repository. That is sealed first, so that git runs
 * nothing an agent made and follows no link. The person's own filter programs run inside the agent's sandbox.
 */
async function mergeIntoPlace(place: Place, commit: string, within: Within | undefined): Promise<MergedInto> {
  if (!(await exists(place.worktree))) throw new NotFound('worktree', place.worktree)
  await seal(place, { walled: within !== undefined })
  rmSync(join(place.git, 'index.lock'), { force: true })
  const settings = [...diskSettings(place), ...programSettings(await settingsOf(projectOf(place)), within)]
  const env = { GIT_DIR: place.git, GIT_WORK_TREE: place.worktree, ...configEnvironment(settings) }
  return merge(place.worktree, place.git, commit, env)
}

async function merge(
  worktree: string,
  gitDir: string,
  commit: string,
  env?: Record<string, string>,
): Promise<MergedInto> {
  const doing = await operationIn(gitDir)
  if (doing && doing !== 'merge')
    throw new NotAllowed(`A ${doing} is under way in ${worktree}.`, { try: 'Finish it or abort it there.' })
  if (!doing) {
    const args = ['merge', '--ff', '--quiet', '--no-stat', '--no-autostash', '--no-verify', '--no-edit', commit]
    const merge = await asSomeone(worktree, args, { effect: 'git.merge-base-into-branch', answers: [1], env })
    const stopped = await readText(join(gitDir, 'MERGE_HEAD'))
    if (merge.exit !== 0 && !stopped) throw new GitFailed(args, merge.exit, merge.stderr)
    if (!stopped) return { tip: await gitText(worktree, ['rev-parse', 'HEAD'], { env }) }
  }
  const entries = fields((await git(worktree, ['ls-files', '-z', '--unmerged'], { env })).stdout)
  return { conflicts: [...new Set(entries.map(entry => entry.slice(entry.indexOf('\t') + 1)))] }
}
