import { existsSync, lstatSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { join, relative, resolve } from 'node:path'
import { OID } from '../layout.ts'
import { byteName } from '../names.ts'
import { readPlainFile } from '../plain-files.ts'
import { byteFields, git } from '../run.ts'
import { pathOf, readStatus, type WorktreeStatus } from '../status.ts'
import { moduleCopy } from './modules.ts'
import type { Place } from './place.ts'
import { headIn, plainRefs, refsUnder } from './refs.ts'
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

/** Where git keeps what it put away for a merge or a rebase. */
const AUTOSTASHES = ['MERGE_AUTOSTASH', 'rebase-merge/autostash', 'rebase-apply/autostash']

/** Whether it has commits, under any name, that neither a remote has nor what else is held. */
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
  // A log also names what is gone already.
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

/** The ids in a file that git keeps for itself: where a history is cut off, or where HEAD was. */
const oidsIn = (content: Buffer | undefined): string[] => {
  const words = (content?.toString('latin1') ?? '').split('\n').flatMap(line => line.split('\t', 1)[0]!.split(' ', 2))
  return [...new Set(words.filter(word => OID.test(word) && !/^0+$/.test(word)))]
}

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
