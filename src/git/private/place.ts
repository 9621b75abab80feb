import { lstatSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { realpath } from 'node:fs/promises'
import { basename, dirname, join, resolve } from 'node:path'
import * as z from 'zod'
import { exists } from '../layout.ts'
import { readPlainFile } from '../plain-files.ts'

/**
 * A place is a worktree with a repository of its own. `<home>/worktrees/<project>/<name>` has it at
 * `<home>/repositories/<project>/<name>`:
 *
 * - `git`: the session's git directory, which the worktree's `.git` file names. The agent may do anything with it.
 * - `ours`: our own git directory of the same worktree: a HEAD, an index with its stat data, and the project's refs,
 *   configuration and objects. Every git call of ours uses it, and never the session's.
 * - `place.json`: what the place belongs to. It is written last, so a place without it was never worked in.
 * - `ours/index.start`: our index as it was before the first session, with the stat data of the files as we wrote them.
 * - `given`: the refs that the session was given, as they stand in its `packed-refs`.
 * - `problems`: what could not be taken in, a line each. Only the place has it, so the place is not removed
 *   automatically.
 */
export interface Place {
  worktree: string
  folder: string
  git: string
  ours: string
  record: PlaceRecord
}

const PlaceRecord = z.object({
  version: z.literal(1),
  worktree: z.string(),
  /** The project's checkout, git directory and shared directory. */
  path: z.string(),
  gitDir: z.string(),
  commonDir: z.string(),
  bare: z.boolean(),
  /** The branch that the work belongs on; null: HEAD is on none. */
  branch: z.string().nullable(),
  base: z.string(),
  /** The name under which refs and refused objects of its session are kept. */
  session: z.string(),
  allowPush: z.boolean(),
  hooks: z.boolean(),
  /** Folders that are checked out; empty: what the project's own checkout has. */
  sparse: z.array(z.string()).default([]),
  ref: z.string(),
})
export type PlaceRecord = z.infer<typeof PlaceRecord>

const RECORD = 'place.json'
const PROBLEMS = 'problems'
export const START_INDEX = 'index.start'
const SESSION = 'git'
const OURS = 'ours'

/** Where the repository of a worktree is or would be. */
export function folderOf(worktree: string): string {
  const project = dirname(resolve(worktree))
  return join(dirname(dirname(project)), 'repositories', basename(project), basename(worktree))
}

/** The trash of the home that a worktree is in. */
export const trashOf = (worktree: string): string => join(dirname(dirname(dirname(resolve(worktree)))), 'trash')

export const linkTo = (folder: string): string => `gitdir: ${join(folder, SESSION)}\n`

export const partsOf = (worktree: string) => {
  const folder = folderOf(worktree)
  return { worktree, folder, git: join(folder, SESSION), ours: join(folder, OURS) }
}

/** The place of a worktree; undefined: it has none, because it is a linked worktree or nothing at all. */
export function placeAt(worktree: string): Place | undefined {
  const parts = partsOf(worktree)
  const text = readPlainFile(join(parts.folder, RECORD))?.toString('utf8')
  if (text === undefined) return undefined
  const record = PlaceRecord.parse(JSON.parse(text))
  return { ...parts, record }
}

export const isPrivate = (worktree: string): Promise<boolean> => exists(join(folderOf(worktree), RECORD))

export function writeRecord(folder: string, record: PlaceRecord): void {
  const file = join(folder, RECORD)
  writeFileSync(`${file}.new`, JSON.stringify(record))
  renameSync(`${file}.new`, file)
}

export const problemsOf = ({ folder }: Pick<Place, 'folder'>): string[] =>
  readPlainFile(join(folder, PROBLEMS))?.toString('utf8').split('\n').filter(Boolean) ?? []

export function noteProblem(place: Pick<Place, 'folder'>, problem: string): void {
  const lines = new Set([...problemsOf(place), problem.replaceAll('\n', ' ')])
  writeFileSync(join(place.folder, PROBLEMS), [...lines].map(line => `${line}\n`).join(''))
}

/** The place counts as half-made from now on, so the rest of it may be removed. */
export const dropRecord = (folder: string): void => rmSync(join(folder, RECORD), { force: true })

/** Whether the worktree's link leads to its place and nowhere else. */
export async function isLinked({ worktree, folder }: Pick<Place, 'worktree' | 'folder'>): Promise<boolean> {
  const link = readPlainFile(join(worktree, '.git'), { refuseLinks: true })?.toString('utf8')
  const isFolder = lstatSync(join(folder, SESSION), { throwIfNoEntry: false })?.isDirectory() === true
  return isFolder && link === linkTo(await realpath(folder))
}

/** The project of a place, in the form of `Repository`. */
export const projectOf = ({ record: { path, gitDir, commonDir, bare } }: Place) => ({ path, gitDir, commonDir, bare })

/** The environment that makes git use our git directory, or another like it, in the worktree. */
export const ourEnvironment = (
  { worktree, ours, record }: Place,
  { gitDir = ours, index = join(gitDir, 'index') }: { gitDir?: string; index?: string } = {},
): Record<string, string> => ({
  GIT_DIR: gitDir,
  GIT_COMMON_DIR: record.commonDir,
  GIT_WORK_TREE: worktree,
  GIT_INDEX_FILE: index,
  GIT_OBJECT_DIRECTORY: join(record.commonDir, 'objects'),
})

/** The project's objects are behind the session's own. */
export const alternatesOf = ({ record }: Pick<Place, 'record'>): string => `${join(record.commonDir, 'objects')}\n`

/** The last commit that we know of in a place. */
export const tipOf = ({ ours }: Pick<Place, 'ours'>): string =>
  readPlainFile(join(ours, 'HEAD'))?.toString('utf8').trim() ?? ''
