import { NotAllowed } from '../domain/errors.ts'
import { effect } from '../platform/effects.ts'
import type { TreeFile } from './file-edits.ts'
import { FALLBACK, peopleIn, stampOf } from './identity.ts'
import { OID, type Repository } from './layout.ts'
import { shownName } from './names.ts'
import { mergeApart } from './plain-merge.ts'
import { ObjectReader } from './plain-objects.ts'
import { GitFailed, type GitOptions, type GitOutput, git, gitText } from './run.ts'
import { writes } from './writes/index.ts'
import { isByGit } from './writes/mode.ts'

const FALLBACK_ENV = {
  GIT_AUTHOR_NAME: FALLBACK.name,
  GIT_AUTHOR_EMAIL: FALLBACK.email,
  GIT_COMMITTER_NAME: FALLBACK.name,
  GIT_COMMITTER_EMAIL: FALLBACK.email,
}

/**
 * Runs a git command that makes a commit, as the person if they have an identity and otherwise as Flotilla. Git does
 * not guess one from the names of user and machine.
 */
export async function asSomeone(cwd: string, args: string[], options: GitOptions): Promise<GitOutput> {
  try {
    return await git(cwd, ['-c', 'user.useConfigOnly=true', ...args], options)
  } catch (failure) {
    const nobody =
      failure instanceof GitFailed && /tell me who you are|no (name|email) was given|empty ident/i.test(failure.stderr)
    if (!nobody) throw failure
    return git(cwd, args, { ...options, env: { ...options.env, ...FALLBACK_ENV } })
  }
}

export interface NewCommit {
  /** A tree, or `<commit>^{tree}`. */
  tree: string
  parents: string[]
  message: string
  /** Its date. With it, making the same commit again gives the same commit. */
  at?: string
}

export async function commitTree(repo: Repository, commit: NewCommit): Promise<string> {
  return (await effect('git.commit-tree', () => writtenCommit(repo, commit))) ?? commitByGit(repo, commit)
}

/** Writes the commit as an object. Undefined: git must make it. */
export async function writtenCommit(
  repo: Repository,
  { tree, parents, message, at }: NewCommit,
): Promise<string | undefined> {
  if (isByGit() || message.includes('\0') || !parents.every(parent => OID.test(parent))) return undefined
  const [, of] = /^([0-9a-f]+)\^\{tree\}$/.exec(tree) ?? []
  const oid = of ? (await new ObjectReader(repo.commonDir).commit(of))?.tree : tree
  const people = await peopleIn(repo)
  if (!oid || !OID.test(oid) || !people) return undefined
  const when = stampOf(at ? new Date(at) : new Date())
  const by = (role: 'author' | 'committer') => `${role} ${people[role].name} <${people[role].email}> ${when}\n`
  const head = `tree ${oid}\n${parents.map(parent => `parent ${parent}\n`).join('')}${by('author')}${by('committer')}`
  const format = oid.length === 64 ? 'sha256' : 'sha1'
  return writes().object(repo.commonDir, { type: 'commit', format, content: Buffer.from(`${head}\n${message}`) })
}

