import { join } from 'node:path'
import { effect } from '../../platform/effects.ts'
import { byteName, textOf } from '../names.ts'
import { git } from '../run.ts'
import { takeLfs } from './lfs.ts'
import { holdLogged, onlyLogged } from './logged.ts'
import { borrowsElsewhere, releaseKeeps, takeEach } from './objects.ts'
import { type Place, placeAt, projectOf, tipOf } from './place.ts'
import { writeRef } from './project-refs.ts'
import { packedRefs } from './refs.ts'
import { type SessionState, stateOf } from './session-state.ts'

export interface TakenIn {
  state: SessionState
  /** The session's HEAD and branch, if the project has those commits now. */
  tip: string | undefined
  branch: string | undefined
  /** Refs of the project that hold commits outside its branch. */
  kept: string[]
  /** Why a person must look at it, whatever else happens. */
  problem: string | undefined
}

/** The refs for what a session left besides its branch: its stash, other branches, tags and notes. */
export const keptUnder = (session: string): string => `refs/fleet/sessions/${session}`

/**
 * Takes in what a session committed: its HEAD, its stash, every ref that it changed, and commits that only its logs
 * name. Without any of these, nothing is done. What is refused stays in the session's repository.
 */
export async function takeIn(place: Place, { maxBytes }: { maxBytes?: number } = {}): Promise<TakenIn> {
  const state = await stateOf(place)
  const known = tipOf(place)
  const foreign = borrowsElsewhere(place) ? 'its repository borrows objects from another one' : undefined
  const given = packedRefs(join(place.folder, 'given'))
  const itsBranch = byteName(`refs/heads/${place.record.branch}`)
  const fromProject = [...given].flatMap(([ref, oid]) => (ref.startsWith('refs/tags/') || ref === itsBranch ? [] : oid))
  const had = new Set([known, ...fromProject])
  const wanted = [state.tip, state.branch, ...state.merging, ...state.own.values(), ...state.stashes].filter(
    oid => oid !== undefined,
  )
  const under = keptUnder(place.record.session)
  const logged = await onlyLogged(place, state.named, { held: [...fromProject, ...wanted, ...state.remote], under })
  const tips = [...new Set([...wanted, ...logged.tips])].filter(oid => !had.has(oid))
  const refused = tips.length ? await takeEach(place, { tips, not: [...had].filter(Boolean), maxBytes }) : new Map()
  const held = (oid: string | undefined) => (oid && !refused.has(oid) ? oid : undefined)
  const named = tips.length > refused.size ? await keep(place, state, held) : []
  const kept = [...named, ...(await holdLogged(place, logged.tips.filter(held), under))]
  if (tips.length) releaseKeeps(place)
  // The pointer may not be committed yet, but its file counts already.
  const missing = await effect('git.take-in', () => takeLfs(place, maxBytes))
  const problem = refusal(state, logged.tips, refused) ?? state.problem ?? foreign ?? logged.problem ?? missing
  return { state, tip: held(state.tip), branch: held(state.branch), kept, problem }
}

/** Which commits were refused, and why. */
function refusal(
  { tip, branch, own, stashes }: SessionState,
  logged: readonly string[],
  refused: ReadonlyMap<string, string>,
) {
  const [why] = refused.values()
  if (why === undefined) return undefined
  const names = [
    ...(tip && refused.has(tip) ? ['HEAD'] : []),
    ...(branch && branch !== tip && refused.has(branch) ? ['its branch'] : []),
    ...[...own].flatMap(([ref, oid]) => (refused.has(oid) ? [ref] : [])),
    ...stashes.flatMap(oid => (refused.has(oid) ? ['a stash'] : [])),
    ...(logged.some(oid => refused.has(oid)) ? ['what only its logs name'] : []),
  ]
  const more = names.length > MOST_NAMED ? [`${names.length - MOST_NAMED} more`] : []
  return names.length ? `${why} (${[...names.slice(0, MOST_NAMED), ...more].join(', ')})` : why
}

const MOST_NAMED = 5

/** Takes in what a session has committed so far and holds it by refs of the project. */
export async function keepTip(worktree: string): Promise<void> {
  const place = placeAt(worktree)
  if (place) await takeAndHold(place)
}

export async function takeAndHold(place: Place): Promise<TakenIn> {
  const taken = await takeIn(place)
  const { tip, branch } = taken
  const under = keptUnder(place.record.session)
  const known = tipOf(place)
  if (tip && tip !== known) await writeRef(projectOf(place), `${under}/live`, tip)
  if (branch && branch !== known && branch !== tip) await writeRef(projectOf(place), `${under}/live-branch`, branch)
  return taken
}

async function keep(
  place: Place,
  { tip, head, own, stashes }: SessionState,
  held: (oid: string) => string | undefined,
): Promise<string[]> {
  const named = new Map<string, string>()
  const give = (name: string, oid: string): void => {
    if (held(oid)) named.set(name, oid)
  }
  for (const [ref, oid] of own) {
    const name = isRefName(ref) ? keptName(ref) : undefined
    give(name && !named.has(name) ? name : `unnamed/${oid}`, oid)
  }
  for (const [n, oid] of stashes.entries()) give(`stashes/${n}`, oid)
  if (tip && head !== place.record.branch) give('HEAD', tip)
  if (!named.size) return []
  const write = async (under: string) => {
    await git(place.record.commonDir, ['update-ref', '-z', '--stdin'], {
      effect: 'git.update-ref',
      input: [...named].map(([name, oid]) => `update ${under}/${name}\0${oid}\0\0`).join(''),
    })
    return [...named.keys()].map(name => `${under}/${name}`)
  }
  const under = keptUnder(place.record.session)
  // A branch `a/b` may follow one that was called `a` when the session was last looked at.
  return write(under).catch(() => write(`${under}/later-${Date.now()}`))
}

/** A name that people can type. If it is not UTF-8, each byte beyond ASCII becomes %XX. */
const keptName = (ref: string): string => {
  const name = ref.slice('refs/'.length)
  return textOf(name) ?? name.replace(/[\x80-\xff]/g, byte => `%${byte.charCodeAt(0).toString(16).toUpperCase()}`)
}

/** Whether git accepts it as the name of a ref: anything may be in a session's folders. */
const isRefName = (ref: string): boolean =>
  /^refs\/[^/.]/.test(ref) &&
  /^[!-}\x80-\xff]+$/.test(ref) &&
  !/[~^:?*[\\]|\.\.|@\{|\/\/|\/\.|\.lock(\/|$)|[./]$/.test(ref)
