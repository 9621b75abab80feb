import { lstatSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { OID } from '../layout.ts'
import { byteName } from '../names.ts'
import { readPlainFile } from '../plain-files.ts'
import { byteFields, git } from '../run.ts'
import { pathOf, readStatus, type WorktreeStatus } from '../status.ts'
import type { Place } from './place.ts'
import { headIn, plainRefs } from './refs.ts'
import { copyIndex } from './writing.ts'

type Environment = Record<string, string>

/**
 * What differs in the worktree of a place from the last commit. Git would look into repositories below it by the
 * configuration that lies in them, which an agent writes; so those are looked at by configuration of ours.
 */
export async function placeStatus(place: Place, env: Environment): Promise<WorktreeStatus & Pick<Below, 'below'>> {
  const status = await readStatus(place.worktree, { env, submodules: 'dirty' })
  const known = new Set(status.changed.map(({ path }) => path))
  const below = new Set<string>()
  for (const path of await changedBelow({ place, below }, place.worktree, env))
    if (!known.has(path)) status.changed.push({ path, kind: 'modified', staged: false, submodule: true })
  return { ...status, below }
}

export interface Below {
  place: Place
  /** Byte names, from the root, of the folders of repositories that an index names: what is in those was looked at. */
  below: Set<string>
}

/** A link to a commit of another repository, as an index holds it: these four bytes are its mode. */
const MODE = Buffer.from([0, 0, 0xe0, 0])

/** The repositories that an index names below its worktree, by byte name, each with the commit it is named by. */
export async function namedBelow(worktree: string, env: Environment): Promise<{ path: string; commit: string }[]> {
  const index = readPlainFile(env.GIT_INDEX_FILE!, { maxBytes: 512 * 1024 * 1024 })
  if (!index?.includes(MODE)) return []
  const listed = byteFields((await git(worktree, ['ls-files', '--stage', '-z'], { env })).stdout)
  return listed.flatMap(line => {
    const [, commit, path] = /^160000 ([0-9a-f]+) \d\t(.*)$/s.exec(line) ?? []
    return commit && path ? [{ path, commit }] : []
  })
}

/** Byte names of those that hold something which the commit they are named by does not. */
async function changedBelow(at: Below, worktree: string, env: Environment): Promise<string[]> {
  const changed: string[] = []
  for (const { path, commit } of await namedBelow(worktree, env))
    if (await isChanged(at, worktree, path, commit, env)) changed.push(path)
  return changed
}

const SHA256 = '[core]\n\trepositoryformatversion = 1\n[extensions]\n\tobjectformat = sha256\n'

/** Whether a repository that no index names has something which its remotes do not. Submodules of it are looked at too. */
export async function hasOwnWork(at: Below, path: string, env: Environment): Promise<boolean> {
  const { worktree } = at.place
  try {
    const names = readdirSync(pathOf(worktree, `${path}/.git`))
    // Parts of it that are elsewhere, or that no remote is known to have.
    if (names.some(name => ['commondir', 'worktrees', 'lfs', 'annex'].includes(name))) return true
    return await isChanged(at, worktree, path, undefined, env)
  } catch {
    return true
  }
}

/** Where it cannot be told, it counts as changed: then nothing is removed. */
async function isChanged(
  at: Below,
  above: string,
  path: string,
  commit: string | undefined,
  outer: Environment,
): Promise<boolean> {
  const folder = pathOf(above, path)
  at.below.add(folder.toString('latin1'))
  if (!lstatSync(folder, { throwIfNoEntry: false })?.isDirectory()) return false
  const names = readdirSync(folder)
  // One that was never filled has nothing in it, or something that no repository knows of.
  if (!names.includes('.git')) return names.length > 0
  const worktree = folder.toString('utf8')
  const gitDir = byteName(worktree) === folder.toString('latin1') ? gitDirIn(worktree) : undefined
  if (!gitDir || !isPlain(gitDir)) return true
  const looking = mkdtempSync(join(at.place.folder, 'looking-'))
  try {
    const refs = plainRefs(gitDir)
    const head = headIn(gitDir, refs).tip
    if (!head) return true
    mkdirSync(join(looking, 'refs'))
    writeFileSync(join(looking, 'HEAD'), `${head}\n`)
    writeFileSync(join(looking, 'config'), head.length === 64 ? SHA256 : '')
    const shallow = readPlainFile(join(gitDir, 'shallow'), { refuseLinks: true })
    if (shallow) writeFileSync(join(looking, 'shallow'), shallow)
    copyIndex(join(gitDir, 'index'), join(looking, 'index'))
    const env = {
      ...outer,
      GIT_DIR: looking,
      GIT_COMMON_DIR: looking,
      GIT_WORK_TREE: worktree,
      GIT_INDEX_FILE: join(looking, 'index'),
      GIT_OBJECT_DIRECTORY: join(gitDir, 'objects'),
      GIT_NO_LAZY_FETCH: '1',
    }
    const { changed } = await readStatus(worktree, { env, submodules: 'dirty' })
    if (changed.length || (await changedBelow(at, worktree, env)).length) return true
    return await hasOwnCommits(worktree, refs, { head, commit, shallow: oidsIn(shallow) }, env)
  } catch {
    return true
  } finally {
    rmSync(looking, { recursive: true, force: true })
  }
}

/** Commits of its branches, its stash and its HEAD that neither a remote has nor the commit it is named by. */
async function hasOwnCommits(
  worktree: string,
  refs: ReadonlyMap<string, string>,
  { head, commit, shallow }: { head: string; commit: string | undefined; shallow: string[] },
  env: Environment,
): Promise<boolean> {
  const under = (...prefixes: string[]) =>
    [...refs].flatMap(([ref, oid]) => (prefixes.some(prefix => ref.startsWith(prefix)) ? [oid] : []))
  const own = under('refs/heads/', 'refs/stash')
  if (commit && !own.length) return false
  const tips = commit ? own : [...own, ...under('refs/tags/'), head]
  const held = commit ? [commit, ...under('refs/remotes/', 'refs/tags/')] : [...under('refs/remotes/'), ...shallow]
  const args = ['rev-list', '--max-count=1', ...tips, '--not', ...held]
  return (await git(worktree, args, { env })).stdout.length > 0
}

/** Where a history is cut off, the commit came from a remote. */
const oidsIn = (shallow: Buffer | undefined): string[] =>
  (shallow?.toString('latin1') ?? '').split('\n').filter(line => OID.test(line))

/** As plain files say it; undefined: there is none. */
export function gitDirIn(worktree: string): string | undefined {
  const link = join(worktree, '.git')
  if (lstatSync(link, { throwIfNoEntry: false })?.isDirectory()) return link
  const text = readPlainFile(link, { refuseLinks: true, maxBytes: 16_384 })?.toString('utf8')
  const gitDir = text?.startsWith('gitdir: ') ? resolve(worktree, text.slice('gitdir: '.length).trimEnd()) : undefined
  return gitDir && lstatSync(gitDir, { throwIfNoEntry: false })?.isDirectory() ? gitDir : undefined
}

/** Nothing in it that a read would wait for, or follow elsewhere. */
function isPlain(folder: string): boolean {
  return readdirSync(folder, { withFileTypes: true }).every(entry =>
    entry.isDirectory() ? isPlain(join(folder, entry.name)) : entry.isFile(),
  )
}
