import { createHash } from 'node:crypto'
import { lstat, readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { checkoutsOf, type Repository, readText } from './layout.ts'
import { readPlainFile } from './plain-files.ts'
import { fields, git } from './run.ts'
import { withoutSignIn } from './sign-ins.ts'

/**
 * A digest of each shared file that makes git run programs or hide files. Plain data that can be stored and compared.
 */
export type GuardMark = Record<string, string>

const MAX_DIGESTED_BYTES = 4 * 1024 * 1024
const WATCHED = ['config', 'config.worktree', 'info/attributes', 'info/exclude']

/** A mark is taken before and after a session: linked worktrees share all of this with the person's checkout. */
export async function guardMark(repo: Repository): Promise<GuardMark> {
  const files = await Promise.all(WATCHED.map(async name => [name, await digestFile(join(repo.commonDir, name))]))
  return { ...Object.fromEntries(files), hooks: await digestFolder(join(repo.commonDir, 'hooks')) }
}

/** What changed between two marks, by the names people know. */
export function guardDifference(before: GuardMark, after: GuardMark): string[] {
  return Object.keys({ ...before, ...after }).filter(name => before[name] !== after[name])
}

async function digestFile(path: string): Promise<string> {
  const content = readPlainFile(path, { maxBytes: MAX_DIGESTED_BYTES })
  if (content) return createHash('sha256').update(content).digest('hex')
  const other = await stat(path).catch(() => undefined)
  if (!other) return 'absent'
  return other.isFile() ? `file ${other.size} ${other.ctimeMs}` : `mode ${other.mode}`
}

async function digestFolder(path: string): Promise<string> {
  const names = await readdir(path, { recursive: true }).catch(() => [])
  const hash = createHash('sha256')
  for (const name of names.sort()) {
    const found = await lstat(join(path, name)).catch(() => undefined)
    hash.update(`${name}\0${found?.mode}\0${await digestFile(join(path, name))}\0`)
  }
  return hash.digest('hex')
}

/**
 * Whether somebody put a tip there by working in a checkout of the branch: that checkout's own log of HEAD then has it.
 * An agent that moves the branch from elsewhere leaves no line there. Checkouts below `ours`, the folder of our
 * worktrees, do not count. (An agent that works in the person's checkout cannot be told from the person.)
 */
export async function explainsTip(repo: Repository, branch: string, tip: string, ours: string): Promise<boolean> {
  const checkouts = (await checkoutsOf(repo)).filter(({ path }) => path !== ours && !path.startsWith(`${ours}/`))
  const explained = await Promise.all(
    checkouts.map(async ({ gitDir }) => {
      const [head, log] = await Promise.all([readText(join(gitDir, 'HEAD')), readText(join(gitDir, 'logs/HEAD'))])
      return (
        head?.trim() === `ref: refs/heads/${branch}` && !!log?.split('\n').some(line => line.split(' ', 2)[1] === tip)
      )
    }),
  )
  return explained.includes(true)
}

const NOWHERE = 'flotilla-does-not-push:///'

/**
 * The environment that makes `git push` fail in a session, without a write to the shared config. The empty prefix
 * matches every address. A longer prefix would win over it, so each remote's whole address is named too. Git does not
 * rewrite a `pushurl` this way, so its exact address is blocked, and fetching from that address fails too. This is a
 * guard, not a wall: it cannot stop an agent that clears its environment, or a person's own `pushInsteadOf` for an
 * address that is no remote. Inside walls, the addresses have no sign-in.
 */
export async function pushGuardEnvironment(repo: Repository, { walled = false } = {}): Promise<Record<string, string>> {
  const settings: [string, string][] = [[`url.${NOWHERE}.pushInsteadOf`, '']]
  for (const { kind, address } of await remoteAddresses(repo))
    settings.push([
      `url.${NOWHERE}.${kind === 'pushurl' ? 'insteadOf' : 'pushInsteadOf'}`,
      walled ? withoutSignIn(address) : address,
    ])
  const env: Record<string, string> = { GIT_CONFIG_COUNT: String(settings.length) }
  for (const [i, [key, value]] of settings.entries()) {
    env[`GIT_CONFIG_KEY_${i}`] = key
    env[`GIT_CONFIG_VALUE_${i}`] = value
  }
  return env
}

async function remoteAddresses(repo: Repository): Promise<{ kind: string; address: string }[]> {
  // Most new repositories have no remote, and then git need not be asked.
  if (!/\[\s*(remote|include)/i.test((await readText(join(repo.commonDir, 'config'))) ?? '')) return []
  const listed = await git(repo.commonDir, ['config', '-z', '--get-regexp', '^remote\\..*\\.(push)?url$'], {
    answers: [1],
  })
  return fields(listed.stdout).flatMap(line => {
    const [, kind, address] = /^remote\..*\.((?:push)?url)\n(.*)$/s.exec(line) ?? []
    return kind && address ? [{ kind, address }] : []
  })
}
