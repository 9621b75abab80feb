import type { Repository } from '../layout.ts'
import type { Refs } from '../private/refs.ts'

/**
 * Everything that Flotilla writes in the form of git's own files. A process costs more than such a write, so `plain`
 * writes the files itself; `byGit` has git do the same, for a git that keeps them in another way. Text that git
 * documents for people to edit (config, exclude, alternates, the link in `.git`) is written as text by both.
 */
export interface Writes {
  /** Sets a ref of a project. */
  ref(commonDir: string, ref: string, oid: string): Promise<void>
  /** Deletes a ref of a project. It fails if the ref is not at this commit. */
  noRef(commonDir: string, ref: string, oid: string): Promise<void>
  /** Stores an object in a project. The answer is its id. */
  object(commonDir: string, object: NewObject): Promise<string>
  /** Records a linked worktree in the project and links it. The answer is its git directory. */
  worktree(repo: Repository, wanted: NewRecord): Promise<string>
  /** Makes an empty git directory, unless there is one. */
  gitDir(folder: string, commit: string): Promise<void>
  /** Sets a branch of a session's repository, whatever is in its way. */
  branch(gitDir: string, branch: string, oid: string): Promise<void>
  /** Puts HEAD on a branch, or on a commit. */
  head(gitDir: string, at: { branch: string } | { commit: string }, env?: Record<string, string>): Promise<void>
  /** Brings the refs that a session was given up to date, and leaves those that the agent changed. */
  given(gitDir: string, refs: GivenRefs): Promise<void>
  /** Tells a running session that one ref moved. Answers whether it could. */
  moved(gitDir: string, ref: string, move: { before: string | undefined; now: string }): Promise<boolean>
}

export interface NewObject {
  type: 'tree' | 'commit'
  format: 'sha1' | 'sha256'
  content: Buffer
}

export interface NewRecord {
  path: string
  /** The name of its record. */
  name: string
  /** Why nobody may prune it. */
  lock: string
  /** What is checked out: this branch, or without one the commit itself. */
  branch: string | undefined
  start: string
}

export interface GivenRefs {
  before: Refs
  now: Refs
  /** What `origin/HEAD` stands for. */
  originHead: string | undefined
}
