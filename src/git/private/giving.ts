import { renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { effect } from '../../platform/effects.ts'
import { type Repository, readRef, readText } from '../layout.ts'
import { byteName } from '../names.ts'
import type { Within } from '../run.ts'
import type { Place } from './place.ts'
import { holdingCommit, packedFile, packedRefs, writeRef } from './refs.ts'
import { giveTags, tagsOf } from './tags.ts'
import { replaceFile } from './writing.ts'

/** What a place is given, besides what the project itself says. */
export interface Given {
  /** The project's base branch. */
  base: string
  /** Refs and commits that a session leaves are kept under its id. */
  session: string
  allowPush: boolean
  hooks: boolean
  /** Refs of the project that it is told of: the work of its sub-missions. */
  named?: readonly string[]
  /** The walls that whoever made what is checked out works behind. */
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
  const head = (await readText(join(repo.commonDir, 'refs/remotes/origin/HEAD')))?.trim()
  const target = head?.startsWith('ref: refs/remotes/origin/') ? head.slice('ref: '.length) : undefined
  const followed = target && (await readRef(repo, target))
  if (target && followed) named.set(byteName(target), followed)
  const tags = await tagsOf(repo, named.get(byteName(`refs/heads/${record.base}`)) ?? start)
  const held = await holdingCommit(repo, [start, ...named.values(), ...tags.commits])
  if (held) await writeRef(repo, record.ref, held)
  await giveTags(git, tags)
  const given = new Map([...tags.refs, ...named])
  replaceFile(join(folder, 'given'), packedFile(given))
  if (target && followed) replaceFile(join(git, 'refs/remotes/origin/HEAD'), `ref: ${target}\n`)
  await refresh(git, before, given)
}

/** What the agent changed or added stays; what it left as it was given is brought up to date. */
async function refresh(git: string, before: Map<string, string>, given: Map<string, string>): Promise<void> {
  const packed = packedRefs(join(git, 'packed-refs'))
  for (const [ref, oid] of before) if (packed.get(ref) === oid && !given.has(ref)) packed.delete(ref)
  for (const [ref, oid] of given) {
    const now = packed.get(ref)
    if (now === undefined || now === before.get(ref)) packed.set(ref, oid)
  }
  replaceFile(join(git, 'packed-refs'), packedFile(packed))
}

/**
 * Tells a session at work that the base branch moved. Its own git is kept out by the lock that git itself uses, which
 * also follows no link; where the agent holds it, or has moved the branch itself, it is told at its next start.
 */
export async function tellBase({ git, folder, record }: Place, repo: Repository): Promise<void> {
  const tip = await readRef(repo, `refs/heads/${record.base}`)
  const ref = byteName(`refs/heads/${record.base}`)
  const given = packedRefs(join(folder, 'given'))
  const before = given.get(ref)
  if (!tip || tip === before) return
  const lock = join(git, 'packed-refs.lock')
  try {
    writeFileSync(lock, '', { flag: 'wx' })
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return
    throw error
  }
  const packed = packedRefs(join(git, 'packed-refs'))
  if (packed.get(ref) === before) packed.set(ref, tip)
  await effect('git.update-ref', () => {
    replaceFile(join(folder, 'given'), packedFile(given.set(ref, tip)))
    writeFileSync(lock, packedFile(packed))
    renameSync(lock, join(git, 'packed-refs'))
  })
}
