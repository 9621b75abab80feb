import { lstatSync, readdirSync } from 'node:fs'
import { basename, join, relative } from 'node:path'
import { shownName } from '../names.ts'
import { readPlainFile } from '../plain-files.ts'
import { byteFields, git } from '../run.ts'
import { pathOf, type Skipped, tooLong } from '../status.ts'
import { type Below, hasOwnWork } from './below.ts'
import { isSetAside, SET_ASIDE } from './nested.ts'
import type { Place } from './place.ts'
import { foldersIn } from './walking.ts'

type Environment = Record<string, string>

/**
 * What git silently ignores in a place: everything below the worktree that is called `.git`, also in ignored folders,
 * and whatever was moved away to restore the place's own repository. It leaves out repositories that an index names
 * (`below`), which are checked as submodules, and clones in ignored folders whose remotes have everything.
 */
export async function hiddenIn(at: Below, env: Environment): Promise<Skipped> {
  const { place, below } = at
  const hidden = asideIn(place)
  let judged = 0
  for (const { folder, kind } of await dotGits(place, env)) {
    if (below.has(pathOf(place.worktree, folder).toString('latin1'))) continue
    const shown = shownName(folder)
    if (kind === 'too long') hidden.push(tooLong(folder))
    else if (kind === 'unreadable') hidden.push({ path: shown, why: 'it cannot be read' })
    else if (kind === 'file')
      hidden.push({ path: `${shown}/.git`, why: 'git ignores a file of this name, and a worktree may be there' })
    else if (++judged > MOST_JUDGED || (await hasOwnWork(at, folder, env)))
      hidden.push({
        path: `${shown}/.git`,
        why: OWN + (isSetAside(pathOf(place.worktree, `${folder}/.git`)) ? ASIDE : ''),
      })
  }
  return hidden
}

const OWN = 'it is a git repository of its own'
const ASIDE = `; what made git run programs there is now in its folder ${SET_ASIDE}`

/** At most this many repositories are looked into. More count as work. */
const MOST_JUDGED = 100
/**
 * At most this many folders are looked into, the nearest to the top first. Beyond that, ignored folders count as
 * ignored with all they contain. Other folders are always looked into.
 */
const MOST_FOLDERS = 20_000

interface DotGit {
  /** A byte name below the worktree. */
  folder: string
  kind: 'folder' | 'file' | 'unreadable' | 'too long'
}

async function dotGits({ worktree }: Place, env: Environment): Promise<DotGit[]> {
  const found: DotGit[] = []
  let ignored: ReadonlySet<string> | undefined
  let seen = 0
  const goesInto = async (folder: string): Promise<boolean> => {
    if (folder === '.git' || folder.endsWith('/.git')) return false
    if (++seen <= MOST_FOLDERS) return true
    ignored ??= await ignoredFolders(worktree, env)
    return !isBelow(folder, ignored)
  }
  for await (const { folder, entries, failure } of foldersIn(worktree, { goesInto })) {
    if (failure && failure !== 'ENOENT')
      found.push({ folder, kind: failure === 'ENAMETOOLONG' ? 'too long' : 'unreadable' })
    const dotGit = folder && entries.find(entry => entry.name.toString('latin1') === '.git')
    if (dotGit) found.push({ folder, kind: dotGit.isDirectory() ? 'folder' : 'file' })
  }
  return found
}

async function ignoredFolders(worktree: string, env: Environment): Promise<ReadonlySet<string>> {
  const args = ['ls-files', '--others', '--ignored', '--exclude-standard', '--directory', '-z']
  const listed = byteFields((await git(worktree, args, { env })).stdout)
  return new Set(listed.flatMap(path => (path.endsWith('/') ? [path.slice(0, -1)] : [])))
}

function isBelow(folder: string, folders: ReadonlySet<string>): boolean {
  const steps = folder.split('/')
  return steps.some((_, i) => folders.has(steps.slice(0, i + 1).join('/')))
}

function asideIn({ folder }: Place): Skipped {
  return readdirSync(folder).flatMap(name => {
    const path = join(folder, name)
    return name.startsWith('replaced-') && mayHoldWork(path)
      ? [{ path, why: "the agent put it in the place of the mission's own repository" }]
      : []
  })
}

/** What git writes into a repository, or for a worktree, in which nobody has worked. */
const MADE_BY_GIT = /^(HEAD|config|config\.worktree|description|commondir|gitdir|info\/exclude|hooks\/[\w-]+\.sample)$/

/**
 * Whether it may hold work. A link that was only written differently does not, nor does a repository without any object
 * or file of its own.
 */
function mayHoldWork(aside: string): boolean {
  if (!lstatSync(aside).isDirectory()) {
    const content = readPlainFile(aside, { refuseLinks: true, maxBytes: 16_384 })
    return !content?.toString('latin1').startsWith('gitdir: ')
  }
  const isOfWorktrees = basename(aside).startsWith('replaced-worktrees-')
  const entries = readdirSync(aside, { recursive: true, withFileTypes: true, encoding: 'utf8' })
  return entries.some(entry => {
    if (entry.isDirectory()) return false
    const path = relative(aside, join(entry.parentPath, entry.name))
    return !entry.isFile() || !MADE_BY_GIT.test(isOfWorktrees ? path.replace(/^[^/]+\//, '') : path)
  })
}
