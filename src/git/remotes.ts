import type { Repository } from './layout.ts'
import { GitFailed, git, gitText } from './run.ts'

export interface Remote {
  name: string
  /** Where it is pushed to, without anyone's password. */
  address: string
}

/** What git needs to sign in where the GitHub CLI does that for it; nothing else of git's is told. */
const SIGN_IN = [
  'GH_TOKEN',
  'GITHUB_TOKEN',
  'GH_ENTERPRISE_TOKEN',
  'GITHUB_ENTERPRISE_TOKEN',
  'GH_HOST',
  'GH_CONFIG_DIR',
  'DBUS_SESSION_BUS_ADDRESS',
]
const signIn = (): Record<string, string> =>
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

/** Where a branch of a remote is now; undefined: it has none of that name. */
export async function remoteTip(repo: Repository, remote: string, branch: string): Promise<string | undefined> {
  const ref = `refs/heads/${branch}`
  const listed = await gitText(repo.commonDir, ['ls-remote', remote, ref], { env: signIn() })
  return listed
    .split('\n')
    .find(line => line.endsWith(`\t${ref}`))
    ?.split('\t')[0]
}

/** Brings a branch of a remote here, under a ref of ours: what the person keeps of the remote stays as it is. */
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

/** Puts a commit on a branch of a remote, if that branch is still where it was seen; undefined: it did not exist. */
export async function pushCommit(
  repo: Repository,
  { remote, branch, commit, seen }: { remote: string; branch: string; commit: string; seen: string | undefined },
): Promise<void> {
  const ref = `refs/heads/${branch}`
  const options = ['--quiet', '--no-follow-tags', '--recurse-submodules=no', `--force-with-lease=${ref}:${seen ?? ''}`]
  await git(repo.commonDir, ['push', ...options, remote, `${commit}:${ref}`], { effect: 'git.push', env: signIn() })
}
