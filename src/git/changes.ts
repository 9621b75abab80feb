import { copyFile, lstat, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { ChangedFile } from '../domain/records/report.ts'
import { type Repository, requireWorktree } from './layout.ts'
import { filesApart } from './plain-merge.ts'
import { fields, git } from './run.ts'

export const MAX_FILES = 300
const MAX_COMMITS = 50
export const DIFF = ['--no-ext-diff', '--no-textconv', '-M', '--no-color', '--ignore-submodules=dirty']

export interface Changes {
  files: ChangedFile[]
  filesOmitted: number
  /** Newest first. */
  commits: { commit: string; subject: string }[]
  commitsOmitted: number
  /** `to` descends from exactly `from`, so nothing needs merging while the base is still there. */
  descends: boolean
}

/** What changed between two commits. It takes one process if there is one commit between them, otherwise two. */
export async function changes(repo: Repository, from: string, to: string): Promise<Changes> {
  if (from === to) return { files: [], filesOmitted: 0, commits: [], commitsOmitted: 0, descends: true }
  const format = '--format=%x01%H%x00%P%x00%s'
  const log = await git(repo.path, ['log', '-z', '--raw', '--no-abbrev', ...DIFF, format, `${from}..${to}`, '--'])
  const commits = readLog(fields(log.stdout))
  const [only] = commits
  const single = commits.length === 1 && only?.parents.length === 1 && only.parents[0] === from
  const files = single ? only.files : await filesBetween(repo, from, to)
  return {
    ...capped(files),
    commits: commits.slice(0, MAX_COMMITS).map(({ commit, subject }) => ({ commit, subject })),
    commitsOmitted: Math.max(0, commits.length - MAX_COMMITS),
    descends: commits.some(commit => commit.parents.includes(from)),
  }
}

/** How many files differ between two commits. */
export async function changedFiles(repo: Repository, from: string, to: string): Promise<number> {
  const counted = await filesApart(repo, from, to)
  return counted ?? (await filesBetween(repo, from, to)).length
}

/** Which of these files, or of the files in these folders, differ between two commits. */
export async function changedAmong(
  repo: Repository,
  from: string,
  to: string,
  paths: readonly string[],
): Promise<string[]> {
  if (from === to || paths.length === 0) return []
  const args = ['--literal-pathspecs', 'diff-tree', '-r', '-z', '--name-only', '--no-renames', from, to, '--', ...paths]
  return fields((await git(repo.path, args)).stdout)
}

/** Works on a copy of the index, so that nobody in the worktree is disturbed. */
export async function withIndexCopy<T>(worktree: string, run: (env: Record<string, string>) => Promise<T>): Promise<T> {
  const dirs = await requireWorktree(worktree)
  const folder = await mkdtemp(join(tmpdir(), 'flotilla-index-'))
  try {
    const env = { GIT_INDEX_FILE: join(folder, 'index') }
    const index = join(dirs.gitDir, 'index')
    // The index may be too large to read at once, so it is copied. But a copy of a pipe would never end.
    const found = await lstat(index).catch(() => undefined)
    if (found?.isFile()) await copyFile(index, env.GIT_INDEX_FILE)
    return await run(env)
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

async function filesBetween(repo: Repository, from: string, to: string): Promise<ChangedFile[]> {
  const raw = await git(repo.path, ['diff-tree', '-r', '-z', '--raw', '--no-abbrev', ...DIFF, from, to, '--'])
  return readRaw(fields(raw.stdout))
}

export const capped = (files: ChangedFile[]) => ({
  files: files.slice(0, MAX_FILES),
  filesOmitted: Math.max(0, files.length - MAX_FILES),
})

interface LoggedCommit {
  commit: string
  parents: string[]
  subject: string
  files: ChangedFile[]
}

function readLog(parts: string[]): LoggedCommit[] {
  const starts = parts.flatMap((part, i) => (part.startsWith('\x01') ? [i] : []))
  return starts.map((at, n) => ({
    commit: parts[at]!.slice(1),
    parents: parts[at + 1]!.split(' ').filter(Boolean),
    subject: parts[at + 2]!,
    files: readRaw(parts.slice(at + 3, starts[n + 1])),
  }))
}

const CHANGES: Record<string, ChangedFile['change']> = { A: 'added', C: 'added', D: 'deleted', R: 'renamed' }

/** Raw records: `:modes oids letter`, then one path, or two for a rename or a copy. */
export function readRaw(parts: string[]): ChangedFile[] {
  const files: ChangedFile[] = []
  for (let i = 0; i < parts.length; ) {
    const [, letter] = /^\n?:.* ([A-Z])\d*$/s.exec(parts[i]!) ?? []
    if (!letter) {
      i++
      continue
    }
    const change = CHANGES[letter] ?? 'modified'
    const two = letter === 'R' || letter === 'C'
    files.push({ path: parts[i + (two ? 2 : 1)]!, change, ...(letter === 'R' ? { from: parts[i + 1]! } : {}) })
    i += two ? 3 : 2
  }
  return files
}
