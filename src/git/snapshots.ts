import { NotAllowed } from '../domain/errors.ts'
import { withIndexCopy } from './changes.ts'
import { commitTree } from './commits.ts'
import { keepRef } from './kept-refs.ts'
import type { Repository } from './layout.ts'
import { readStatus, sift, stage, unstage } from './leftovers.ts'
import { gitText, type Within } from './run.ts'

export interface Snapshot {
  worktree: string
  message: string
  /** Keeps it from being collected. */
  ref: string
  /** Files, or folders, that must not be committed: copied secrets. */
  never: readonly string[]
  /** For looking into submodules. */
  within?: Within
}

/** A commit of a worktree as it is now, what is not committed included. Branch, index and files stay as they are. */
export async function snapshot(repo: Repository, { worktree, message, ref, never, within }: Snapshot): Promise<string> {
  const status = await readStatus(worktree, within)
  if (status.unmerged.length)
    throw new NotAllowed(`Files are in conflict: ${status.unmerged.join(', ')}.`, { try: 'Resolve them first.' })
  const { take, skipped } = await sift({ worktree, never }, status.changed)
  if (!take.length) {
    await keepRef(repo, { ref, oid: status.oid })
    return status.oid
  }
  const tree = await withIndexCopy(worktree, async env => {
    await unstage(worktree, skipped, status.changed, env)
    await stage(worktree, take, env)
    return gitText(worktree, ['write-tree'], { env })
  })
  const oid = await commitTree(repo, { tree, parents: [status.oid], message })
  await keepRef(repo, { ref, oid })
  return oid
}
