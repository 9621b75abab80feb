import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { AUTOSTASHES, operationIn } from '../checkouts.ts'
import { OID, readText, requireWorktree } from '../layout.ts'
import { shownName } from '../names.ts'
import { gitText, type Within } from '../run.ts'
import { sift } from '../status.ts'
import { isBeingMade } from '../worktrees.ts'
import { placeStatus } from './below.ts'
import { hiddenIn } from './hidden.ts'
import { isLinked, ourEnvironment, type Place, partsOf, placeAt, problemsOf } from './place.ts'
import { fileEnvironment } from './programs.ts'
import { takeAndHold } from './taking-in.ts'
import { isUntouched } from './untouched.ts'

/**
 * What no commit holds in a worktree, checked once more before it is removed: a process that outlived its session, or a
 * person, may have worked there since. New commits, stashes and branches are taken in.
 */
export async function unheld(worktree: string, never: readonly string[], within?: Within): Promise<string[]> {
  const place = placeAt(worktree)
  if (!place) return existsSync(worktree) ? unheldInLinked(worktree, never) : []
  const { problem } = await takeAndHold(place)
  const lost = new Set([...problemsOf(place), ...(problem ? [problem] : [])])
  return existsSync(worktree) ? [...lost, ...(await changedIn(place, never, within))] : [...lost]
}

/** The same for a linked worktree. Its commits and stashes are in the project already, unless no ref leads to them. */
async function unheldInLinked(worktree: string, never: readonly string[]): Promise<string[]> {
  const dirs = await requireWorktree(worktree).catch(() => undefined)
  // A place was being made or removed there: nobody worked in it, or the work was kept.
  if (!dirs && (await isLinked(partsOf(worktree)))) return []
  // Git no longer knows it, so nothing in it is known to be held.
  if (!dirs) return readdirSync(worktree).filter(name => name !== '.git' && !never.includes(name))
  if (await isBeingMade(dirs.gitDir)) return []
  const place = asPlace(worktree, dirs)
  const doing = await operationIn(dirs.gitDir)
  return [
    ...(doing ? [`a ${doing} that is under way`] : []),
    ...(await commitsOfNoRef(place)),
    ...(await changedIn(place, never, undefined)),
  ]
}

/**
 * Treats a linked worktree as a place whose repository is its record in the project, so that git is told where
 * everything is.
 */
function asPlace(worktree: string, { gitDir, commonDir }: { gitDir: string; commonDir: string }): Place {
  const project = { path: commonDir, gitDir: commonDir, commonDir, bare: false }
  const nothing = { branch: null, base: '', session: '', allowPush: false, hooks: false, sparse: [], ref: '' }
  const record = { version: 1 as const, worktree, ...project, ...nothing }
  return { worktree, folder: gitDir, git: gitDir, ours: gitDir, record }
}

/** Refs that belong to a linked worktree and go with it. */
const ITS_OWN_REFS = ['refs/bisect/*', 'refs/worktree/*', 'refs/rewritten/*']

async function commitsOfNoRef(place: Place): Promise<string[]> {
  const env = ourEnvironment(place)
  const stashed = await Promise.all(AUTOSTASHES.map(file => readText(join(place.git, file))))
  const tips = ['HEAD', ...stashed.flatMap(text => (text && OID.test(text.trim()) ? [text.trim()] : []))]
  const own = ITS_OWN_REFS.map(glob => `--glob=${glob}`)
  const others = [...ITS_OWN_REFS.map(glob => `--exclude=${glob}`), '--glob=refs/*']
  const args = ['log', '--max-count=5', '--format=%h %s', ...tips, ...own, '--not', ...others, '--']
  const listed = await gitText(place.worktree, args, { env })
  return listed.split('\n').flatMap(line => (line ? [`the commit ${line}`] : []))
}

const AS_COMMITTED = { changed: [], below: new Set<string>() }

async function changedIn(place: Place, never: readonly string[], within: Within | undefined): Promise<string[]> {
  const env = await fileEnvironment(place, { within })
  const { changed, below } = (await isUntouched(place)) ? AS_COMMITTED : await placeStatus(place, env)
  const { take, skipped } = await sift({ worktree: place.worktree, never }, changed)
  const copies = (path: string) => never.some(copy => path === copy || path.startsWith(`${copy}/`))
  const left = [...skipped, ...(await hiddenIn({ place, below }, env))].map(({ path }) => path)
  return [...new Set([...take.map(({ path }) => shownName(path)), ...left.filter(path => !copies(path))])]
}
