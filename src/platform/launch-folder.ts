import {
  closeSync,
  constants,
  existsSync,
  fstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readSync,
  writeFileSync,
  writeSync,
} from 'node:fs'
import { join } from 'node:path'

/**
 * Opens a file that an agent could have put something else in place of: a link, a device or a fifo is not opened, so
 * that reading never waits for anyone. Undefined: there is no such file.
 */
export function openPlain(file: string): number | undefined {
  let fd: number
  try {
    fd = openSync(file, constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOFOLLOW)
  } catch {
    return undefined
  }
  if (fstatSync(fd).isFile()) return fd
  closeSync(fd)
  return undefined
}

/** The text of such a file, if it is no longer than it may be. */
export function readPlain(file: string, maxBytes: number): string | undefined {
  const fd = openPlain(file)
  if (fd === undefined) return undefined
  try {
    const { size } = fstatSync(fd)
    if (size > maxBytes) return undefined
    const bytes = Buffer.alloc(size)
    return bytes.toString('utf8', 0, readSync(fd, bytes, 0, size, 0))
  } finally {
    closeSync(fd)
  }
}

/** Adds to a file of ours, unless something else was put in its place: what it notes is worth no waiting. */
export function appendPlain(file: string, text: string): void {
  const { O_WRONLY, O_APPEND, O_CREAT, O_NONBLOCK, O_NOFOLLOW } = constants
  try {
    const fd = openSync(file, O_WRONLY | O_APPEND | O_CREAT | O_NONBLOCK | O_NOFOLLOW, 0o600)
    try {
      if (fstatSync(fd).isFile()) writeSync(fd, text)
    } finally {
      closeSync(fd)
    }
  } catch (error) {
    if (!['ENXIO', 'ELOOP'].includes((error as NodeJS.ErrnoException).code ?? '')) throw error
  }
}

/**
 * In a launch's folder, what its program may write itself. The rest is the wrapper's and ours: through a link put there
 * from inside a sandbox, they would write outside of it.
 */
export const OWN_FOLDER = 'own'

/** Each launch has a folder of its own, `agent-1` and so on: one that nobody claimed is never used again. */
export function newestLaunch(directory: string, kind: string): string | undefined {
  if (!existsSync(directory)) return undefined
  const [newest] = launchesOf(directory, kind)
  return newest
}

/** Newest first. Whoever else makes folders here names them otherwise, or is not believed: see `launchOf`. */
function launchesOf(directory: string, kind: string): string[] {
  const numbers = readdirSync(directory).flatMap(name => {
    const [, is, number] = /^([a-z]+)-([1-9]\d{0,4})$/.exec(name) ?? []
    return is === kind ? [Number(number)] : []
  })
  return numbers.toSorted((a, b) => b - a).map(number => join(directory, `${kind}-${number}`))
}

/** The launch of a process that is known by pid and start: an agent may have made newer folders beside its own. */
export function launchOf(
  directory: string,
  kind: string,
  process: { pid: number; started: string } | null,
): string | undefined {
  if (!existsSync(directory)) return undefined
  // Where a server died before it noted the process: the one that a wrapper has claimed.
  const begins = process ? `${process.pid} ${process.started} ` : ''
  const own = launchesOf(directory, kind).find(launch => readPlain(join(launch, 'pid'), PID_BYTES)?.startsWith(begins))
  return own ?? newestLaunch(directory, kind)
}

const PID_BYTES = 200

export function nextLaunch(directory: string, kind: string): string {
  const newest = newestLaunch(directory, kind)
  const number = newest ? Number(newest.slice(newest.lastIndexOf('-') + 1)) + 1 : 1
  const folder = join(directory, `${kind}-${number}`)
  mkdirSync(join(folder, OWN_FOLDER), { recursive: true, mode: 0o700 })
  return folder
}

export function writeFiles(
  directory: string,
  files: Readonly<Record<string, string | { content: string; mode: number }>>,
): void {
  for (const [name, file] of Object.entries(files)) {
    const { content, mode } = typeof file === 'string' ? { content: file, mode: 0o600 } : file
    writeFileSync(join(directory, name), content, { mode })
  }
}

/** The end of what a program printed, errors last: for a sentence, or as evidence. */
export function outputOf(directory: string, maxBytes: number): string {
  return ['stdout', 'stderr']
    .map(name => endOf(join(directory, name), maxBytes))
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
