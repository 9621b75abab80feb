import { byteFields, fields, git } from '../run.ts'
import { ourEnvironment, type Place } from './place.ts'

type Environment = Record<string, string>

/**
 * Writes the files of a commit. Files that our index knows and nobody touched since stay as they are. Everything else
 * is written anew, even a file that only has another time stamp: its content might be the same to git, but not to
 * others.
 */
export const checkoutAt = async ({ worktree }: Place, commit: string, env: Environment): Promise<void> => {
  const args = ['read-tree', '--reset', '-u', '--no-recurse-submodules', commit]
  await git(worktree, args, { effect: 'git.worktree-checkout', env })
}

/**
 * What is in a worktree and not in our index: ignored files and empty folders too. Byte names; a folder ends with a
 * slash and stands for all it contains. Git never lists pipes, sockets, devices and anything called `.git`.
 */
export async function strangersIn({ worktree }: Place, env: Environment): Promise<string[]> {
  const listed = await git(worktree, ['ls-files', '--others', '--directory', '-z'], { env })
  return byteFields(listed.stdout)
}

/** The files of our index that match, each with its mode and object. No agent can change what it says. */
export async function filesIn(place: Place, pathspecs: readonly string[]): Promise<string[]> {
  const env = ourEnvironment(place)
  return fields((await git(place.worktree, ['ls-files', '--stage', '-z', '--', ...pathspecs], { env })).stdout)
}
