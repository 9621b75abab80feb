import type { Repository } from './layout.ts'
import { shownName } from './names.ts'
import { byteFields, fields, type GitOutput, git } from './run.ts'

/** How much of git's answer is read, and how long it may take: a repository of any size gets the same. */
const MAX_BYTES = 2 * 1024 * 1024
const LINE_CHARS = 300
const PER_FILE = 3

export interface FoundLine {
  path: string
  line: number
  text: string
}

export interface FoundCommit {
  commit: string
  at: string
  author: string
  subject: string
  /** The value of the wanted trailer; empty: it has none. */
  trailer: string
}

export interface FoundInGit<T> {
  found: T[]
  /** There may be more: git was stopped, or the limit was reached. */
  more: boolean
}

interface Looking {
  text: string
  limit: number
  withinMs: number
}

/** Lines with this text in the files of a commit, in any case. Binary files are left out. */
export async function linesWith(
  repo: Repository,
  commit: string,
  { text, limit, withinMs }: Looking,
): Promise<FoundInGit<FoundLine>> {
  const options = ['--no-color', '-z', '-n', '-I', '-i', '-F', '--full-name', `--max-count=${PER_FILE}`]
  const answer = await bounded(repo, ['grep', ...options, '-e', text, commit, '--'], withinMs)
  const found: FoundLine[] = []
  // Each line: the commit and the path, the number, the text.
  for (const row of answer.stdout.toString('latin1').split('\n')) {
    const [place, line, ...said] = row.split('\0')
    if (!place?.startsWith(`${commit}:`) || !line) continue
    const shown = Buffer.from(said.join(' '), 'latin1').toString('utf8').trim().slice(0, LINE_CHARS)
    found.push({ path: shownName(place.slice(commit.length + 1)), line: Number(line), text: shown })
    if (found.length > limit) break
  }
  return { found: found.slice(0, limit), more: answer.truncated || found.length > limit }
}

/** Files of a commit whose path has this text, in any case. */
export async function pathsWith(
  repo: Repository,
  commit: string,
  { text, limit, withinMs }: Looking,
): Promise<FoundInGit<string>> {
  const answer = await bounded(repo, ['ls-tree', '-r', '-z', '--name-only', '--full-tree', commit], withinMs)
  const wanted = text.toLowerCase()
  const found = byteFields(answer.stdout)
    .map(shownName)
    .filter(path => path.toLowerCase().includes(wanted))
  return { found: found.slice(0, limit), more: answer.truncated || found.length > limit }
}

/** Commits of a branch whose message has this text, in any case; the newest first. */
export async function commitsWith(
  repo: Repository,
  tip: string,
  { text, limit, withinMs, trailer }: Looking & { trailer: string },
): Promise<FoundInGit<FoundCommit>> {
  const format = `--format=%H%x00%cI%x00%an%x00%s%x00%(trailers:key=${trailer},valueonly,separator=%x2C)`
  const args = ['log', '-z', `-n${limit + 1}`, '-i', '-F', `--grep=${text}`, format, tip, '--']
  const answer = await bounded(repo, args, withinMs)
  const parts = fields(answer.stdout)
  const found: FoundCommit[] = []
  for (let i = 0; i + 4 < parts.length; i += 5) {
    const [commit, at, author, subject, said] = parts.slice(i, i + 5) as [string, string, string, string, string]
    found.push({ commit, at, author, subject, trailer: said.split(',')[0]!.trim() })
  }
  return { found: found.slice(0, limit), more: answer.truncated || found.length > limit }
}

const bounded = (repo: Repository, args: readonly string[], withinMs: number): Promise<GitOutput> =>
  git(repo.commonDir, args, { answers: [1], truncateAt: MAX_BYTES, withinMs })
