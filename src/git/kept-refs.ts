import { NotAllowed } from '../domain/errors.ts'
import { usesOf } from './checkouts.ts'
import { branchTip, type Repository, readRef } from './layout.ts'
import { dropRef, writeRef } from './private/project-refs.ts'
import { git } from './run.ts'

export const keptRef = (mission: string, n: number): string => `refs/fleet/${mission}/${n}`

/** Whether we may delete a branch: nobody has it checked out, and its work is kept. */
export async function canLetGo(repo: Repository, branch: string, kept: string): Promise<boolean> {
  const tip = await branchTip(repo, branch)
  return (!tip || tip === kept) && !(await usesOf(repo, branch)).length
}

/** Keeps a commit under one of our refs, and only then deletes its branch. */
export async function keepRef(
  repo: Repository,
  kept: { ref: string; oid: string; deleteBranch?: string },
): Promise<void> {
  const branch = kept.deleteBranch && `refs/heads/${kept.deleteBranch}`
  const tip = branch && (await readRef(repo, branch))
  if (tip && tip !== kept.oid)
    throw new NotAllowed(`The branch ${kept.deleteBranch} has moved on, so it is not deleted.`, {
      facts: { tip, kept: kept.oid },
    })
  await writeRef(repo, kept.ref, kept.oid)
  if (!tip) return
  await dropRef(repo, branch, tip).catch(async failure => {
    // Another process did the same at once and was first to delete it.
    if (await readRef(repo, branch)) throw failure
  })
}

/** How many refs and branches of ours a repository has. */
export async function countOurRefs({ commonDir }: Pick<Repository, 'commonDir'>): Promise<number> {
  const { stdout } = await git(commonDir, ['for-each-ref', '--format=%(refname)', 'refs/fleet/', 'refs/heads/fleet/'])
  return stdout.toString('utf8').split('\n').filter(Boolean).length
}
