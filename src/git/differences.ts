import type { ChangedFile } from '../domain/records/report.ts'
import { DIFF, MAX_FILES, readRaw, withIndexCopy } from './changes.ts'
import type { Repository } from './layout.ts'
import { nameBytes } from './names.ts'
import { withOurIndex } from './private/live.ts'
import { placeAt } from './private/place.ts'
import { byteFields, fields, type GitOutput, git, type Within } from './run.ts'

export interface Sizes {
  files: (ChangedFile & { added: number | null; deleted: number | null })[]
  filesOmitted: number
  /** For all files, including those left out. Binary files count as zero. */
  added: number
  deleted: number
}

export interface Wish {
  /** The limit of its text. */
  maxBytes: number
  /** How many lines around each change. */
  context?: number
  /** Only this file, which must be one of those that differ. */
  path?: string
  /** false: only which files differ. */
  text?: boolean
}

export interface Difference extends Sizes {
  text: string
  truncated: boolean
}

/** Runs git on the two sides with these options, for these paths only. */
type Compare = (options: readonly string[], paths: readonly string[], truncateAt?: number) => Promise<GitOutput>

/** What differs between two commits. Undefined: the requested file does not. */
export const differenceOf = (
  repo: Repository,
  from: string,
  to: string,
  wish: Wish,
): Promise<Difference | undefined> => {
  const tree = [...DIFF, from, to, '--']
  return compared(
    (options, paths, truncateAt) =>
      git(repo.path, ['--literal-pathspecs', 'diff-tree', '-r', ...options, ...tree, ...paths], { truncateAt }),
    wish,
  )
}

/** The same for a live worktree, including uncommitted changes. The agent's index is not touched. */
export const liveDifferenceOf = (
  worktree: string,
  from: string,
  wish: Wish,
  within?: Within,
): Promise<Difference | undefined> =>
  withLiveIndex(worktree, within, env => {
    const tree = [...DIFF, from, '--']
    const run: Compare = (options, paths, truncateAt) =>
      git(worktree, ['--literal-pathspecs', 'diff-index', ...options, ...tree, ...paths], { env, truncateAt })
    return compared(run, wish)
  })

async function compared(run: Compare, { maxBytes, context, path, text = true }: Wish): Promise<Difference | undefined> {
  const { files, ...sums } = readSizes(fields((await run(SIZES, [])).stdout))
  const wanted = path === undefined ? files : files.filter(file => file.path === path)
  if (path !== undefined && !wanted.length) return undefined
  const sizes = { ...sums, ...listed(wanted, MOST_LISTED) }
  if (!text) return { ...sizes, text: '', truncated: false }
  const around = context === undefined ? [] : [`-U${context}`]
  // Both names of a renamed file. With the new name alone it would look added.
  const paths = path === undefined ? [] : wanted.flatMap(({ path, from }) => [path, from ?? []].flat())
  const diff = await run(['-p', ...around], paths, maxBytes)
  return { ...sizes, text: diff.stdout.toString('utf8'), truncated: diff.truncated }
}

/** The limit is high, so that a person can go through every file of a large change. */
const MOST_LISTED = 5000
const listed = (files: Sizes['files'], most: number): Pick<Sizes, 'files' | 'filesOmitted'> => ({
  files: files.slice(0, most),
  filesOmitted: Math.max(0, files.length - most),
})

const SIZES = ['-z', '--raw', '--numstat', '--no-abbrev']

/** The first files that differ between two commits, with the number of changed lines in each. */
export async function sizesOf(repo: Repository, from: string, to: string): Promise<Sizes> {
  const { files, filesOmitted, added, deleted } = (await differenceOf(repo, from, to, { maxBytes: 0, text: false }))!
  const first = listed(files, MAX_FILES)
  return { added, deleted, files: first.files, filesOmitted: first.filesOmitted + filesOmitted }
}

/** First the raw record of every file, then their numbers in the same order. */
function readSizes(parts: string[]): Omit<Sizes, 'filesOmitted'> {
  let end = 0
  while (parts[end]?.startsWith(':')) end += /[RC]\d*$/.test(parts[end]!) ? 3 : 2
  const lines = readNumbers(parts.slice(end))
  const sum = (of: 'added' | 'deleted'): number => lines.reduce((total, each) => total + (each[of] ?? 0), 0)
  const files = readRaw(parts.slice(0, end)).map((file, at) => ({
    ...file,
    added: lines[at]?.added ?? null,
    deleted: lines[at]?.deleted ?? null,
  }))
  return { files, added: sum('added'), deleted: sum('deleted') }
}

/** Records of numbers: `added deleted path`; for a rename the path is empty, and two follow. */
function readNumbers(parts: string[]): { added: number | null; deleted: number | null }[] {
  const lines: { added: number | null; deleted: number | null }[] = []
  for (let i = 0; i < parts.length; ) {
    const [added = '-', deleted = '-', path] = parts[i]!.split('\t', 3)
    lines.push({ added: countOf(added), deleted: countOf(deleted) })
    i += path ? 1 : 3
  }
  return lines
}

const countOf = (text: string): number | null => (text === '-' ? null : Number(text))

/** A copy of the index that also knows the untracked files by name; their content is read from the files. */
async function withLiveIndex<T>(
  worktree: string,
  within: Within | undefined,
  run: (env: Record<string, string>) => Promise<T>,
): Promise<T> {
  const place = placeAt(worktree)
  const withCopy = place
    ? (use: (env: Record<string, string>) => Promise<T>) => withOurIndex(place, within, use)
    : (use: (env: Record<string, string>) => Promise<T>) => withIndexCopy(worktree, use)
  return withCopy(async env => {
    for (let tries = 0; tries < MOST_TRIES && !(await addUntracked(worktree, env)); tries++);
    return run(env)
  })
}

const MOST_TRIES = 3

/**
 * Each file is added by name. To add everything, git would look into submodules and use their configuration. False: one
 * was deleted before it was added, so none is.
 */
async function addUntracked(worktree: string, env: Record<string, string>): Promise<boolean> {
  const listed = byteFields((await git(worktree, ['ls-files', '--others', '--exclude-standard', '-z'], { env })).stdout)
  const files = listed.filter(path => !path.endsWith('/'))
  if (!files.length) return true
  const args = ['--literal-pathspecs', 'add', '--intent-to-add', '--ignore-errors']
  const named = ['--pathspec-from-file=-', '--pathspec-file-nul']
  const { exit } = await git(worktree, [...args, ...named], {
    env,
    input: nameBytes(files.join('\0')),
    answers: [1, 128],
  })
  return exit !== 128
}
