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
  /** Where the work began. Given, the answer can often say what changed without another process. */
  start?: string
  /** The walls that whoever left it works behind. */
  within?: Within
}

export interface Collected {
  tip: string
  committed: boolean
  /** Everything since `start`, where this commit alone is; otherwise `changes` tells. */
  changes?: Changes
  /** Left out of the commit, still in the worktree. */
  skipped: Skipped
  /**
   * The agent stopped in the middle of something that a commit would falsify. Nothing was committed or moved: the
   * branch and the worktree are as they were, and the work must not land from here.
   */
  unfinished?: { doing: Operation | 'work on another branch'; paths: string[] }
  /** Refs that hold what it left besides its branch: its stash, other branches, tags, notes, and what it had only staged. */
  kept?: string[]
  /** What of its repository could not be taken in, or is not as it should be; it stays where it is. */
  problem?: string
  /** Somebody committed on its branch in the project, and that is part of the tip. */
  followed?: boolean
  /** Where somebody moved its branch in the project to, if that is no part of the tip. It stays there. */
  apart?: string
}

const MARKERS = /^<{7} .*^={7}$.*^>{7} /ms

export const COMMIT = ['commit', '--quiet', '--no-verify', '--allow-empty', '--cleanup=whitespace', '-F', '-']

/** What the commit of these did. Not where files came and went at once: git may call that a rename. */
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

/** What a merge under way met as conflicts, also those that were staged since: staging is not resolving. Byte names. */
export function conflictsMet(gitDir: string): string[] {
  const text = readPlainFile(join(gitDir, 'MERGE_MSG'), { refuseLinks: true })?.toString('latin1') ?? ''
  // Behind whatever begins a comment there.
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
