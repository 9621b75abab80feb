import { join } from 'node:path'
import { effect } from '../../platform/effects.ts'
import { type Repository, readRef, symbolicRef } from '../layout.ts'
import { byteName } from '../names.ts'
import type { Within } from '../run.ts'
import { writes } from '../writes/index.ts'
import type { Place } from './place.ts'
import { holdingCommit, writeRef } from './project-refs.ts'
import { packedFile, packedRefs } from './refs.ts'
import { giveTags, tagsOf } from './tags.ts'
import { replaceFile } from './writing.ts'

/** What a place is given besides the project's own settings. */
export interface Given {
  /** The project's base branch. */
  base: string
  /** Refs and commits that a session leaves are kept under its id. */
  session: string
  allowPush: boolean
  hooks: boolean
  /** Only these folders are checked out, besides the files above them; empty: what the project's own checkout has. */
  sparse?: readonly string[]
  /** Refs of the project that it may see: the work of its sub-missions. */
  named?: readonly string[]
  /** The sandbox of the agent whose work is checked out. */
  within?: Within
}

/** The ref of the project that holds what a place was given. */
export const placeRef = (name: string): string => `refs/fleet/places/${name}`

/**
 * Gives the session's repository the refs it may know: the base branch, `origin/HEAD`, the remote's base branch and the
 * tags. Other missions' work, stash, replaced objects and logs are never among them. One ref of the project holds the
 * commits, because a branch deleted there and an ordinary `gc` would otherwise break the session's own git.
 */
export async function giveRefs(
  place: Place,
  repo: Repository,
  { start, named: told = [] }: { start: string; named?: readonly string[] },
): Promise<void> {
  const { git, folder, record } = place
  const before = packedRefs(join(folder, 'given'))
  const named = new Map<string, string>()
  for (const ref of [`refs/heads/${record.base}`, `refs/remotes/origin/${record.base}`, ...told]) {
    const oid = await readRef(repo, ref)
    if (oid) named.set(byteName(ref), oid)
  }
  const head = await symbolicRef(repo, 'refs/remotes/origin/HEAD')
  const target = head?.startsWith('refs/remotes/origin/') ? head : undefined
  const followed = target && (await readRef(repo, target))
  if (target && followed) named.set(byteName(target), followed)
  const tags = await tagsOf(repo, named.get(byteName(`refs/heads/${record.base}`)) ?? start)
  const held = await holdingCommit(repo, [start, ...named.values(), ...tags.commits])
  if (held) await writeRef(repo, record.ref, held)
  await giveTags(git, tags)
  const given = new Map([...tags.refs, ...named])
  replaceFile(join(folder, 'given'), packedFile(given))
  await writes().given(git, { before, now: given, originHead: followed && target })
}

/**
 * Tells a running session that the base branch moved. If that is not possible now, or if the agent moved the branch
 * itself, the session learns it at its next start.
 */
export async function tellBase({ git, folder, record }: Place, repo: Repository): Promise<void> {
  const tip = await readRef(repo, `refs/heads/${record.base}`)
  const ref = byteName(`refs/heads/${record.base}`)
  const given = packedRefs(join(folder, 'given'))
  const before = given.get(ref)
  if (!tip || tip === before) return
  await effect('git.update-ref', async () => {
    if (await writes().moved(git, ref, { before, now: tip }))
      replaceFile(join(folder, 'given'), packedFile(given.set(ref, tip)))
  })
}
