import { existsSync } from 'node:fs'
import { realpath } from 'node:fs/promises'
import { join } from 'node:path'
import { InvalidInput, NotAllowed } from '../domain/errors.ts'
import type { Repository } from './layout.ts'
import { git } from './run.ts'

export interface Description {
  bare: boolean
  shallow: boolean
  /** The branch checked out in the main checkout; undefined: HEAD is detached or its branch has no commit yet. */
  head: string | undefined
  detached: boolean
  hasCommits: boolean
  /** The branch people most likely mean, whatever its name; undefined if there is none. */
  defaultBranch: string | undefined
  remotes: string[]
}

const QUESTIONS = ['--is-bare-repository', '--absolute-git-dir', '--git-common-dir', '--show-toplevel']

/** The repository that contains a path. */
export async function openRepository(path: string): Promise<Repository> {
  const place = await realpath(path).catch(() => {
    throw new InvalidInput('path', `${path} does not exist.`)
  })
  requireNameable(place)
  // A bare repository has no top level: git answers the questions before that one and exits 128.
  const answer = await git(place, ['rev-parse', '--path-format=absolute', ...QUESTIONS], { answers: [128] })
  const [bare, gitDir, commonDir, top] = answer.stdout.toString('utf8').split('\n')
  if (!gitDir || !commonDir) throw whyNot(path, answer.stderr)
  const repository = {
    path: await realpath(top || gitDir),
    gitDir: await realpath(gitDir),
    commonDir: await realpath(commonDir),
    bare: bare === 'true',
  }
  requireFileRefs(repository)
  return repository
}

/**
 * Refuses a repository without refs in files: we read HEAD of each checkout, and the HEAD of each session, as files.
 */
export function requireFileRefs({ path, commonDir }: Repository): void {
  if (existsSync(join(commonDir, 'reftable')))
    throw new NotAllowed(`${path} keeps its refs as a reftable. Flotilla works only with refs in files.`, {
      try: `git -C ${path} refs migrate --ref-format=files`,
      facts: { path },
    })
}

function whyNot(path: string, stderr: string): InvalidInput {
  if (/dubious ownership/.test(stderr)) return notOurs(path)
  // Git names an unknown extension in a line of its own below the message.
  if (/unknown repository|repo version/i.test(stderr)) return notKnown(path, stderr)
  return notARepository(path)
}

/**
 * Refuses paths that cannot be named. Git's output and its files about worktrees are split into lines, so a line break
 * is not possible. Records and requests hold text, where bytes that are not UTF-8 have become another character, so the
 * folder is not found.
 */
export function requireNameable(path: string): void {
  const isBytes = path.includes('\uFFFD') && !existsSync(path)
  const odd = path.includes('\n') ? 'a line break' : isBytes ? 'bytes that are not UTF-8' : undefined
  if (odd)
    throw new InvalidInput('path', `${JSON.stringify(path)} has ${odd} in its path, so it cannot be a project.`, {
      try: 'Rename the folder.',
    })
}

export async function describe(repo: Repository): Promise<Description> {
  const format = '--format=%(refname) %(symref)'
  const [refs, head, shallow, remotes] = await Promise.all([
    git(repo.path, ['for-each-ref', format, 'refs/heads', 'refs/remotes/*/HEAD']),
    git(repo.path, ['symbolic-ref', '-q', 'HEAD'], { answers: [1] }),
    git(repo.path, ['rev-parse', '--is-shallow-repository']),
    git(repo.path, ['remote']),
  ])
  // The name of a ref has neither spaces nor newlines.
  const rows = refs.stdout
    .toString('utf8')
    .split('\n')
    .map(line => line.split(' ') as [string, string?])
  const branches = rows.flatMap(([name]) => (name.startsWith('refs/heads/') ? [name.slice('refs/heads/'.length)] : []))
  const at = head.stdout
    .toString('utf8')
    .trim()
    .replace(/^refs\/heads\//, '')
  const upstream = rows.flatMap(([, symref]) => /^refs\/remotes\/[^/]+\/(.+)$/.exec(symref ?? '')?.[1] ?? [])
  const candidates = [at, ...upstream, 'main', 'master', 'trunk', 'develop', ...(branches.length === 1 ? branches : [])]
  return {
    bare: repo.bare,
    shallow: shallow.stdout.toString('utf8').trim() === 'true',
    head: branches.includes(at) ? at : undefined,
    detached: at === '',
    hasCommits: branches.length > 0,
    defaultBranch: candidates.find(branch => branches.includes(branch)),
    remotes: remotes.stdout.toString('utf8').split('\n').filter(Boolean),
  }
}

/** Worktrees start from a commit, so there must be one. */
export function requireCommits(repo: Repository, description: Description): void {
  if (description.hasCommits) return
  throw new NotAllowed(`${repo.path} has no commits yet.`, {
    try: 'Make a first commit there (an empty one will do: git commit --allow-empty -m "Start").',
    facts: { path: repo.path },
  })
}

const notARepository = (path: string): InvalidInput =>
  new InvalidInput('path', `${path} is not a git repository.`, {
    try: `Run git init in ${path}, or give the path of one.`,
  })

const notKnown = (path: string, stderr: string): InvalidInput =>
  new InvalidInput('path', `${path} is in a format that the installed git does not know: ${oneLine(stderr)}.`, {
    try: 'Install a newer git, or migrate the repository with the git that made it.',
  })

const oneLine = (text: string): string =>
  text
    .trim()
    .split(/\s*\n\s*/)
    .join(' ')

const notOurs = (path: string): InvalidInput =>
  new InvalidInput('path', `${path} belongs to another user, so git will not work in it.`, {
    try: `If you trust it: git config --global --add safe.directory ${path}`,
  })
