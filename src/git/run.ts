import { Refusal, Unfit } from '../domain/errors.ts'
import { clipped } from '../domain/text.ts'
import { type EffectName, effect } from '../platform/effects.ts'
import { runProgram } from '../spawning/index.ts'
import { NO_CONFIGURED_HOOKS } from './hook-events.ts'
import { shownName } from './names.ts'
import { requireKnownMode } from './writes/mode.ts'

const MAX_OUTPUT_BYTES = 64 * 1024 * 1024
/** How many lines of git's message fit into a sentence. The first line often only announces the files. */
const TOLD_LINES = 6
const TOLD_CHARS = 600
const TIMEOUT_MS = 15 * 60_000
export const OLDEST_GIT = '2.38.0'

/**
 * Turns off everything in a repository's config that could run a program during our calls or change the commit that we
 * make. Left on, because people need them: clean and smudge filters (LFS) in calls that read or write files, and merge
 * drivers in merges. For work that an agent left in walls, they run inside the walls (private/programs.ts). Diffs are
 * made with --no-ext-diff and --no-textconv.
 */
const SETTINGS = [
  'core.hooksPath=/dev/null',
  ...NO_CONFIGURED_HOOKS.map(([key, value]) => `${key}=${value}`),
  'core.fsmonitor=false',
  'core.quotePath=false',
  'core.safecrlf=false',
  // If it were true, git would not notice later changes to files that it wrote.
  'core.ignoreStat=false',
  // Nobody can set the time at which a file's record changed, so it tells that a file was touched.
  'core.trustctime=true',
  'core.checkStat=default',
  // A split index cannot be copied as one file.
  'core.splitIndex=false',
  'core.filesRefLockTimeout=5000',
  'core.packedRefsTimeout=10000',
  'gc.auto=0',
  'maintenance.auto=false',
  'commit.gpgSign=false',
  'log.showSignature=false',
  'merge.verifySignatures=false',
  'pull.twohead=ort',
  'i18n.commitEncoding=UTF-8',
  'i18n.logOutputEncoding=UTF-8',
  'diff.orderFile=/dev/null',
  'submodule.recurse=false',
  'protocol.ext.allow=never',
  // We name repositories ourselves, often by their git directory.
  'safe.bareRepository=all',
  'advice.graftFileDeprecated=false',
].flatMap(setting => ['-c', setting])

/** Git and its filters see these variables and no secret of the server. */
const INHERITED = [
  'PATH',
  'HOME',
  'USER',
  'LOGNAME',
  'XDG_CONFIG_HOME',
  'XDG_CACHE_HOME',
  'XDG_DATA_HOME',
  'XDG_RUNTIME_DIR',
  'TMPDIR',
  'TMP',
  'TEMP',
  'TZ',
  'SSH_AUTH_SOCK',
  'SSL_CERT_FILE',
  'SSL_CERT_DIR',
  'SYSTEMROOT',
  'HTTP_PROXY',
  'HTTPS_PROXY',
  'NO_PROXY',
  'http_proxy',
  'https_proxy',
  'no_proxy',
  'GIT_AUTHOR_NAME',
  'GIT_AUTHOR_EMAIL',
  'GIT_COMMITTER_NAME',
  'GIT_COMMITTER_EMAIL',
  'GIT_CEILING_DIRECTORIES',
]
const FIXED = {
  LC_ALL: 'C',
  // A commit id must name what a clone gets: no ref and no file may replace objects.
  GIT_NO_REPLACE_OBJECTS: '1',
  GIT_GRAFT_FILE: '/dev/null',
  GIT_TERMINAL_PROMPT: '0',
  GIT_OPTIONAL_LOCKS: '0',
  GIT_EDITOR: ':',
  GIT_SEQUENCE_EDITOR: ':',
  GIT_PAGER: 'cat',
  GIT_ASKPASS: 'true',
  SSH_ASKPASS: 'true',
}

export interface GitOptions {
  /** The name of the effect, if the call changes something. */
  effect?: EffectName
  input?: string | Buffer
  env?: Record<string, string>
  /** Exit codes that are an answer rather than a failure. */
  answers?: readonly number[]
  /** Stop reading after this many bytes and report it, instead of failing. */
  truncateAt?: number
  /** Stop it after this long and report what it printed as truncated, instead of failing. */
  withinMs?: number
  timeoutMs?: number
  /** A new file for git's messages, to follow its progress. */
  messages?: string
}

/** The same command inside the sandbox, where programs it starts can do no harm. */
export type Within = (argv: readonly [string, ...string[]]) => readonly [string, ...string[]]

