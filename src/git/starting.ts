import { NotAllowed } from '../domain/errors.ts'
import { OID, type Repository, readRef } from './layout.ts'
import { gitText } from './run.ts'

/** The commit that a new worktree starts from: one that is named, or the tip of a branch. */
export async function startOf(repo: Repository, from: string): Promise<string> {
  if (OID.test(from)) return from
  const tip = await readRef(repo, `refs/heads/${from}`)
  return tip ?? gitText(repo.commonDir, ['rev-parse', '--verify', '--end-of-options', `${from}^{commit}`])
}

export const inTheWay = (path: string, head?: string): NotAllowed =>
  new NotAllowed(`${path} is in the way of a new worktree: ${head ? `it is on ${head}` : 'something else is there'}.`, {
    try: 'Move it elsewhere and try again.',
    facts: { path },
  })
