import type { Repository } from './layout.ts'
import { ObjectReader } from './plain-objects.ts'
import { fields, git } from './run.ts'
import { MAX_FILE_BYTES } from './status.ts'

const MOST_COMMITS = 20_000

/** The relation of two commits never changes, so git is asked once. The last `most` answers are remembered. */
function onceForTwo<T>(most: number, ask: (repo: Repository, one: string, other: string) => Promise<T>): typeof ask {
  const known = new Map<string, Promise<T>>()
  return (repo, one, other) => {
    const key = `${repo.commonDir} ${one} ${other}`
    const asked = known.get(key) ?? ask(repo, one, other)
    known.set(key, asked)
    if (known.size > most) known.delete(known.keys().next().value!)
    asked.catch(() => known.delete(key))
    return asked
  }
}

/** The last common commit of two histories; undefined: they share none. */
export const mergeBase = (repo: Repository, one: string, other: string): Promise<string | undefined> =>
  one === other ? Promise.resolve(one) : parted(repo, one, other)

const parted = onceForTwo(2000, askMergeBase)

async function askMergeBase(repo: Repository, one: string, other: string): Promise<string | undefined> {
  const found = await git(repo.commonDir, ['merge-base', one, other], { answers: [1] })
  return found.stdout.toString('utf8').trim() || undefined
}

/** The commits of `tip` that `base` does not have. */
export const commitsBeyond = onceForTwo(20, async (repo, base, tip): Promise<ReadonlySet<string>> => {
  const row = await rowTo(repo, base, tip)
  if (row) return new Set(row)
  const listed = await git(repo.commonDir, ['rev-list', `--max-count=${MOST_COMMITS}`, tip, `^${base}`])
  return new Set(listed.stdout.toString('utf8').split('\n').filter(Boolean))
})

/** Work that an agent left is mostly one commit on the base branch. */
const SHORT_ROW = 32

/**
 * The commits from `tip` back to `base`, newest first, if each has one parent. `base` has none of them, because it is
 * the ancestor of all. Undefined: git must say.
 */
async function rowTo({ commonDir }: Repository, base: string, tip: string): Promise<string[] | undefined> {
  const reader = new ObjectReader(commonDir)
  const row: string[] = []
  for (let at = tip; row.length < SHORT_ROW; ) {
    if (at === base) return row
    row.push(at)
    const [parent, ...others] = (await reader.commit(at))?.parents ?? []
    if (parent === undefined || others.length) return undefined
    at = parent
  }
  return undefined
}

/** The commits that any of `tips` and none of the others have. A commit missing in the repository has none. */
export async function commitsOf(
  repo: Repository,
  tips: readonly string[],
  not: readonly string[],
): Promise<ReadonlySet<string>> {
  if (!tips.length) return new Set()
  const args = ['rev-list', '--ignore-missing', `--max-count=${MOST_COMMITS}`, '--stdin']
  const input = [...tips, ...not.map(commit => `^${commit}`)].map(line => `${line}\n`).join('')
  const listed = await git(repo.commonDir, args, { input })
  return new Set(listed.stdout.toString('utf8').split('\n').filter(Boolean))
}

const NO_BLOB = /^0+$/

/** Files that `to` adds to `from` and that are larger than allowed. */
export async function largeFiles(
  repo: Repository,
  from: string,
  to: string,
  maxBytes = MAX_FILE_BYTES,
): Promise<{ path: string; bytes: number }[]> {
  const args = ['diff-tree', '-r', '-z', '--raw', '--no-abbrev', '--no-renames', '--diff-filter=d', from, to, '--']
  const parts = fields((await git(repo.commonDir, args)).stdout)
  const blobs = parts.flatMap((part, at) => {
    const [, mode, , oid] = /^:\d+ (\d+) (\w+) (\w+)/.exec(part) ?? []
    return oid && mode !== '160000' && !NO_BLOB.test(oid) ? [{ path: parts[at + 1]!, oid }] : []
  })
  if (!blobs.length) return []
  const sizes = await git(repo.commonDir, ['cat-file', '--batch-check=%(objectsize)'], {
    input: blobs.map(({ oid }) => `${oid}\n`).join(''),
  })
  const lines = sizes.stdout.toString('utf8').split('\n')
  return blobs.flatMap(({ path }, at) => {
    const bytes = Number(lines[at])
    return bytes > maxBytes ? [{ path, bytes }] : []
  })
}
