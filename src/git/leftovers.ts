import { lstat } from 'node:fs/promises'
import { join, normalize } from 'node:path'
import { NotFound } from '../domain/errors.ts'
import { type Changes, capped } from './changes.ts'
import { type Operation, operationIn } from './checkouts.ts'
import { asSomeone, isAncestor } from './commits.ts'
import { type Repository, readRef, readText, requireWorktree } from './layout.ts'
import { freeLocks } from './locks.ts'
import { readPlainFile } from './plain-files.ts'
import { fields, git, type Within } from './run.ts'

export const MAX_FILE_BYTES = 20 * 1024 * 1024
const MARKERS = /^<{7} .*^={7}$.*^>{7} /ms

export interface Leftovers {
  worktree: string
  /** The branch the work belongs on. */
  branch: string
  message: string
  /** Files, or folders, that must not be committed: copied secrets. */
  never?: readonly string[]
  maxBytes?: number
  /** Where the work began. Given, the answer can often say what changed without another process. */
  start?: string
  /** For looking into submodules. */
  within?: Within
}

export interface Collected {
  tip: string
  committed: boolean
  /** Everything since `start`, where this commit alone is; otherwise `changes` tells. */
  changes?: Changes
  /** Left out of the commit, still in the worktree. */
  skipped: { path: string; why: string }[]
  /**
   * The agent stopped in the middle of something that a commit would falsify. Nothing was committed or moved: the
   * branch and the worktree are as they were, and the work must not land from here.
   */
  unfinished?: { doing: Operation | 'work on another branch'; paths: string[] }
}

/**
 * Commits whatever an agent left uncommitted. A merge, cherry-pick or revert with no conflict marker left is concluded;
 * an unfinished rebase or bisect, or one with markers, is left alone. Work on a branch or a detached HEAD of the
 * agent's own is brought onto our branch when it goes on from there.
 */
export async function commitLeftovers(wanted: Leftovers): Promise<Collected> {
  const { worktree, branch } = wanted
  const dirs = await requireWorktree(worktree)
  await freeLocks(worktree, branch)
  const [status, doing] = await Promise.all([readStatus(worktree, wanted.within), operationIn(dirs.gitDir)])
  const left = (operation: Operation | 'work on another branch', paths: string[]) =>
    leftAlone(dirs, branch, { doing: operation, paths })

  if (doing === 'rebase' || doing === 'bisect') return left(doing, status.unmerged)
  const marked = withMarkers(worktree, [...new Set([...status.unmerged, ...(await conflictsMet(dirs.gitDir))])])
  if (marked.length) return left(doing ?? 'merge', marked)
  if (status.head !== branch && !(await bringHome(worktree, dirs, branch, status)))
    return left(
      'work on another branch',
      status.changed.map(change => change.path),
    )

  const { take, skipped } = await sift(wanted, status.changed)
  const staged = status.changed.some(change => change.staged)
  const conclude = doing !== undefined
  if (!take.length && !staged && !conclude) return { tip: status.oid, committed: false, skipped }

  await unstage(worktree, skipped, status.changed)
  if (take.length) await stage(worktree, take)
  if (!conclude && !take.length && !(await hasStaged(worktree))) return { tip: status.oid, committed: false, skipped }
  await asSomeone(worktree, ['commit', '--quiet', '--no-verify', '--allow-empty', '--cleanup=whitespace', '-F', '-'], {
    effect: 'git.commit',
    input: wanted.message,
  })
  const tip = (await readRef(dirs, `refs/heads/${branch}`)) ?? status.oid
  const changes = status.oid === wanted.start && !conclude ? knownChanges(take, tip, wanted.message) : undefined
  return { tip, committed: true, skipped, ...(changes ? { changes } : {}) }
}

/** What the commit of these did. Not where files came and went at once: git may call that a rename. */
function knownChanges(take: Change[], tip: string, message: string): Changes | undefined {
  const kinds = new Set(take.map(change => change.kind))
  if (!take.length || (kinds.has('added') && kinds.has('deleted'))) return undefined
  const files = take.map(({ path, kind }) => ({ path, change: kind }))
  return {
    ...capped(files),
    commits: [{ commit: tip, subject: message.trim().split('\n', 1)[0]! }],
    commitsOmitted: 0,
    descends: true,
  }
}

interface Change {
  path: string
  kind: 'added' | 'modified' | 'deleted'
  staged: boolean
  submodule: boolean
}

interface WorktreeStatus {
  oid: string
  /** The branch HEAD is on; '(detached)' otherwise. */
  head: string
  changed: Change[]
  unmerged: string[]
}

