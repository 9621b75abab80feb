import { join } from 'node:path'
import { effect } from '../../effects.ts'
import { textOf } from '../names.ts'
import { git } from '../run.ts'
import { takeLfs } from './lfs.ts'
import { tipOf } from './making.ts'
import { borrowsElsewhere, NotTakenIn, releaseKeeps, takeObjects } from './objects.ts'
import { type Place, placeAt, projectOf } from './place.ts'
import { packedRefs, writeRef } from './refs.ts'
import { type SessionState, stateOf } from './session-state.ts'

export interface TakenIn {
  state: SessionState
  /** Where the session's HEAD and its branch are, if the project has those commits now. */
  tip: string | undefined
  branch: string | undefined
  /** Refs of the project that hold what is not on its branch. */
  kept: string[]
  /** Why a person must look at it, whatever else happens. */
  problem: string | undefined
}

/** What is kept of a session besides its branch: its stash, other branches, tags and notes. */
export const keptUnder = (session: string): string => `refs/fleet/sessions/${session}`

/**
 * Takes in what a session committed: the commits of its HEAD, its stash and every ref that is not as it was given. Where
 * the agent made none of these, nothing is done. What is refused stays in the session's repository.
 */
export async function takeIn(place: Place, { maxBytes }: { maxBytes?: number } = {}): Promise<TakenIn> {
  const repo = projectOf(place)
  const state = await stateOf(place)
  const known = tipOf(place)
  const foreign = borrowsElsewhere(place) ? 'its repository borrows objects from another one' : undefined
  const given = packedRefs(join(place.folder, 'given'))
  const had = new Set([known, ...[...given].flatMap(([ref, oid]) => (ref.startsWith('refs/tags/') ? [] : [oid]))])
  const wanted = [state.tip, state.branch, ...state.merging, ...state.own.values(), ...state.stashes].filter(
    oid => oid !== undefined,
  )
  const tips = [...new Set(wanted)].filter(oid => !had.has(oid))
  const problem = state.problem ?? foreign
  if (!tips.length) return { state, tip: state.tip, branch: state.branch, kept: [], problem }
  const not = [...had].filter(Boolean)
  try {
    await takeObjects(place, { tips, not, maxBytes })
  } catch (failure) {
    if (!(failure instanceof NotTakenIn)) throw failure
    const ifHad = (oid: string | undefined) => (oid && had.has(oid) ? oid : undefined)
    return { state, tip: ifHad(state.tip), branch: ifHad(state.branch), kept: [], problem: failure.message }
  }
  const kept = await keep(place, state, repo)
  releaseKeeps(place)
  const missing = await effect('git.take-in', () => takeLfs(place, maxBytes))
  return { state, tip: state.tip, branch: state.branch, kept, problem: problem ?? missing }
}

/** Takes in what a session has committed so far, and holds it by a ref of the project. */
export async function keepTip(worktree: string): Promise<void> {
  const place = placeAt(worktree)
  if (!place) return
  const { tip } = await takeIn(place)
  if (tip && tip !== tipOf(place)) await writeRef(projectOf(place), `${keptUnder(place.record.session)}/live`, tip)
}

async function keep(
  place: Place,
  { tip, head, own, stashes }: SessionState,
  repo: ReturnType<typeof projectOf>,
): Promise<string[]> {
  const named = new Map<string, string>()
  for (const [ref, oid] of own) {
    const name = isRefName(ref) ? keptName(ref) : undefined
    named.set(name && !named.has(name) ? name : `unnamed/${oid}`, oid)
  }
  for (const [n, oid] of stashes.entries()) named.set(`stashes/${n}`, oid)
  if (tip && head !== place.record.branch) named.set('HEAD', tip)
  if (!named.size) return []
  const write = async (under: string) => {
    await git(repo.commonDir, ['update-ref', '-z', '--stdin'], {
      effect: 'git.update-ref',
      input: [...named].map(([name, oid]) => `update ${under}/${name}\0${oid}\0\0`).join(''),
    })
    return [...named.keys()].map(name => `${under}/${name}`)
  }
  const under = keptUnder(place.record.session)
  // A branch `a/b` may follow one that was called `a` when the session was last looked at.
  return write(under).catch(() => write(`${under}/later-${Date.now()}`))
}

/** A name that people can type: what is not UTF-8 has each byte beyond ASCII as %XX. */
const keptName = (ref: string): string => {
  const name = ref.slice('refs/'.length)
  return textOf(name) ?? name.replace(/[\x80-\xff]/g, byte => `%${byte.charCodeAt(0).toString(16).toUpperCase()}`)
}

/** What git would take for the name of a ref; anything may lie in a session's folders. */
const isRefName = (ref: string): boolean =>
  /^refs\/[^/.]/.test(ref) &&
  /^[!-}\x80-\xff]+$/.test(ref) &&
  !/[~^:?*[\\]|\.\.|@\{|\/\/|\/\.|\.lock(\/|$)|[./]$/.test(ref)
