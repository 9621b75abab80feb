import type { Repository } from './layout.ts'
import { git } from './run.ts'

const MAX_BYTES = 4 * 1024 * 1024

/** A file as it is in a commit or tree; undefined: there is none, or it is no text. */
export async function textOf(repo: Repository, treeish: string, path: string): Promise<string | undefined> {
  const args = ['cat-file', 'blob', `${treeish}:${path}`]
  const { exit, stdout } = await git(repo.commonDir, args, { answers: [128], truncateAt: MAX_BYTES })
  return exit === 128 || stdout.includes(0) ? undefined : stdout.toString('utf8')
}

export async function lineOf(
  repo: Repository,
  commit: string,
  path: string,
  line: number,
): Promise<string | undefined> {
  return (await textOf(repo, commit, path))?.split('\n')[line - 1]
}
