import { effect } from '../../platform/effects.ts'
import { type Repository, readRef } from '../layout.ts'
import { byGit } from '../writes/by-git.ts'
import { writes } from '../writes/index.ts'
import { asksGit } from '../writes/mode.ts'

/** Sets a ref of the project. */
export async function writeRef({ commonDir }: Pick<Repository, 'commonDir'>, ref: string, oid: string): Promise<void> {
  await effect('git.update-ref', async () => {
    if ((await readRef({ commonDir }, ref)) === oid) return
    await (asksGit(commonDir) ? byGit : writes()).ref(commonDir, ref, oid)
  })
}

/** Deletes a ref of the project, if there is one: at this commit, or wherever it is. */
export async function dropRef(repo: Pick<Repository, 'commonDir'>, ref: string, at?: string): Promise<void> {
  const oid = await readRef(repo, ref)
  if (!oid) return
  const { noRef } = asksGit(repo.commonDir) ? byGit : writes()
  await effect('git.update-ref', () => noRef(repo.commonDir, ref, at ?? oid))
}

/** A commit that holds others: what a session was given stays as long as a ref names this commit. */
export async function holdingCommit(
  { commonDir }: Repository,
  commits: readonly string[],
): Promise<string | undefined> {
  const parents = [...new Set(commits)].sort()
  const [first] = parents
  if (!first) return undefined
  const format = first.length === 64 ? 'sha256' : 'sha1'
  const nobody = 'Flotilla <fleet@localhost> 0 +0000'
  const tree = await writes().object(commonDir, { type: 'tree', format, content: Buffer.alloc(0) })
  const text = `tree ${tree}\n${parents.map(parent => `parent ${parent}\n`).join('')}author ${nobody}\ncommitter ${nobody}\n\nHeld for a session\n`
  return writes().object(commonDir, { type: 'commit', format, content: Buffer.from(text) })
}
