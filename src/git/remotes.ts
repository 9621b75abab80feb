import type { Repository } from './layout.ts'
import { GitFailed, git, gitText } from './run.ts'

export interface Remote {
  name: string
  /** The address for pushes, without passwords. */
  address: string
}

/** The settings git needs if the GitHub CLI signs in for it. */
const SIGN_IN = [
  'GH_TOKEN',
  'GITHUB_TOKEN',
  'GH_ENTERPRISE_TOKEN',
  'GITHUB_ENTERPRISE_TOKEN',
  'GH_HOST',
  'GH_CONFIG_DIR',
  'DBUS_SESSION_BUS_ADDRESS',
]
export const signIn = (): Record<string, string> =>
  Object.fromEntries(SIGN_IN.flatMap(name => (process.env[name] ? [[name, process.env[name]]] : [])))

/** The remote that a branch belongs to: the one it follows, origin, or the only one. */
export async function remoteOf(repo: Repository, branch: string): Promise<Remote | undefined> {
  const names = (await gitText(repo.commonDir, ['remote'])).split('\n').filter(Boolean)
  const followed = await gitText(repo.commonDir, ['config', '--get', `branch.${branch}.remote`], { answers: [1] })
  const name = [followed, 'origin'].find(each => names.includes(each)) ?? (names.length === 1 ? names[0] : undefined)
  if (!name) return undefined
  const address = await gitText(repo.commonDir, ['remote', 'get-url', '--push', name])
  return { name, address: address.replace(/^(https?:\/\/)[^/@]*@/, '$1') }
}

/** The tip of a branch on a remote; undefined: it has no such branch. */
export async function remoteTip(repo: Repository, remote: string, branch: string): Promise<string | undefined> {
  const ref = `refs/heads/${branch}`
  const listed = await gitText(repo.commonDir, ['ls-remote', remote, ref], { env: signIn() })
  return listed
    .split('\n')
    .find(line => line.endsWith(`\t${ref}`))
    ?.split('\t')[0]
}

/** Fetches a branch of a remote into one of our refs. The person's own remote-tracking refs stay as they are. */
export async function fetchTip(repo: Repository, remote: string, branch: string): Promise<string | undefined> {
  const ref = `refs/fleet/remotes/${remote}/${branch}`
  const options = ['--quiet', '--no-tags', '--no-write-fetch-head', '--no-recurse-submodules']
  try {
    await git(repo.commonDir, ['fetch', ...options, remote, `+refs/heads/${branch}:${ref}`], {
      effect: 'git.fetch',
      env: signIn(),
    })
  } catch (failure) {
    if (failure instanceof GitFailed && /find remote ref/.test(failure.stderr)) return undefined
    throw failure
  }
  return gitText(repo.commonDir, ['rev-parse', '--verify', `${ref}^{commit}`])
}

/** Pushes a commit to a branch of a remote, if that branch is still at `seen`; undefined: it did not exist. */
export async function pushCommit(
  repo: Repository,
  { remote, branch, commit, seen }: { remote: string; branch: string; commit: string; seen: string | undefined },
): Promise<void> {
  const ref = `refs/heads/${branch}`
  const options = ['--quiet', '--no-follow-tags', '--recurse-submodules=no', `--force-with-lease=${ref}:${seen ?? ''}`]
  await git(repo.commonDir, ['push', ...options, remote, `${commit}:${ref}`], { effect: 'git.push', env: signIn() })
}
