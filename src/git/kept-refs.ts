import { NotAllowed } from '../domain/errors.ts'
import { usesOf } from './checkouts.ts'
import { branchTip, type Repository, readRef } from './layout.ts'
import { git } from './run.ts'

export const keptRef = (mission: string, n: number): string => `refs/fleet/${mission}/${n}`

/** Whether we may delete a branch: nobody has it checked out, and its work is kept. */
export async function canLetGo(repo: Repository, branch: string, kept: string): Promise<boolean> {
  const tip = await branchTip(repo, branch)
  return (!tip || tip === kept) && !(await usesOf(repo, branch)).length
}

/** Keeps a commit under one of our refs and, in the same transaction, deletes its branch. */
export async function keepRef(
  repo: Repository,
  kept: { ref: string; oid: string; deleteBranch?: string },
): Promise<void> {
  const keep = `update ${kept.ref}\0${kept.oid}\0\0`
  const branch = kept.deleteBranch && `refs/heads/${kept.deleteBranch}`
  const tip = branch && (await readRef(repo, branch))
  if (tip && tip !== kept.oid)
    throw new NotAllowed(`The branch ${kept.deleteBranch} has moved on, so it is not deleted.`, {
      facts: { tip, kept: kept.oid },
    })
  if (!tip) return transaction(repo, [keep])
  await transaction(repo, [keep, `delete ${branch}\0${tip}\0`]).catch(async failure => {
    if (await readRef(repo, branch)) throw failure
    // Another process did the same at once and was first to delete it.
    await transaction(repo, [keep])
  })
}

/** Drops a ref that was kept for something that did not happen. */
export const dropRef = (repo: Repository, ref: string): Promise<void> => transaction(repo, [`delete ${ref}\0\0`])

async function transaction(repo: Repository, commands: string[]): Promise<void> {
  await git(repo.commonDir, ['update-ref', '-z', '--stdin'], { effect: 'git.update-ref', input: commands.join('') })
}
