import { realpath } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { Repository } from './layout.ts'
import { readPlainFile } from './plain-files.ts'
import { fields, git } from './run.ts'

const MAX_BYTES = 4 * 1024 * 1024
/** Enough for a hundred thousand files. */
const MAX_LIST_BYTES = 8 * 1024 * 1024

/** The paths of all files in a commit; of a huge repository those that come first. */
export async function trackedFiles(repo: Repository, commit: string): Promise<string[]> {
  const args = ['ls-tree', '-r', '-z', '--full-tree', '--name-only', commit]
  const { stdout, truncated } = await git(repo.commonDir, args, { truncateAt: MAX_LIST_BYTES })
  const paths = fields(stdout)
  return truncated ? paths.slice(0, -1) : paths
}

/** The text of a file in a commit or tree; undefined: there is none, or it is binary. */
export async function textOf(repo: Repository, treeish: string, path: string): Promise<string | undefined> {
  const args = ['cat-file', 'blob', `${treeish}:${path}`]
  const { exit, stdout } = await git(repo.commonDir, args, { answers: [128], truncateAt: MAX_BYTES })
  return exit === 128 || stdout.includes(0) ? undefined : stdout.toString('utf8')
}

/** The bytes of a regular file in a commit, at most one more than the limit; undefined: there is no such file. */
export async function fileOf(repo: Repository, commit: string, path: string, maxBytes: number) {
  const args = ['--literal-pathspecs', 'ls-tree', '-z', '--full-tree', commit, '--', path]
  const [, object, name] =
    /^100\d{3} blob ([0-9a-f]+)\t(.+)$/s.exec(fields((await git(repo.path, args)).stdout)[0] ?? '') ?? []
  if (!object || name !== path) return undefined
  return (await git(repo.path, ['cat-file', 'blob', object], { truncateAt: maxBytes + 1 })).stdout
}

/** The same for a worktree as it is now. Links are not followed. */
export async function fileIn(worktree: string, path: string, maxBytes: number): Promise<Buffer | undefined> {
  const [root, folder] = await Promise.all(
    [worktree, dirname(join(worktree, path))].map(each => realpath(each).catch(() => undefined)),
  )
  if (!root || folder !== dirname(join(root, path))) return undefined
  return readPlainFile(join(root, path), { maxBytes, refuseLinks: true })
}

export async function linesOf(
  repo: Repository,
  commit: string,
  path: string,
  first: number,
  last: number,
): Promise<string | undefined> {
  const lines = (await textOf(repo, commit, path))?.split('\n').slice(first - 1, last)
  return lines?.length ? lines.join('\n') : undefined
}

export interface Logged {
  commit: string
  at: string
  author: string
  subject: string
}

/** The newest commits of a range that changed a file, each with the value of one trailer. */
export async function logOf(
  repo: Repository,
  { range, path, limit, trailer }: { range: string; path: string; limit: number; trailer: string },
): Promise<(Logged & { trailer: string })[]> {
  const format = `--format=%H%x00%cI%x00%an%x00%s%x00%(trailers:key=${trailer},valueonly,separator=%x2C)`
  const args = ['--literal-pathspecs', 'log', '-z', `-n${limit}`, format, range, '--', path]
  const parts = fields((await git(repo.path, args)).stdout)
  const logged: (Logged & { trailer: string })[] = []
  for (let i = 0; i + 3 < parts.length; i += 5) {
    const [commit, at, author, subject, said = ''] = parts.slice(i, i + 5) as [string, string, string, string, string?]
    logged.push({ commit, at, author, subject, trailer: said.split(',')[0]!.trim() })
  }
  return logged
}
