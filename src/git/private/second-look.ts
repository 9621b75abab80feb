import { existsSync } from 'node:fs'
import { shownName } from '../names.ts'
import type { Within } from '../run.ts'
import { sift } from '../status.ts'
import { placeStatus } from './below.ts'
import { hiddenIn } from './hidden.ts'
import { type Place, placeAt, problemsOf } from './place.ts'
import { fileEnvironment } from './programs.ts'
import { takeAndHold } from './taking-in.ts'

/**
 * What of a worktree no commit holds, looked at once more before it goes: a process that outlived its session, or a
 * person, may have been at work there since. Commits, stashes and branches that were made meanwhile are taken in.
 */
export async function unheld(worktree: string, never: readonly string[], within?: Within): Promise<string[]> {
  const place = placeAt(worktree)
  if (!place) return []
  const { problem } = await takeAndHold(place)
  const lost = new Set([...problemsOf(place), ...(problem ? [problem] : [])])
  return existsSync(worktree) ? [...lost, ...(await changedIn(place, never, within))] : [...lost]
}

async function changedIn(place: Place, never: readonly string[], within: Within | undefined): Promise<string[]> {
  const env = await fileEnvironment(place, { within })
  const { changed, below } = await placeStatus(place, env)
  const { take, skipped } = await sift({ worktree: place.worktree, never }, changed)
  const copies = (path: string) => never.some(copy => path === copy || path.startsWith(`${copy}/`))
  const left = [...skipped, ...(await hiddenIn({ place, below }, env))].map(({ path }) => path)
  return [...new Set([...take.map(({ path }) => shownName(path)), ...left.filter(path => !copies(path))])]
}
