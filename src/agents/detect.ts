import { execFile } from 'node:child_process'
import { constants } from 'node:fs'
import { access, stat } from 'node:fs/promises'
import { delimiter, isAbsolute, join } from 'node:path'
import { promisify } from 'node:util'

const VERSION_TIMEOUT_MS = 10_000
const ANSWER_TIMEOUT_MS = 30_000
const ANSWER_BYTES = 16 * 1024 * 1024

type Environment = Readonly<Record<string, string | undefined>>

/** Where on the PATH a command is; relative entries are left out, since they mean something else in every directory. */
export async function which(command: string, environment: Environment): Promise<string | undefined> {
  const folders = (environment.PATH ?? '').split(delimiter).filter(isAbsolute)
  for (const folder of folders) {
    const path = join(folder, command)
    if (await isProgram(path)) return path
  }
  return undefined
}

async function isProgram(path: string): Promise<boolean> {
  try {
    await access(path, constants.X_OK)
    return (await stat(path)).isFile()
  } catch {
    return false
  }
}

/** What a client prints when it is asked for something of itself. */
export async function printed(path: string, args: readonly string[], env: Record<string, string>): Promise<string> {
  const asked = promisify(execFile)(path, [...args], { timeout: ANSWER_TIMEOUT_MS, maxBuffer: ANSWER_BYTES, env })
  return (await asked).stdout
}

const versions = new Map<string, Promise<string | undefined>>()

/** What `--version` prints first. Asked once for each state of the file: some clients take a second to say it. */
export async function versionOf(path: string, environment: Environment): Promise<string | undefined> {
  const key = `${path}@${(await stat(path)).mtimeMs}`
  const known = versions.get(key) ?? askVersion(path, environment)
  versions.set(key, known)
  const version = await known
  // Not remembered when it failed: the machine may just have been busy.
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
