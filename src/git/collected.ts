import { join } from 'node:path'
import { type Changes, capped } from './changes.ts'
import type { Operation } from './checkouts.ts'
import { shownName } from './names.ts'
import { readPlainFile } from './plain-files.ts'
import type { Within } from './run.ts'
import { type Change, pathOf, type Skipped } from './status.ts'

export interface Leftovers {
  worktree: string
  /** The branch the work belongs on. */
  branch: string
  message: string
  /** Files, or folders, that must not be committed: copied secrets. */
  never?: readonly string[]
  maxBytes?: number
  /** The commit where the work began. With it, the result can often say what changed without another process. */
  start?: string
  /** The sandbox of the agent that left it. */
  within?: Within
}

export interface Collected {
  tip: string
  committed: boolean
  /** Everything since `start`, if that is this commit alone. Otherwise ask `changes`. */
  changes?: Changes
  /** Left out of the commit, still in the worktree. */
  skipped: Skipped
  /**
   * The agent stopped in the middle of an operation that a commit would falsify. Nothing was committed or moved, and
   * the work must not land from here.
   */
  unfinished?: { doing: Operation | 'work on another branch'; paths: string[] }
  /** Refs that hold what it left besides its branch: its stash, other branches, tags, notes, and staged files. */
  kept?: string[]
  /** Something in its repository that is wrong or could not be taken in. It stays where it is. */
  problem?: string
  /** Somebody committed on its branch in the project, and the tip includes that. */
  followed?: boolean
  /**
   * The commit to which somebody moved its branch in the project, if the tip does not include it. The branch stays
   * there.
   */
  apart?: string
}

const MARKERS = /^<{7} .*^={7}$.*^>{7} /ms

export const COMMIT = ['commit', '--quiet', '--no-verify', '--allow-empty', '--cleanup=whitespace', '-F', '-']

/** The changes of this commit. Undefined if it both adds and deletes files, because git may call that a rename. */
export function knownChanges(take: Change[], tip: string, message: string): Changes | undefined {
  const kinds = new Set(take.map(change => change.kind))
  if (!take.length || (kinds.has('added') && kinds.has('deleted'))) return undefined
  const files = take.map(({ path, kind }) => ({ path: shownName(path), change: kind }))
  return {
    ...capped(files),
    commits: [{ commit: tip, subject: message.trim().split('\n', 1)[0]! }],
    commitsOmitted: 0,
    descends: true,
  }
}

/** The conflicts of a merge under way, including those staged since: staging is not resolving. Byte names. */
export function conflictsMet(gitDir: string): string[] {
  const text = readPlainFile(join(gitDir, 'MERGE_MSG'), { refuseLinks: true })?.toString('latin1') ?? ''
  // Each line begins with git's comment character.
  const [, comment] = /^(\S+) Conflicts:$/m.exec(text) ?? []
  if (!comment) return []
  return text.split('\n').flatMap(line => (line.startsWith(`${comment}\t`) ? [line.slice(comment.length + 1)] : []))
}

export function withMarkers(worktree: string, names: string[]): string[] {
  return names.filter(name => {
    const content = readPlainFile(pathOf(worktree, name), { refuseLinks: true })
    return content && MARKERS.test(content.toString('utf8'))
  })
}
