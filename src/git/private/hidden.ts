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
 * What git passes over in a place without a word: everything below the worktree that is called `.git`, in ignored
 * folders too, and what was moved out of the way of the place's own repository. Not those that an index names
 * (`below`), which are looked at as submodules, and not clones in ignored folders that their remotes hold whole.
 */
export async function hiddenIn(at: Below, env: Environment): Promise<Skipped> {
  const { place, below } = at
  const hidden = asideIn(place)
  let judged = 0
  for (const { folder, kind } of await dotGits(place, env)) {
    if (below.has(pathOf(place.worktree, folder).toString('latin1'))) continue
    const shown = shownName(folder)
    if (kind === 'too long') hidden.push(tooLong(folder))
    else if (kind === 'unreadable') hidden.push({ path: shown, why: 'nobody may look into it' })
    else if (kind === 'file')
      hidden.push({ path: `${shown}/.git`, why: 'git passes over a file of this name; a worktree may lie there' })
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

/** More repositories than these are not looked into: they count as work. */
const MOST_JUDGED = 100
/**
 * So many folders are looked into, those nearest to the top first. In a larger worktree those that are ignored, and
 * further down, count as ignored with all that is in them; the others are looked into however many there are.
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

/** Neither does a link that was only written differently, nor a repository without any object or file of its own. */
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