export interface GitOutput {
  exit: number
  stdout: Buffer
  stderr: string
  truncated: boolean
}

export class GitFailed extends Refusal {
  readonly code = 'git_failed'
  readonly status = 500
  readonly exit = 1
  readonly args: readonly string[]
  readonly exitCode: number | null
  readonly stderr: string
  constructor(
    args: readonly string[],
    exitCode: number | null,
    stderr: string,
    more: { try?: string; cause?: unknown } = {},
  ) {
    const clean = withoutCredentials(stderr.trim())
    const command = args.map(withoutCredentials)
    super(`git ${verb(args)} failed: ${told(clean) || `exit code ${exitCode}`}`, {
      ...more,
      facts: { command, exit: exitCode, stderr: clean },
    })
    this.args = command
    this.exitCode = exitCode
    this.stderr = clean
  }
}

function told(stderr: string): string {
  const lines = stderr.split('\n').flatMap(line => line.trim() || [])
  const some = lines.slice(0, TOLD_LINES).join(' ')
  return clipped(lines.length > TOLD_LINES ? `${some} …` : some, TOLD_CHARS)
}

/** Runs git, never through a shell. Every git process of the program starts here. */
export function git(cwd: string, args: readonly string[], options: GitOptions = {}): Promise<GitOutput> {
  return options.effect ? effect(options.effect, () => start(cwd, args, options)) : start(cwd, args, options)
}

/** Standard output as text, without the last newline. */
export async function gitText(cwd: string, args: readonly string[], options?: GitOptions): Promise<string> {
  return (await git(cwd, args, options)).stdout.toString('utf8').replace(/\n$/, '')
}

/** The fields of output with -z, for people: a name that is not UTF-8 is shown with escapes. */
export const fields = (output: Buffer): string[] => byteFields(output).map(shownName)

/** The same as byte names, so that every name can be given back to git unchanged. */
export function byteFields(output: Buffer): string[] {
  const parts = output.toString('latin1').split('\0')
  if (parts.at(-1) === '') parts.pop()
  return parts
}

export async function gitVersion(): Promise<string> {
  const text = await gitText('/', ['version'])
  return /\d+(\.\d+)+/.exec(text)?.[0] ?? text
}

export async function requireGit(): Promise<string> {
  requireKnownMode()
  const version = await gitVersion().catch(cause => {
    throw new Unfit('git was not found.', { try: 'Install git and see that it is on PATH.', cause })
  })
  if (version.localeCompare(OLDEST_GIT, 'en', { numeric: true }) < 0)
    throw new Unfit(`git ${version} is too old; Flotilla needs ${OLDEST_GIT} or newer.`, { try: 'Update git.' })
  return version
}

/** The git command that people know, after the settings of this call. */
const verb = (args: readonly string[]): string =>
  args.find((arg, i) => !arg.startsWith('-') && args[i - 1] !== '-c') ?? ''

const withoutCredentials = (text: string): string => text.replace(/(\w+:\/\/)[^\s/@]+@/g, '$1')

async function start(cwd: string, args: readonly string[], options: GitOptions): Promise<GitOutput> {
  const { timeoutMs = TIMEOUT_MS, messages } = options
  const { code, stdout, stderr, stopped, failure } = await runProgram({
    command: 'git',
    args: [...SETTINGS, ...args],
    cwd,
    env: environment(options.env),
    input: options.input,
    maxBytes: options.truncateAt ?? MAX_OUTPUT_BYTES,
    timeoutMs: options.withinMs ?? timeoutMs,
    messages,
  })
  const isLate = stopped === 'too long' && options.withinMs !== undefined
  const truncated = stopped === 'truncated' || isLate
  if (failure !== undefined) throw new GitFailed(args, null, `could not start: ${failure}`)
  if (stopped === 'too long' && !isLate)
    throw new GitFailed(args, null, `it took longer than ${timeoutMs / 60_000} minutes`)
  if (stopped === 'truncated' && options.truncateAt === undefined)
    throw new GitFailed(args, null, `it printed more than ${MAX_OUTPUT_BYTES} bytes`)
  if (!truncated && code !== 0 && !options.answers?.includes(code ?? -1)) throw new GitFailed(args, code, stderr)
  return { exit: code ?? 0, stdout, stderr, truncated }
}

function environment(more: Record<string, string> = {}): Record<string, string> {
  const env: Record<string, string> = {}
  for (const name of INHERITED) if (process.env[name] !== undefined) env[name] = process.env[name]
  return Object.assign(env, FIXED, more)
}
