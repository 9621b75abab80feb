import { NotAllowed } from '../domain/errors.ts'
import { type Repository, readRef } from './layout.ts'
import { fields, git } from './run.ts'

const ROOT = 'refs/fleet/'

export const keptRef = (mission: string, n: number): string => `${ROOT}${mission}/${n}`

/** Keeps a commit under a ref of ours and, in the same transaction, lets go of the branch that held it. */
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
    // Whoever does the same at once was first to let go of it.
    await transaction(repo, [keep])
  })
}

export interface KeptRef {
  ref: string
  oid: string
  /** When its commit was made. */
  at: string
}

export async function keptRefs(repo: Repository, mission?: string): Promise<KeptRef[]> {
  const format = '--format=%(refname)%00%(objectname)%00%(committerdate:iso-strict)%00'
  const parts = fields(
    (await git(repo.commonDir, ['for-each-ref', format, mission ? `${ROOT}${mission}/` : ROOT])).stdout,
  )
  return Array.from({ length: Math.floor(parts.length / 3) }, (_, i) => ({
    ref: parts[i * 3]!.trim(),
    oid: parts[i * 3 + 1]!,
    at: parts[i * 3 + 2]!,
  }))
}

/** Only refs of ours; one that is gone already is no failure. */
export async function dropRefs(repo: Repository, refs: readonly string[]): Promise<void> {
  const foreign = refs.find(ref => !ref.startsWith(ROOT))
  if (foreign) throw new NotAllowed(`${foreign} is not a ref that Flotilla keeps.`)
  if (refs.length)
    await transaction(
      repo,
      refs.map(ref => `delete ${ref}\0\0`),
    )
}

async function transaction(repo: Repository, commands: string[]): Promise<void> {
  await git(repo.commonDir, ['update-ref', '-z', '--stdin'], { effect: 'git.update-ref', input: commands.join('') })
}
