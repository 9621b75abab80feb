import { lstatSync } from 'node:fs'
import { readdir, realpath } from 'node:fs/promises'
import { basename, dirname, join, resolve } from 'node:path'
import { NotFound } from '../domain/errors.ts'
import { readPlainFile } from './plain-files.ts'
import { fields, git } from './run.ts'
import { asksGit } from './writes/mode.ts'

/** Where the parts of a repository are. Plain data: it may be stored and made again. */
export interface Repository {
  /** The top of the checkout, or the git directory if there is none. */
  path: string
  gitDir: string
  /** Shared by all worktrees: refs, config, hooks, objects. */
  commonDir: string
  bare: boolean
}

// Synchronous, because these small files are read many times per mission and the thread pool costs more than the read.
export async function readText(path: string): Promise<string | undefined> {
  return readPlainFile(path)?.toString('utf8')
}

export async function exists(path: string): Promise<boolean> {
  try {
    return lstatSync(path, { throwIfNoEntry: false }) !== undefined
  } catch {
    return false
  }
}

/** The git directory of a checkout and the one it shares, from its files alone; undefined if it is no checkout. */
export async function gitDirOf(worktree: string): Promise<{ gitDir: string; commonDir: string } | undefined> {
  const link = await readText(join(worktree, '.git'))
  const gitDir = link?.startsWith('gitdir: ')
    ? resolve(worktree, link.slice('gitdir: '.length).trimEnd())
    : join(worktree, '.git')
  if (!(await exists(join(gitDir, 'HEAD')))) return undefined
  const common = await readText(join(gitDir, 'commondir'))
  return { gitDir, commonDir: common ? resolve(gitDir, common.trim()) : gitDir }
}

/**
 * The same for one of our worktrees before it is used. Git would go up to any repository around a folder whose link is
 * gone, and into any that a forged link names, so both directions of the link are checked.
 */
export async function requireWorktree(worktree: string): Promise<{ gitDir: string; commonDir: string }> {
  const dirs = await gitDirOf(worktree)
  const back = dirs && (await readText(join(dirs.gitDir, 'gitdir')))?.trimEnd()
  if (!dirs || !back || resolve(dirs.gitDir, back) !== join(await realpath(worktree), '.git'))
    throw new NotFound('worktree', worktree)
  return dirs
}

export interface Checkout {
  path: string
  gitDir: string
}

/**
 * Every checkout of the repository: the main one, unless it is bare, and the linked ones, even if their folder is gone.
 */
export async function checkoutsOf(repo: Repository): Promise<Checkout[]> {
  const names = await readdir(join(repo.commonDir, 'worktrees')).catch(() => [])
  const linked = await Promise.all(
    names.map(async name => {
      const gitDir = join(repo.commonDir, 'worktrees', name)
      const link = await readText(join(gitDir, 'gitdir'))
      return link ? [{ path: dirname(resolve(gitDir, link.trimEnd())), gitDir }] : []
    }),
  )
  const main = await mainCheckout(repo)
  return [...main, ...linked.flat()]
}

async function mainCheckout(repo: Repository): Promise<Checkout[]> {
  if (repo.bare) return []
  if (repo.gitDir === repo.commonDir) return [{ path: repo.path, gitDir: repo.gitDir }]
  // It was opened in a linked worktree. The main checkout is the parent of the shared folder, unless that is a bare
  // repository.
  if (basename(repo.commonDir) !== '.git') return []
  if (/^\s*bare\s*=\s*true\s*$/im.test((await readText(join(repo.commonDir, 'config'))) ?? '')) return []
  return [{ path: dirname(repo.commonDir), gitDir: repo.commonDir }]
}

export const OID = /^[0-9a-f]{40}(?:[0-9a-f]{24})?$/

/**
 * The commit a ref points to. It is read from files, because every mission asks for it and a process costs more. Git is
 * asked if the files do not say.
 */
export async function readRef(repo: { commonDir: string }, ref: string): Promise<string | undefined> {
  if (!asksGit(repo.commonDir)) {
    const loose = (await readText(join(repo.commonDir, ref)))?.trim()
    if (loose === undefined) return packedRef(repo.commonDir, ref)
    if (OID.test(loose)) return loose
  }
  const [oid] = fields((await git(repo.commonDir, ['for-each-ref', '--format=%(objectname)%00', '--', ref])).stdout)
  return oid?.trim() || undefined
}

async function packedRef(commonDir: string, ref: string): Promise<string | undefined> {
  const packed = await readText(join(commonDir, 'packed-refs'))
  const end = packed?.indexOf(` ${ref}\n`) ?? -1
  if (!packed || end < 0) return undefined
  const oid = packed.slice(packed.lastIndexOf('\n', end) + 1, end)
  return OID.test(oid) ? oid : undefined
}

/** The ref that a symbolic ref points to; undefined if it is not symbolic. */
export async function symbolicRef(repo: { commonDir: string }, ref: string): Promise<string | undefined> {
  const target = asksGit(repo.commonDir)
    ? (await git(repo.commonDir, ['symbolic-ref', '--quiet', ref], { answers: [1] })).stdout.toString('utf8')
    : (await readText(join(repo.commonDir, ref)))?.match(/^ref: (.*)/)?.[1]
  return target?.trim() || undefined
}

export const branchTip = (repo: Repository, branch: string): Promise<string | undefined> =>
  readRef(repo, `refs/heads/${branch}`)
