import { randomUUID } from 'node:crypto'
import { lstatSync, readdirSync } from 'node:fs'
import { mkdir, rename, rm } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { NotAllowed } from '../domain/errors.ts'
import { effect } from '../platform/effects.ts'
import { readPlain } from '../platform/plain-files.ts'
import { signIn } from './remotes.ts'
import { GitFailed, git } from './run.ts'

const LONGEST_MS = 60 * 60_000
const MOST_MESSAGES = 1024 * 1024

/** A clone under way, in a hidden folder beside its destination. */
export interface Cloning {
  progress(): string
  done: Promise<void>
}

/**
 * Clones a repository. It appears whole at its destination, or not at all. No hook, submodule or template comes along,
 * and nothing but these protocols is used, whatever the address leads to. The address may still be under examination.
 */
export function cloneInto(from: string | Promise<string>, path: string): Cloning {
  const folder = join(dirname(path), `.${basename(path).slice(0, 50)}.${randomUUID()}.cloning`)
  const messages = join(folder, 'messages')
  return { progress: () => progressIn(readPlain(messages, MOST_MESSAGES) ?? ''), done: cloned() }

  async function cloned(): Promise<void> {
    const address = await from
    if (isThere(path)) throw taken(path)
    await mkdir(folder, { mode: 0o700 })
    const slow = ['-c', 'http.lowSpeedLimit=1000', '-c', 'http.lowSpeedTime=60']
    const options = ['--progress', '--template=', '--no-recurse-submodules', '--no-local', '--origin=origin']
    try {
      await git(folder, [...slow, 'clone', ...options, '--', address, 'repository'], {
        env: { ...signIn(), GIT_ALLOW_PROTOCOL: 'https:ssh:git:file', GIT_DEFAULT_REF_FORMAT: 'files' },
        timeoutMs: LONGEST_MS,
        messages,
      })
      await effect('git.init', async () => {
        if (isThere(path)) throw taken(path)
        await rename(join(folder, 'repository'), path)
      })
    } catch (failure) {
      throw failure instanceof GitFailed ? inWords(address, failure) : failure
    } finally {
      await rm(folder, { recursive: true, force: true })
    }
  }
}

/** An empty folder may be there: git would accept it too. */
const isThere = (path: string): boolean => {
  const found = lstatSync(path, { throwIfNoEntry: false })
  return found !== undefined && !(found.isDirectory() && readdirSync(path).length === 0)
}
const taken = (path: string): NotAllowed =>
  new NotAllowed(`${path} already exists.`, { try: 'Choose another name for the folder.' })

const STEPS: readonly [RegExp, string][] = [
  [/^(?:remote: )?(?:Enumerating|Counting|Compressing) objects/, 'Preparing on the other side'],
  [/^Receiving objects:\s+(\d+)%[^,]*(?:, ([\d.]+ \wi?B))?/, 'Receiving'],
  [/^Resolving deltas:\s+(\d+)%/, 'Unpacking'],
  [/^(?:Updating|Checking out) files:\s+(\d+)%/, 'Writing files'],
]

/** The newest progress that git printed, in words. */
export function progressIn(messages: string): string {
  const lines = messages.split(/[\r\n]+/).reverse()
  for (const line of lines)
    for (const [pattern, word] of STEPS) {
      const [found, percent, size] = pattern.exec(line) ?? []
      if (found) return [word, percent && `${percent} %`, size && `(${size})`].filter(Boolean).join(' ')
    }
  return 'Connecting'
}

const REASONS: readonly [RegExp, string, string][] = [
  [
    /could not read Username|Authentication failed|terminal prompts disabled|HTTP Basic|invalid credentials/i,
    'it does not exist, or you are not signed in to read it.',
    'Check the address. For a private repository, sign in with gh auth login, or clone it yourself and choose its folder.',
  ],
  [
    /Repository not found|not found|does not appear to be a git|does not exist/i,
    'there is no such repository.',
    'Check the address.',
  ],
  [
    /Permission denied \(/i,
    'the server accepts none of your SSH keys.',
    'Use the https address, or add your key there.',
  ],
  [
    /Host key verification failed/i,
    'this machine does not know the key of that server yet.',
    'Connect to it once with ssh in a terminal and confirm its key.',
  ],
  [
    /Could not resolve host/i,
    'no server has that name, or this machine is offline.',
    'Check the address and the network.',
  ],
  [
    /Connection refused|timed out|Failed to connect|unable to connect|Operation too slow/i,
    'the server does not answer.',
    'Check the address and the network.',
  ],
  [/No space left/i, 'the disk is full.', 'Free some space.'],
  [/not allowed|protocol/i, 'it leads to an address that is not allowed.', 'Use an https or ssh address.'],
]

function inWords(address: string, { stderr, exitCode, args, message }: GitFailed): Error {
  const reason = REASONS.find(([pattern]) => pattern.test(stderr || message))
  if (!reason) return new GitFailed(args, exitCode, lastLines(stderr || message), { try: 'Check the address.' })
  return new NotAllowed(`${address} cannot be cloned: ${reason[1]}`, {
    try: reason[2],
    facts: { stderr: lastLines(stderr) },
  })
}

const lastLines = (text: string): string =>
  text
    .split(/[\r\n]+/)
    .filter(line => /^(fatal|error|remote: (error|fatal))/i.test(line))
    .slice(-4)
    .join('\n') || text.slice(-400)
