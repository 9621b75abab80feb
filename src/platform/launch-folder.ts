import { closeSync, existsSync, fstatSync, mkdirSync, readdirSync, readSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { openPlain, readPlain } from './plain-files.ts'

/**
 * The folder of a session, a preview or a check has a folder for each launch: `agent-1` and so on. These are all files
 * in one. `wrapper.sh` and `courier.sh` use the same names.
 */
const LAUNCH_FILES = {
  /**
   * The process that makes this owns the launch. A wrapper makes a file; a server that gives the launch up makes a
   * folder.
   */
  claim: 'claim',
  /** Pid, start and boot of the wrapper. */
  process: 'pid',
  exit: 'exit',
  /** Room for the exit code. The wrapper writes the code into it as the last thing it does. */
  ending: 'ending',
  /** Exists if the program printed more than is kept. */
  full: 'full',
  /** The path of its control group. */
  group: 'group',
  stdin: 'stdin',
  stdout: 'stdout',
  stderr: 'stderr',
  /** Everything that was sent to it. */
  sent: 'sent',
  /** When each part of these arrived. */
  times: 'times',
  stdoutPipe: 'stdout.pipe',
  stderrPipe: 'stderr.pipe',
  /** The folder of messages on their way to it. */
  messages: 'messages',
  /** The state in which the conversation began. */
  dialogue: 'dialogue.json',
  prompt: 'prompt',
  /** For a team member: its mail, a JSON object per line. */
  mail: 'mail.jsonl',
  /** The folder of the images that belong to the prompt. */
  images: 'images',
  /** The report that the agent may write. */
  result: join('own', 'result.json'),
} as const
export type LaunchFile = keyof typeof LAUNCH_FILES

export const fileOf = (launch: string, file: LaunchFile): string => join(launch, LAUNCH_FILES[file])
/** The file's name in the folder. */
export const nameOf = (file: LaunchFile): string => LAUNCH_FILES[file]

export type LaunchKind = 'agent' | 'setup' | 'check' | 'kept'

/**
 * The part of a launch's folder that its program may write. Only the wrapper and the server write the rest: a link put
 * there from inside a sandbox would make them write outside of it.
 */
export const OWN_FOLDER = 'own'

/** Each launch has its own folder, `agent-1` and so on. One that nobody claimed is never used again. */
export function newestLaunch(directory: string, kind: LaunchKind): string | undefined {
  if (!existsSync(directory)) return undefined
  const [newest] = launchesOf(directory, kind)
  return newest
}

/** Newest first. An agent can make folders here too, but they do not mislead us: see `launchOf`. */
function launchesOf(directory: string, kind: LaunchKind): string[] {
  const numbers = readdirSync(directory).flatMap(name => {
    const [, is, number] = /^([a-z]+)-([1-9]\d{0,4})$/.exec(name) ?? []
    return is === kind ? [Number(number)] : []
  })
  return numbers.toSorted((a, b) => b - a).map(number => join(directory, `${kind}-${number}`))
}

/**
 * Finds the launch of a process by its pid and start time, because an agent may have made newer folders beside its own.
 */
export function launchOf(
  directory: string,
  kind: LaunchKind,
  process: { pid: number; started: string } | null,
): string | undefined {
  if (!existsSync(directory)) return undefined
  // If a server died before it stored the process: the launch that a wrapper has claimed.
  const begins = process ? `${process.pid} ${process.started} ` : ''
  const own = launchesOf(directory, kind).find(launch =>
    readPlain(fileOf(launch, 'process'), PID_BYTES)?.startsWith(begins),
  )
  return own ?? newestLaunch(directory, kind)
}

const PID_BYTES = 200

export function nextLaunch(directory: string, kind: LaunchKind): string {
  const newest = newestLaunch(directory, kind)
  const number = newest ? Number(newest.slice(newest.lastIndexOf('-') + 1)) + 1 : 1
  const folder = join(directory, `${kind}-${number}`)
  mkdirSync(join(folder, OWN_FOLDER), { recursive: true, mode: 0o700 })
  return folder
}

export function writeFiles(directory: string, files: LaunchContent): void {
  for (const [name, file] of Object.entries(files)) {
    const { content, mode } =
      typeof file === 'string' || file instanceof Uint8Array ? { content: file, mode: 0o600 } : file
    const path = join(directory, name)
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
    writeFileSync(path, content, { mode })
  }
}

/** Files by their path in the folder. */
export type LaunchContent = Readonly<Record<string, string | Uint8Array | { content: string; mode: number }>>

/** The end of a program's output, errors last. */
export function outputOf(directory: string, maxBytes: number): string {
  return (['stdout', 'stderr'] as const)
    .map(name => endOf(fileOf(directory, name), maxBytes))
    .filter(Boolean)
    .join('\n')
}

function endOf(file: string, maxBytes: number): string {
  const fd = openPlain(file)
  if (fd === undefined) return ''
  try {
    const { size } = fstatSync(fd)
    const buffer = Buffer.alloc(Math.min(size, maxBytes))
    readSync(fd, buffer, 0, buffer.length, size - buffer.length)
    return (size > maxBytes ? '…' : '') + buffer.toString('utf8').trimEnd()
  } finally {
    closeSync(fd)
  }
}
