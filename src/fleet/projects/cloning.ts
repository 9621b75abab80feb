import { join } from 'node:path'
import { NotAllowed, NotFound, Refusal } from '../../domain/errors.ts'
import { newId } from '../../domain/ids.ts'
import { NewProject } from '../../domain/records/project.ts'
import { folderFor, gitAddress, requireFolderName } from '../../domain/rules/git-address.ts'
import { cloneInto, openRepository } from '../../git/index.ts'
import type { Ask } from '../commands.ts'
import type { Fleet } from '../fleet.ts'
import { derivedId } from '../records.ts'
import { repositoryRoots, requireInSight, requireWithinRoots } from './folders.ts'
import { createProject } from './projects.ts'

const MOST_AT_ONCE = 3
const MOST_REMEMBERED = 50
const LOOK_MS = 300

export interface CloneWish {
  address: string
  /** The folder to put it in; empty: the first root. */
  into?: string
  name?: string
}

/** How far a clone is. It is `done` with a project, or `failed` with a reason and advice. */
export interface CloneState {
  state: 'cloning' | 'done' | 'failed'
  text: string
  path: string
  project_id: string | null
  try: string | null
}

interface Clone {
  key: string
  look(): CloneState
  over: Promise<void>
}

/**
 * Clones live as long as the server. One that was cut off is asked for again: nothing is at its destination, but its
 * hidden folder `.<name>.<random>.cloning` stays beside it.
 */
const clones = new Map<string, Clone>()

/** Begins to clone a repository and answers at once. The same key again is the same clone. */
export function beginClone(
  fleet: Fleet,
  ask: Ask,
  { address: text, into, name }: CloneWish,
): { id: string; path: string } {
  const id = ask.key ? derivedId('clone', ask.actor, ask.key) : newId()
  const known = clones.get(id)
  if (known) return { id, path: known.look().path }
  const { address, folder } = gitAddress(text)
  const local = folder === undefined ? undefined : requireWithinRoots(fleet, folder)
  const root = into === undefined ? repositoryRoots(fleet)[0] : requireInSight(fleet, into)
  if (root === undefined) throw new NotAllowed('None of the folders in allowed_repos exists.')
  const path = join(root, name === undefined ? folderFor(address) : requireFolderName(name))
  requireRoom(path)
  const cloning = cloneInto(local === undefined ? address : wholeWithinRoots(fleet, local), path)
  let state: Omit<CloneState, 'path'> = { state: 'cloning', text: '', project_id: null, try: null }
  const over = cloning.done
    .then(() => createProject(fleet, { ...ask, key: undefined }, { ...NewProject.parse({}), path }, 'return'))
    .then(
      ({ value }) => {
        state = { state: 'done', text: `Cloned into ${path}`, project_id: value.id, try: null }
      },
      error => {
        const advice = error instanceof Refusal ? error.hint : undefined
        state = { state: 'failed', text: (error as Error).message, project_id: null, try: advice ?? null }
      },
    )
  const look = () => ({ ...state, path, ...(state.state === 'cloning' && { text: cloning.progress() }) })
  clones.set(id, { key: path, look, over })
  for (const [old, each] of clones)
    if (clones.size > MOST_REMEMBERED && each.look().state !== 'cloning') clones.delete(old)
  return { id, path }
}

/** A repository on this machine whose git directories are within the roots too: a file `.git` can name any. */
async function wholeWithinRoots(fleet: Fleet, folder: string): Promise<string> {
  const { path, gitDir, commonDir } = await openRepository(folder)
  // Git looks for a repository around a folder, and a clone would look beside it.
  if (path !== folder && gitDir !== folder)
    throw new NotAllowed(`${folder} cannot be cloned: there is no such repository.`, { try: 'Check the address.' })
  for (const each of [gitDir, commonDir]) requireWithinRoots(fleet, each)
  return folder
}

function requireRoom(path: string): void {
  const running = [...clones.values()].filter(each => each.look().state === 'cloning')
  if (running.some(each => each.key === path)) throw new NotAllowed(`A clone into ${path} is already in progress.`)
  if (running.length >= MOST_AT_ONCE)
    throw new NotAllowed(`${MOST_AT_ONCE} repositories are being cloned.`, { try: 'Wait until one is done.' })
}

/** The state of a clone, again whenever it changes, until it is over. */
export async function* followClone(id: string, signal: AbortSignal): AsyncIterable<CloneState> {
  const clone = clones.get(id)
  if (!clone) throw new NotFound('clone', id, { try: 'Start it again.' })
  let last = ''
  while (!signal.aborted) {
    const state = clone.look()
    const said = JSON.stringify(state)
    if (said !== last) yield state
    last = said
    if (state.state !== 'cloning') return
    await Promise.race([clone.over, pause(LOOK_MS, signal)])
  }
}

const pause = (ms: number, signal: AbortSignal): Promise<void> =>
  new Promise(resolve => {
    const done = () => {
      clearTimeout(timer)
      signal.removeEventListener('abort', done)
      resolve()
    }
    const timer = setTimeout(done, ms)
    signal.addEventListener('abort', done)
  })
