import { existsSync } from 'node:fs'
import { mkdir, readdir, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { effect } from '../platform/effects.ts'
import { asSomeone } from './commits.ts'
import { readText } from './layout.ts'
import { git, gitText } from './run.ts'

/** The first commit of a new repository. */
interface Beginning {
  subject: string
  /** By name, at the root. */
  files: Record<string, string>
}
const NOTHING: Beginning = { subject: 'Begin', files: {} }

/** Makes a repository with one commit. It appears whole; one that exists already stays as it is. */
export async function makeRepository(path: string, { subject, files }: Beginning = NOTHING): Promise<void> {
  await effect('git.init', async () => {
    if (existsSync(path)) return
    const unfinished = `${path}.unfinished`
    await rm(unfinished, { recursive: true, force: true })
    await mkdir(unfinished, { recursive: true })
    // A newer git may choose another format, but Flotilla needs refs in files.
    const env = { GIT_DEFAULT_REF_FORMAT: 'files' }
    await git(unfinished, ['init', '--quiet', '--initial-branch=main'], { env })
    for (const [name, text] of Object.entries(files)) await writeFile(join(unfinished, name), text)
    await git(unfinished, ['add', '--all', '--force'])
    await asSomeone(unfinished, ['commit', '--quiet', '--allow-empty', '--no-verify', '-m', subject], {})
    await rename(unfinished, path)
  })
}

/** Removes a repository that was made here, unless somebody has put something into it. Answers whether it is gone. */
export async function removeUntouched(path: string): Promise<boolean> {
  if (!(await isUntouched(path))) return false
  // It is moved first, so that late files are noticed and nobody finds half of it.
  const unwanted = `${path}.unfinished`
  await rename(path, unwanted)
  if (await isUntouched(unwanted)) {
    await effect('files.forget', () => rm(unwanted, { recursive: true, force: true }))
    return true
  }
  await rename(unwanted, path)
  return false
}

async function isUntouched(path: string): Promise<boolean> {
  const [commits, additions] = await Promise.all([gitText(path, ['rev-list', '--all', '--count']), addedTo(path)])
  return commits.trim() === '1' && !additions
}

/** What the fleet knows to be its own in a repository that it made. */
interface Known {
  branch: string
  beginning: Beginning
  /** The commits that landings and undos made on the branch. */
  landings: ReadonlySet<string>
  /** Where sessions left the branches of missions. */
  ends: ReadonlySet<string>
}

/**
 * Whether a repository made here has nothing of a person. Everything in it must be known: a commit below a landing, on
 * a detached head or in the reflog is a person's, and so is a linked worktree, a hook or an ignored file. What cannot
 * be read counts as a person's too.
 */
export async function isOnlyOurs(path: string, known: Known): Promise<boolean> {
  const head = await readText(join(path, '.git/HEAD'))
  if (head?.trimEnd() !== `ref: refs/heads/${known.branch}`) return false
  try {
    const [added, worktrees, hooks, isRefsOurs, isHistoryOurs, unreferenced] = await Promise.all([
      addedTo(path),
      namesIn(join(path, '.git/worktrees')),
      namesIn(join(path, '.git/hooks')),
      hasOnlyOurRefs(path, known),
      hasOnlyOurCommits(path, known),
      gitText(path, ['rev-list', '--reflog', '--not', '--all']),
    ])
    const isPlain = !added && !worktrees.length && hooks.every(name => name.endsWith('.sample'))
    return isPlain && isRefsOurs && isHistoryOurs && !unreferenced
  } catch {
    return false
  }
}

async function hasOnlyOurRefs(path: string, { branch, ends, landings }: Known): Promise<boolean> {
  const refs = await gitText(path, ['for-each-ref', '--format=%(refname) %(objectname)'])
  return refs.split('\n').every(line => {
    const [ref, tip] = line.split(' ') as [string, string]
    if (ref.startsWith('refs/heads/fleet/')) return ends.has(tip) || landings.has(tip)
    return ref === `refs/heads/${branch}` || ref.startsWith('refs/fleet/')
  })
}

/** Every commit of the branch is a landing, except for the first one, which is as it was made. */
async function hasOnlyOurCommits(path: string, { branch, beginning, landings }: Known): Promise<boolean> {
  const commits = (await gitText(path, ['rev-list', `refs/heads/${branch}`])).split('\n')
  const [first, ...more] = commits.filter(commit => !landings.has(commit))
  if (!first || more.length) return false
  const [subject, names] = await Promise.all([
    gitText(path, ['log', '-1', '--format=%P%B', first]),
    gitText(path, ['ls-tree', '-r', '--name-only', first]),
  ])
  const files = await Promise.all(
    Object.entries(beginning.files).map(async ([name, text]) => {
      const { stdout } = await git(path, ['cat-file', 'blob', `${first}:${name}`])
      return stdout.toString('utf8') === text
    }),
  )
  const isSame = names.split('\n').sort().join('\n') === Object.keys(beginning.files).sort().join('\n')
  return subject.trim() === beginning.subject && isSame && files.every(Boolean)
}

const namesIn = (folder: string): Promise<string[]> =>
  readdir(folder).catch((failure: NodeJS.ErrnoException) => {
    if (failure.code === 'ENOENT') return []
    throw failure
  })

/** Files that are in no commit, and remotes. */
async function addedTo(path: string): Promise<string> {
  const [changed, remotes] = await Promise.all([
    gitText(path, ['status', '--porcelain', '--untracked-files=all', '--ignored']),
    gitText(path, ['remote']),
  ])
  return `${changed}${remotes}`.trim()
}
