import { execFile } from 'node:child_process'
import { accessSync, constants, statSync } from 'node:fs'
import { access, stat } from 'node:fs/promises'
import { delimiter, isAbsolute, join } from 'node:path'
import { promisify } from 'node:util'
import type { Detected } from './adapter.ts'

const VERSION_TIMEOUT_MS = 10_000
const ANSWER_TIMEOUT_MS = 30_000
const ANSWER_BYTES = 16 * 1024 * 1024

type Environment = Readonly<Record<string, string | undefined>>

/**
 * The path of a command on the PATH. Relative entries are skipped, because they mean something else in every directory.
 */
export async function which(command: string, environment: Environment): Promise<string | undefined> {
  const folders = (environment.PATH ?? '').split(delimiter).filter(isAbsolute)
  for (const folder of folders) {
    const path = join(folder, command)
    if (isProgram(path)) return path
  }
  return undefined
}

// Synchronous, because it is asked for every folder of the PATH whenever a program is launched, and mostly nothing is
// there: the thread pool and an error cost more than the answer.
function isProgram(path: string): boolean {
  try {
    if (!statSync(path, { throwIfNoEntry: false })?.isFile()) return false
    accessSync(path, constants.X_OK)
    return true
  } catch {
    return false
  }
}

export const exists = (path: string): Promise<boolean> =>
  access(path).then(
    () => true,
    () => false,
  )

export interface ClientProgram {
  program: string
  /** How to get it, as a sentence and as the command to run. */
  install: string
  installCommand: string
  signIn: string
  signInCommand: string
  /** Judges by files that exist; undefined: nobody can tell. */
  isSignedIn(environment: Environment): Promise<boolean | undefined>
  /** Whether a person is told how to sign in even if nobody can tell whether they are. */
  advisesUnknown?: boolean
}

/** How an adapter finds the client that it drives. */
export const detecting =
  ({ program, isSignedIn, advisesUnknown = true, ...how }: ClientProgram) =>
  async (environment: Environment): Promise<Detected> => {
    const path = await which(program, environment)
    if (!path) return { installed: false, advice: how.install, command: how.installCommand }
    const version = await versionOf(path, environment)
    if (!version)
      return {
        installed: false,
        path,
        advice: `${path} does not answer to --version; install it again.`,
        command: how.installCommand,
      }
    const signedIn = await isSignedIn(environment)
    const advises = signedIn === false || (signedIn === undefined && advisesUnknown)
    return {
      installed: true,
      path,
      version,
      signedIn,
      ...(advises && { advice: how.signIn, command: how.signInCommand }),
    }
  }

/** What a client prints about itself. */
export async function printed(path: string, args: readonly string[], env: Record<string, string>): Promise<string> {
  const asked = promisify(execFile)(path, [...args], { timeout: ANSWER_TIMEOUT_MS, maxBuffer: ANSWER_BYTES, env })
  return (await asked).stdout
}

const versions = new Map<string, Promise<string | undefined>>()

/** The first line of `--version`. It is asked once for each state of the file, because some clients take a second. */
export async function versionOf(path: string, environment: Environment): Promise<string | undefined> {
  const key = `${path}@${(await stat(path)).mtimeMs}`
  const known = versions.get(key) ?? askVersion(path, environment)
  versions.set(key, known)
  const version = await known
  // A failure is not remembered: the machine may just have been busy.
  if (version === undefined) versions.delete(key)
  return version
}

async function askVersion(path: string, { PATH, HOME }: Environment): Promise<string | undefined> {
  try {
    const { stdout } = await promisify(execFile)(path, ['--version'], {
      timeout: VERSION_TIMEOUT_MS,
      env: { PATH, HOME },
    })
    return stdout.match(/\d+\.\d+\S*/)?.[0]
  } catch {
    return undefined
  }
}
