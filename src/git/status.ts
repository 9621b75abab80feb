import { lstatSync } from 'node:fs'
import { lstat } from 'node:fs/promises'
import { normalize } from 'node:path'
import { clipped } from '../domain/text.ts'
import { byteName, nameBytes, shownName } from './names.ts'
import { byteFields, git } from './run.ts'

export const MAX_FILE_BYTES = 20 * 1024 * 1024

/** A file that differs from the last commit. Its path is a byte name. */
export interface Change {
  path: string
  kind: 'added' | 'modified' | 'deleted'
  staged: boolean
  submodule: boolean
}

export interface WorktreeStatus {
  oid: string
  /** The branch HEAD is on; '(detached)' otherwise. */
  head: string
  changed: Change[]
  /** Byte names. */
  unmerged: string[]
}

/** What is left out of a commit, and why. The path is for people. */
export type Skipped = { path: string; why: string }[]

interface Looking {
  env?: Record<string, string>
  /** Changes of submodules to ignore, because git uses their own configuration to find them. */
  submodules?: 'none' | 'dirty'
}

export async function readStatus(
  worktree: string,
  { env, submodules = 'none' }: Looking = {},
): Promise<WorktreeStatus> {
  const args = [
    'status',
    '--porcelain=v2',
    '--branch',
    '-z',
    '--untracked-files=all',
    '--no-renames',
    `--ignore-submodules=${submodules}`,
  ]
  const status: WorktreeStatus = { oid: '', head: '', changed: [], unmerged: [] }
  for (const line of byteFields((await git(worktree, args, { env })).stdout)) {
    if (line.startsWith('# branch.oid ')) status.oid = line.slice('# branch.oid '.length)
    else if (line.startsWith('# branch.head ')) status.head = shownName(line.slice('# branch.head '.length))
    else if (line.startsWith('? '))
      status.changed.push({ path: line.slice(2), kind: 'added', staged: false, submodule: false })
    else if (line.startsWith('1 ') || line.startsWith('u ')) {
      const unmerged = line.startsWith('u ')
      const [, xy = '', sub = ''] = line.split(' ', 3)
      const path = line
        .split(' ')
        .slice(unmerged ? 10 : 8)
        .join(' ')
      if (unmerged) status.unmerged.push(path)
      const gone = xy[1] === 'D' || (xy[0] === 'D' && xy[1] === '.')
      const kind = gone ? 'deleted' : xy.includes('A') ? 'added' : 'modified'
      status.changed.push({ path, kind, staged: xy[0] !== '.' && !unmerged, submodule: sub.startsWith('S') })
    }
  }
  return status
}

/** The path of a file by its byte name, for the file system. */
export const pathOf = (worktree: string, name: string): Buffer =>
  Buffer.concat([Buffer.from(worktree, 'utf8'), Buffer.from('/'), nameBytes(name)])

