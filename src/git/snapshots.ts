import { NotAllowed } from '../domain/errors.ts'
import { withIndexCopy } from './changes.ts'
import { commitTree } from './commits.ts'
import { keepRef } from './kept-refs.ts'
import type { Repository } from './layout.ts'
import { shownName } from './names.ts'
import { placeStatus } from './private/below.ts'
import { withLiveGit } from './private/live.ts'
import { placeAt } from './private/place.ts'
import { gitText, type Within } from './run.ts'
import { readStatus, sift, stage, unstage, type WorktreeStatus } from './status.ts'

export interface Snapshot {
  worktree: string
  message: string
  /** The ref that keeps it from garbage collection. */
  ref: string
  /** Files, or folders, that must not be committed: copied secrets. */
  never: readonly string[]
  /** The sandbox of the agent that works there. */
  within?: Within
}

/** A commit of a worktree as it is now, including uncommitted changes. Branch, index and files stay as they are. */
export async function snapshot(repo: Repository, wanted: Snapshot): Promise<string> {
  const place = placeAt(wanted.worktree)
  const oid = place
    ? await withLiveGit(place, wanted.within, async ({ env }) =>
        snapshotWith(repo, wanted, await placeStatus(place, env), env),
      )
    : await withIndexCopy(wanted.worktree, async env =>
        snapshotWith(repo, wanted, await readStatus(wanted.worktree, { env }), env),
      )
  await keepRef(repo, { ref: wanted.ref, oid })
  return oid
}

async function snapshotWith(
  repo: Repository,
  { worktree, message, never }: Snapshot,
  status: WorktreeStatus,
  env: Record<string, string>,
): Promise<string> {
  if (status.unmerged.length)
    throw new NotAllowed(`Files are in conflict: ${status.unmerged.map(shownName).join(', ')}.`, {
      try: 'Resolve them first.',
    })
  const { take, left } = await sift({ worktree, never }, status.changed)
  if (!take.length) return status.oid
  await unstage(worktree, left, status.changed, env)
  await stage(worktree, take, env)
  const tree = await gitText(worktree, ['write-tree'], { env })
  return commitTree(repo, { tree, parents: [status.oid], message })
}