async function commitByGit(repo: Repository, { tree, parents, message, at }: NewCommit): Promise<string> {
  const args = ['commit-tree', tree, ...parents.flatMap(parent => ['-p', parent]), '-F', '-']
  // Without the name of the time zone in brackets, which git does not understand.
  const date = at && new Date(at).toString().replace(/ \(.*/, '')
  const env: Record<string, string> = date ? { GIT_AUTHOR_DATE: date, GIT_COMMITTER_DATE: date } : {}
  const made = await asSomeone(repo.commonDir, args, { effect: 'git.commit-tree', input: message, env })
  return made.stdout.toString('utf8').trim()
}

/** The commit of a branch, a tag or a commit id; undefined: there is none. */
export async function commitNamed(repo: Repository, name: string): Promise<string | undefined> {
  const args = ['rev-parse', '--verify', '--quiet', '--end-of-options', `${name}^{commit}`]
  return (await git(repo.path, args, { answers: [1, 128] })).stdout.toString('utf8').trim() || undefined
}

export async function treeOf(repo: Repository, commit: string): Promise<string> {
  const known = OID.test(commit) ? await new ObjectReader(repo.commonDir).commit(commit) : undefined
  return known?.tree ?? gitText(repo.commonDir, ['rev-parse', '--verify', '--end-of-options', `${commit}^{tree}`])
}

export async function isAncestor(repo: Repository, ancestor: string, of: string): Promise<boolean> {
  const args = ['merge-base', '--is-ancestor', ancestor, of]
  return ancestor === of || (await git(repo.commonDir, args, { answers: [1] })).exit === 0
}

/** Whether a commit is on a branch. After a crash this says whether a landing happened. */
export async function contains(repo: Repository, branch: string, commit: string): Promise<boolean> {
  return isAncestor(repo, commit, `refs/heads/${branch}`)
}

export interface Conflict {
  /** Its path for people, and its byte name. */
  path: string
  name: string
  /** Git's short word for it, such as 'contents' or 'modify/delete'. */
  kind: string
  /** The file on both sides; absent: that side does not have it. */
  base?: TreeFile
  work?: TreeFile
  /** The file that both sides began with. */
  original?: TreeFile
}

/** In conflict, the tree has the files with markers in them. */
export type Merged = { tree: string } | { tree: string; conflicts: Conflict[] }

/**
 * Merges two commits without a checkout. No process is needed if `tip` descends from exactly `base`, so that its tree is
 * the result, or if it is one commit that changed other files than the branch did since.
 */
export async function mergeTrees(repo: Repository, base: string, tip: string, descendsFrom?: string): Promise<Merged> {
  if (descendsFrom === base) return { tree: `${tip}^{tree}` }
  const apart = await effect('git.merge-tree', () => mergeApart(repo, base, tip))
  if (apart !== undefined) return { tree: apart }
  const args = ['merge-tree', '--write-tree', '-z', '--messages', base, tip]
  // Run in the checkout, because its attributes (such as merge=union) count.
  const merged = await git(repo.path, args, { effect: 'git.merge-tree', answers: [1] }).catch(failure => {
    if (failure instanceof GitFailed && /unrelated histories/.test(failure.stderr))
      throw new NotAllowed(`${tip} shares no history with ${base}, so it cannot be merged.`, { cause: failure })
    throw failure
  })
  const [tree = '', ...rest] = merged.stdout.toString('latin1').split('\0')
  if (merged.exit === 0) return { tree }
  return { tree, conflicts: conflictsIn(rest) }
}

const STAGES = { 1: 'original', 2: 'base', 3: 'work' } as const

/** After the tree: the conflicted files by stage, an empty field, then messages as count, paths, type and text. */
function conflictsIn(parts: string[]): Conflict[] {
  const end = parts.indexOf('')
  const found = new Map<string, Conflict>()
  for (const part of parts.slice(0, end)) {
    const [, mode = '', oid = '', stage, name = ''] = /^(\d+) ([0-9a-f]+) ([123])\t(.*)$/s.exec(part) ?? []
    const conflict = found.get(name) ?? { path: shownName(name), name, kind: 'conflict' }
    found.set(name, { ...conflict, [STAGES[Number(stage) as 1 | 2 | 3]]: { mode, oid } })
  }
  for (let i = end + 1; i < parts.length - 1; ) {
    const count = Number(parts[i])
    const kind = /^CONFLICT \((.+)\)$/.exec(parts[i + 1 + count] ?? '')?.[1]
    for (const name of parts.slice(i + 1, i + 1 + count)) {
      const conflict = found.get(name)
      if (kind && conflict) conflict.kind = kind
    }
    i += count + 3
  }
  return [...found.values()]
}

/** Several tips as one commit to start from, or the first conflict between them. */
export async function mergeTips(
  repo: Repository,
  tips: string[],
): Promise<{ commit: string } | { conflicts: Conflict[] }> {
  const [first, ...others] = [...new Set(tips)]
  if (!first) throw new NotAllowed('There is nothing to merge.')
  let commit = first
  for (const tip of others) {
    const merged = await mergeTrees(repo, commit, tip)
    if ('conflicts' in merged) return merged
    commit = await commitTree(repo, {
      tree: merged.tree,
      parents: [commit, tip],
      message: 'Merge finished work to start from\n',
    })
  }
  return { commit }
}

/**
 * The tree of `onto` without the changes of `commit`: `onto` merged with a revert of `commit`. 'nothing' if `onto` does
 * not contain it, or it was undone already.
 */
export async function revertTree(
  repo: Repository,
  { commit, onto }: { commit: string; onto: string },
): Promise<Merged | 'nothing'> {
  if (!(await isAncestor(repo, commit, onto))) return 'nothing'
  const back = await commitTree(repo, {
    tree: `${commit}^1^{tree}`,
    parents: [commit],
    message: `Take back ${commit}\n`,
  })
  const merged = await mergeTrees(repo, onto, back)
  if ('conflicts' in merged) return merged
  return merged.tree === (await treeOf(repo, onto)) ? 'nothing' : merged
}