/** Whether this path exists. A path through a link to a folder does not count. */
export const isThere = (worktree: string, name: string): boolean => {
  try {
    const above = [...name.matchAll(/\//g)].map(({ index }) => name.slice(0, index))
    lstatSync(pathOf(worktree, name))
    return !above.some(folder => lstatSync(pathOf(worktree, folder)).isSymbolicLink())
  } catch {
    // Nothing is there, or a file is where a folder should be.
    return false
  }
}

/** The path is longer than the system allows, so git cannot read it. */
export const tooLong = (path: string): Skipped[number] => ({
  path: clipped(shownName(path), MOST_SHOWN),
  why: 'its path is too long',
})
const MOST_SHOWN = 250

/** What may be committed, and what is left out and why. */
export async function sift(
  wanted: { worktree: string; never?: readonly string[]; maxBytes?: number },
  changed: Change[],
): Promise<{ take: Change[]; skipped: Skipped; left: Set<string> }> {
  const maxBytes = wanted.maxBytes ?? MAX_FILE_BYTES
  const never = (wanted.never ?? []).map(path => byteName(normalize(path).replace(/\/$/, '')))
  const take: Change[] = []
  const skipped: Skipped = []
  const left = new Set<string>()
  for (const change of changed) {
    const { path } = change
    const looked = await lstat(pathOf(wanted.worktree, path)).catch((failure: NodeJS.ErrnoException) => failure.code)
    const found = typeof looked === 'object' ? looked : undefined
    const skip = (why: string) => {
      skipped.push({ path: shownName(path), why })
      left.add(path)
    }
    if (looked === 'ENAMETOOLONG') skipped.push(tooLong(path))
    else if (never.some(secret => path === secret || path.startsWith(`${secret}/`)))
      skip('it was copied in for the agent and is not to be committed')
    else if (path.endsWith('/')) skip('it is a git repository of its own')
    else if (change.submodule) skip('it is a submodule with changes of its own')
    else if (found && !found.isFile() && !found.isSymbolicLink() && !found.isDirectory())
      skip('it is a pipe, a socket or a device')
    else if (!isGone(change) && found && found.size > maxBytes)
      skip(`it is larger than ${Math.round(maxBytes / 1024 / 1024)} MB`)
    else take.push(change)
  }
  return { take, skipped, left }
}

export async function unstage(
  worktree: string,
  left: ReadonlySet<string>,
  changed: Change[],
  env?: Record<string, string>,
): Promise<void> {
  const paths = changed.flatMap(change => (change.staged && left.has(change.path) ? [`${change.path}\0`] : []))
  if (!paths.length) return
  const args = ['--literal-pathspecs', 'reset', '--quiet', '--pathspec-from-file=-', '--pathspec-file-nul']
  await git(worktree, args, { effect: 'git.add', env, input: nameBytes(paths.join('')) })
}

const isGone = (change: Change): boolean => change.kind === 'deleted'

/**
 * Stages exactly these paths, so that the folder is not searched again. Deletions come first: a file may now be a
 * folder, and a folder a link. Files that git cannot read in their declared encoding, or refuses by name, are left out.
 */
export async function stage(
  worktree: string,
  changes: Change[],
  env?: Record<string, string>,
): Promise<{ taken: Change[]; skipped: Skipped }> {
  const update = async (paths: string[], ...how: string[]): Promise<string> => {
    const input = nameBytes(paths.map(path => `${path}\0`).join(''))
    const args = ['update-index', ...how, '-z', '--stdin']
    return paths.length ? (await git(worktree, args, { effect: 'git.add', env, input })).stderr : ''
  }
  const add = (paths: string[]): Promise<string> => update(paths, '--add', '--remove', '--replace')
  const gone = new Set(changes.filter(change => isGone(change) && !isThere(worktree, change.path)))
  const pathsOf = (some: Change[]): string[] => some.map(({ path }) => path)
  await update(pathsOf([...gone]), '--force-remove')
  const there = pathsOf(changes.filter(change => !gone.has(change)))
  const left = new Map<string, string>()
  let said: string
  try {
    said = await add(there)
  } catch (failure) {
    const encodings = await encodingsOf(worktree, there, env)
    const odd = await failing([...encodings.keys()], add)
    if (!odd.length) throw failure
    for (const path of odd)
      left.set(path, `it is not in the encoding ${encodings.get(path)}, which .gitattributes names`)
    said = await add(there.filter(path => !left.has(path)))
  }
  // Git skips a name it refuses with a warning, and still reports success.
  if (said) for (const path of await notInIndex(worktree, there, env)) left.set(path, left.get(path) ?? REFUSED)
  return {
    taken: changes.filter(({ path }) => !left.has(path)),
    skipped: [...left].map(([path, why]) => ({ path: shownName(path), why })),
  }
}

const REFUSED = 'git refuses this name'

/** Files that the index does not have, and links that it does not have as links. */
async function notInIndex(worktree: string, paths: string[], env?: Record<string, string>): Promise<string[]> {
  const listed = byteFields((await git(worktree, ['ls-files', '--stage', '-z'], { env })).stdout)
  const isLink = new Map(listed.map(line => [line.slice(line.indexOf('\t') + 1), line.startsWith('120000 ')]))
  return paths.filter(path => {
    const found = lstatSync(pathOf(worktree, path), { throwIfNoEntry: false })
    return found && !found.isDirectory() && !(found.isSymbolicLink() ? isLink.get(path) : isLink.has(path))
  })
}

async function encodingsOf(worktree: string, paths: string[], env?: Record<string, string>) {
  const input = nameBytes(paths.map(path => `${path}\0`).join(''))
  const args = ['check-attr', '-z', '--stdin', 'working-tree-encoding']
  const parts = byteFields((await git(worktree, args, { env, input })).stdout)
  const encodings = new Map<string, string>()
  for (let i = 0; i + 2 < parts.length; i += 3)
    if (!['unspecified', 'unset'].includes(parts[i + 2]!)) encodings.set(parts[i]!, parts[i + 2]!)
  return encodings
}

/** The paths with which it fails, found by halving. */
async function failing(paths: string[], attempt: (paths: string[]) => Promise<unknown>): Promise<string[]> {
  const fails = await attempt(paths).then(
    () => false,
    () => true,
  )
  if (!fails || paths.length < 2) return fails ? paths : []
  const half = Math.ceil(paths.length / 2)
  return [...(await failing(paths.slice(0, half), attempt)), ...(await failing(paths.slice(half), attempt))]
}
