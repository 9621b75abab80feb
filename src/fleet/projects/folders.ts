import { type Dirent, lstatSync, opendirSync } from 'node:fs'
import { homedir } from 'node:os'
import { basename, dirname, isAbsolute, join, sep } from 'node:path'
import { setImmediate as breathe } from 'node:timers/promises'
import { Forbidden, InvalidInput } from '../../domain/errors.ts'
import type { Fleet } from '../fleet.ts'
import { existingFolder, realFolder } from './projects.ts'

/** Bounds what is read, whatever a disk holds. */
const MOST_LISTED = 1000
const MOST_SEARCHED = 4000
const MOST_ENTRIES = 2000
const DEEPEST = 4
const LONGEST_MS = 2000
/** Folders that are large and hold no repositories of people. */
const UNWANTED = new Set(['node_modules', 'vendor', 'venv', '__pycache__', 'target', 'Library', 'snap'])

export interface Folder {
  name: string
  path: string
  is_repository: boolean
}

/** The folders in which the page finds, browses and clones repositories: those allowed, or the person's own. */
export function repositoryRoots(fleet: Fleet): string[] {
  const { allowedRepos } = fleet.settings
  const roots = allowedRepos.length ? allowedRepos : [fleet.environment.HOME || homedir()]
  return [...new Set(roots.flatMap(root => existingFolder(root) ?? []))]
}

const isWithin = (path: string, root: string): boolean =>
  path === root || path.startsWith(root.endsWith(sep) ? root : root + sep)

/** A folder within the roots. Links are followed before it is compared, so none leads out. */
export function requireWithinRoots(fleet: Fleet, path: string): string {
  return checkedFolder(path, each => requireWithin(fleet, each, path))
}

/** One that is not hidden either: programs keep keys and settings in hidden folders, and run what is in some of them. */
export function requireInSight(fleet: Fleet, path: string): string {
  return checkedFolder(path, each => {
    requireWithin(fleet, each, path)
    if (!repositoryRoots(fleet).some(root => isWithin(each, root) && !isHidden(each, root)))
      throw new Forbidden(`${path} is a hidden folder, or is in one.`, { try: 'Choose a folder that is not hidden.' })
  })
}

/** Checked before it is looked up too: a stranger to the roots does not learn what exists. */
function checkedFolder(path: string, check: (path: string) => void): string {
  if (!isAbsolute(path)) throw new InvalidInput('path', 'must be absolute, such as /home/me/projects')
  check(path)
  const real = realFolder(path)
  check(real)
  return real
}

function requireWithin(fleet: Fleet, path: string, asked: string): void {
  const roots = repositoryRoots(fleet)
  const isOutside = path.split(sep).includes('..') || !roots.some(root => isWithin(path, root))
  if (isOutside || isWithin(path, fleet.home.path))
    throw new Forbidden(`${asked} is outside the folders that can be browsed: ${roots.join(', ')}.`, {
      try: 'Type the path of the repository instead, or add its folder to allowed_repos in the settings.',
    })
}

/** Below its root. A git directory is hidden even where it is a root. */
const isHidden = (path: string, root: string): boolean =>
  path
    .slice(root.length)
    .split(sep)
    .some(name => name.startsWith('.')) || path.toLowerCase().split(sep).includes('.git')

export interface Listing {
  roots: string[]
  path: string
  /** Null: a root. */
  parent: string | null
  is_repository: boolean
  folders: Folder[]
  more: boolean
}

/** The folders in a folder: their names and whether they are repositories, nothing of what they contain. */
export function browse(fleet: Fleet, wanted: string | undefined): Listing {
  const roots = repositoryRoots(fleet)
  const path = wanted === undefined ? roots[0] : requireInSight(fleet, wanted)
  if (path === undefined)
    throw new InvalidInput('allowed_repos', 'none of its folders exists.', { try: 'Change it in the settings.' })
  const { entries, more } = foldersIn(path, MOST_LISTED)
  return {
    roots,
    path,
    parent: roots.includes(path) ? null : dirname(path),
    is_repository: isRepository(path),
    folders: entries
      .map(({ name }) => ({ name, path: join(path, name), is_repository: isRepository(join(path, name)) }))
      .filter(each => each.path !== fleet.home.path)
      .sort((one, other) => one.name.localeCompare(other.name, 'en', { numeric: true })),
    more,
  }
}

export interface FoundRepository {
  name: string
  path: string
  used_at: string
}

/** Repositories within the roots that are no projects yet, those used last first. */
export async function findRepositories(
  fleet: Fleet,
  { limit, now = performance.now.bind(performance) }: { limit: number; now?: () => number },
): Promise<{ roots: string[]; repositories: FoundRepository[]; complete: boolean }> {
  const roots = repositoryRoots(fleet)
  const until = now() + LONGEST_MS
  const found: FoundRepository[] = []
  const queue = roots.map(path => ({ path, depth: 0 }))
  let searched = 0
  for (let next = queue.shift(); next; next = queue.shift()) {
    const { path, depth } = next
    if (searched++ >= MOST_SEARCHED || now() > until) break
    // Others are served between two folders.
    if (searched % 50 === 0) await breathe()
    const used = usedAt(path)
    if (used) found.push({ name: basename(path), path, used_at: used })
    else if (depth < DEEPEST && path !== fleet.home.path)
      for (const { name } of foldersIn(path, MOST_ENTRIES).entries)
        if (!UNWANTED.has(name)) queue.push({ path: join(path, name), depth: depth + 1 })
  }
  const complete = queue.length === 0
  const sorted = found.sort((one, other) => other.used_at.localeCompare(one.used_at))
  const repositories: FoundRepository[] = []
  for (const each of sorted) {
    if (repositories.length === limit) break
    const known = await fleet.store.find('projects', { index: 'path', equals: [each.path], limit: 1 })
    if (known.items.length === 0) repositories.push(each)
  }
  return { roots, repositories, complete }
}

/** Links are no folders here, and hidden folders are not shown. What cannot be read is empty. */
function foldersIn(path: string, most: number): { entries: Dirent[]; more: boolean } {
  const entries: Dirent[] = []
  try {
    const directory = opendirSync(path)
    try {
      for (let entry = directory.readSync(); entry; entry = directory.readSync()) {
        if (!entry.isDirectory() || entry.name.startsWith('.') || /[\n\uFFFD]/.test(entry.name)) continue
        if (entries.length === most) return { entries, more: true }
        entries.push(entry)
      }
    } finally {
      directory.closeSync()
    }
  } catch {
    // Another user's folder, or one that is gone.
  }
  return { entries, more: false }
}

const isRepository = (path: string): boolean => changedAt(join(path, '.git')) !== undefined

/** When a checkout was last used; undefined: it is none. A linked worktree belongs to another one. */
function usedAt(path: string): string | undefined {
  const git = join(path, '.git')
  const times = ['HEAD', 'index', 'logs/HEAD'].map(file => changedAt(join(git, file)) ?? 0)
  return times[0] ? new Date(Math.max(...times)).toISOString() : undefined
}

function changedAt(path: string): number | undefined {
  try {
    return lstatSync(path, { throwIfNoEntry: false })?.mtimeMs
  } catch {
    return undefined
  }
}
