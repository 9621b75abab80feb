import { existsSync, lstatSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { join, relative, resolve } from 'node:path'
import { AUTOSTASHES } from '../checkouts.ts'
import { OID } from '../layout.ts'
import { byteName } from '../names.ts'
import { readPlainFile } from '../plain-files.ts'
import { byteFields, git } from '../run.ts'
import { pathOf, readStatus, type WorktreeStatus } from '../status.ts'
import { writes } from '../writes/index.ts'
import { moduleCopy } from './modules.ts'
import type { Place } from './place.ts'
import { headIn, plainRefs, refsUnder } from './refs.ts'
import { copyIndex } from './writing.ts'

type Environment = Record<string, string>

/**
 * What differs in a place's worktree from the last commit. Git would look into repositories below it with their own
 * configuration, which an agent writes. So we look at those with our configuration.
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
  /** The folders of repositories that an index names, as byte names from the root. They were looked at. */
  below: Set<string>
}

/** The mode of a link to a commit of another repository, as an index stores it. */
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

/** Byte names of those with content that their commit does not have. */
async function changedBelow(at: Below, worktree: string, env: Environment): Promise<string[]> {
  const changed: string[] = []
  for (const { path, commit } of await namedBelow(worktree, env))
    if (await isChanged(at, worktree, path, commit, env)) changed.push(path)
  return changed
}

const SHA256 = '[core]\n\trepositoryformatversion = 1\n[extensions]\n\tobjectformat = sha256\n'

/** Whether a repository that no index names has work that its remotes do not. Its submodules are checked too. */
export async function hasOwnWork(at: Below, path: string, env: Environment): Promise<boolean> {
  const { worktree } = at.place
  try {
    const names = readdirSync(pathOf(worktree, `${path}/.git`))
    // Parts of it are elsewhere, or no remote is known to have them.
    if (names.some(name => ['commondir', 'worktrees', 'lfs', 'annex'].includes(name))) return true
    return await isChanged(at, worktree, path, undefined, env)
  } catch {
    return true
  }
}

/** If unsure, it counts as changed, so nothing is removed. */
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
  // A submodule that was never filled is empty, or has files that no repository knows.
  if (!names.includes('.git')) return names.length > 0
  const worktree = folder.toString('utf8')
  const gitDir = byteName(worktree) === folder.toString('latin1') ? gitDirIn(worktree) : undefined
  if (!gitDir || !isPlain(gitDir)) return true
  const looking = mkdtempSync(join(at.place.folder, 'looking-'))
  try {
    const refs = plainRefs(gitDir)
    const head = headIn(gitDir, refs).tip
    if (!head) return true
    await writes().gitDir(looking, head)
    mkdirSync(join(looking, 'refs'), { recursive: true })
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
    await writes().head(looking, { commit: head }, env)
    const { changed } = await readStatus(worktree, { env, submodules: 'dirty' })
    if (changed.length || (await changedBelow(at, worktree, env)).length) return true
    const tips = [head, ...oidsIn(readPlainFile(join(gitDir, 'logs/HEAD'), { refuseLinks: true }))]
    for (const name of AUTOSTASHES) tips.push(...oidsIn(readPlainFile(join(gitDir, name), { refuseLinks: true })))
    const held = [...(commit ? [commit] : []), ...oidsIn(shallow), ...(await refsOfCopy(at.place, gitDir))]
    return await hasOwnCommits(worktree, refs, { tips, held }, env)
  } catch {
    return true
  } finally {
    rmSync(looking, { recursive: true, force: true })
  }
}

/** Whether it has commits under any name that neither a remote nor anything else holds. */
async function hasOwnCommits(
  worktree: string,
  refs: ReadonlyMap<string, string>,
  { tips, held }: { tips: string[]; held: string[] },
  env: Environment,
): Promise<boolean> {
  const isRemote = ([ref]: [string, string]) => ref.startsWith('refs/remotes/')
  const own = [...refs].filter(each => !isRemote(each)).map(([, oid]) => oid)
  const remote = [...refs].filter(isRemote).map(([, oid]) => oid)
  const input = [...new Set([...tips, ...own]), ...[...held, ...remote].map(oid => `^${oid}`)].join('\n')
  // A log also names commits that no longer exist.
  const args = ['rev-list', '--max-count=1', '--ignore-missing', '--stdin']
  return (await git(worktree, args, { env, input: `${input}\n` })).stdout.length > 0
}

/** What the person's own copy of a submodule holds. */
async function refsOfCopy(place: Place, gitDir: string): Promise<string[]> {
  const name = relative(join(place.git, 'modules'), gitDir)
  if (name.startsWith('..')) return []
  const copy = moduleCopy(place, name)
  return existsSync(join(copy, 'HEAD')) ? [...(await refsUnder({ commonDir: copy }, ['refs/'])).values()] : []
}

/** The ids in one of git's own files: where a history is cut off, or where HEAD was. */
const oidsIn = (content: Buffer | undefined): string[] => {
  const words = (content?.toString('latin1') ?? '').split('\n').flatMap(line => line.split('\t', 1)[0]!.split(' ', 2))
  return [...new Set(words.filter(word => OID.test(word) && !/^0+$/.test(word)))]
}

/** The git directory, read from plain files; undefined: there is none. */
export function gitDirIn(worktree: string): string | undefined {
  const link = join(worktree, '.git')
  if (lstatSync(link, { throwIfNoEntry: false })?.isDirectory()) return link
  const text = readPlainFile(link, { refuseLinks: true, maxBytes: 16_384 })?.toString('utf8')
  const gitDir = text?.startsWith('gitdir: ') ? resolve(worktree, text.slice('gitdir: '.length).trimEnd()) : undefined
  return gitDir && lstatSync(gitDir, { throwIfNoEntry: false })?.isDirectory() ? gitDir : undefined
}

/** Whether it has nothing that a read would wait for or follow elsewhere. */
function isPlain(folder: string): boolean {
  return readdirSync(folder, { withFileTypes: true }).every(entry =>
    entry.isDirectory() ? isPlain(join(folder, entry.name)) : entry.isFile(),
  )
}