export async function readStatus(worktree: string, within?: Within): Promise<WorktreeStatus> {
  const args = [
    'status',
    '--porcelain=v2',
    '--branch',
    '-z',
    '--untracked-files=all',
    '--no-renames',
    '--ignore-submodules=none',
  ]
  const status: WorktreeStatus = { oid: '', head: '', changed: [], unmerged: [] }
  for (const line of fields((await git(worktree, args, { within })).stdout)) {
    if (line.startsWith('# branch.oid ')) status.oid = line.slice('# branch.oid '.length)
    else if (line.startsWith('# branch.head ')) status.head = line.slice('# branch.head '.length)
    else if (line.startsWith('? '))
      status.changed.push({ path: line.slice(2), kind: 'added', staged: false, submodule: false })
    else if (line.startsWith('1 ') || line.startsWith('u ')) {
      const unmerged = line.startsWith('u ')
      const [, xy = '', sub = ''] = line.split(' ', 3)
      const path = line
        .split(' ')
        .slice(unmerged ? 10 : 8)
        .join(' ')
      if (unmerged) status.unmerged.push(path)
      const gone = xy[1] === 'D' || (xy[0] === 'D' && xy[1] === '.')
      const kind = gone ? 'deleted' : xy.includes('A') ? 'added' : 'modified'
      status.changed.push({ path, kind, staged: xy[0] !== '.' && !unmerged, submodule: sub.startsWith('S') })
    }
  }
  return status
}

/** What may be committed, and what is left out and why. */
export async function sift(
  wanted: Pick<Leftovers, 'worktree' | 'never' | 'maxBytes'>,
  changed: Change[],
): Promise<{ take: Change[]; skipped: Collected['skipped'] }> {
  const maxBytes = wanted.maxBytes ?? MAX_FILE_BYTES
  const never = (wanted.never ?? []).map(path => normalize(path).replace(/\/$/, ''))
  const take: Change[] = []
  const skipped: Collected['skipped'] = []
  for (const change of changed) {
    const { path } = change
    const found = await lstat(join(wanted.worktree, path)).catch(() => undefined)
    if (never.some(secret => path === secret || path.startsWith(`${secret}/`)))
      skipped.push({ path, why: 'it was copied in for the agent and is not to be committed' })
    else if (path.endsWith('/')) skipped.push({ path, why: 'it is a git repository of its own' })
    else if (change.submodule) skipped.push({ path, why: 'it is a submodule with changes of its own' })
    else if (found && !found.isFile() && !found.isSymbolicLink() && !found.isDirectory())
      skipped.push({ path, why: 'it is a pipe, a socket or a device' })
    else if (!isGone(change) && found && found.size > maxBytes)
      skipped.push({ path, why: `it is larger than ${Math.round(maxBytes / 1024 / 1024)} MB` })
    else take.push(change)
  }
  return { take, skipped }
}

export async function unstage(
  worktree: string,
  skipped: Collected['skipped'],
  changed: Change[],
  env?: Record<string, string>,
): Promise<void> {
  const staged = new Set(changed.flatMap(change => (change.staged ? [change.path] : [])))
  const paths = skipped.flatMap(({ path }) => (staged.has(path) ? [`${path}\0`] : []))
  if (!paths.length) return
  const args = ['--literal-pathspecs', 'reset', '--quiet', '--pathspec-from-file=-', '--pathspec-file-nul']
  await git(worktree, args, { effect: 'git.add', env, input: paths.join('') })
}

const isGone = (change: Change): boolean => change.kind === 'deleted'

/** Exactly these paths, so that the folder is not searched again. Deletions first: a file may now be a folder. */
export async function stage(worktree: string, changes: Change[], env?: Record<string, string>): Promise<void> {
  const ordered = [...changes.filter(isGone), ...changes.filter(change => !isGone(change))]
  await git(worktree, ['update-index', '--add', '--remove', '--replace', '-z', '--stdin'], {
    effect: 'git.add',
    env,
    input: ordered.map(change => `${change.path}\0`).join(''),
  })
}

async function hasStaged(worktree: string): Promise<boolean> {
  return (await git(worktree, ['diff-index', '--cached', '--quiet', 'HEAD'], { answers: [1] })).exit === 1
}

/** What a merge under way met as conflicts, also those that were staged since: staging is not resolving. */
async function conflictsMet(gitDir: string): Promise<string[]> {
  const text = await readText(join(gitDir, 'MERGE_MSG'))
  return text?.split('\n').flatMap(line => (line.startsWith('#\t') ? [line.slice(2)] : [])) ?? []
}

function withMarkers(worktree: string, paths: string[]): string[] {
  return paths.filter(path => {
    const content = readPlainFile(join(worktree, path), { refuseLinks: true })
    return content && MARKERS.test(content.toString('utf8'))
  })
}

type Dirs = Pick<Repository, 'gitDir' | 'commonDir'>

/**
 * Puts our branch where the agent's HEAD is, if that goes on from our branch, and HEAD on our branch. The agent's own
 * branch stays where it is: it could be one that is not ours to move.
 */
async function bringHome(worktree: string, dirs: Dirs, branch: string, status: WorktreeStatus): Promise<boolean> {
  const ref = `refs/heads/${branch}`
  const ours = await readRef(dirs, ref)
  if (status.oid === '(initial)') return false
  const repo = { path: worktree, bare: false, ...dirs }
  if (ours && !(await isAncestor(repo, ours, status.oid))) return false
  await git(worktree, ['update-ref', ref, status.oid, ours ?? ''], { effect: 'git.update-ref' })
  await git(worktree, ['symbolic-ref', 'HEAD', ref], { effect: 'git.update-ref' })
  return true
}

async function leftAlone(
  dirs: Dirs,
  branch: string,
  unfinished: NonNullable<Collected['unfinished']>,
): Promise<Collected> {
  const tip = await readRef(dirs, `refs/heads/${branch}`)
  if (!tip) throw new NotFound('branch', branch)
  return { tip, committed: false, skipped: [], unfinished }
}
