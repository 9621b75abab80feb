import {
  chmodSync,
  chownSync,
  closeSync,
  constants,
  existsSync,
  fstatSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  renameSync,
  rmdirSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { basename, dirname, join, resolve } from 'node:path'
import { NotAllowed, Unfit } from '../domain/errors.ts'
import { newId } from '../domain/ids.ts'

/** Larger than any file that we read by name. */
const MOST_BYTES = 64 * 1024 * 1024

/** The content of a file, byte for byte; undefined if it does not exist. Never waits, whatever is in its place. */
export function textOf(file: string): string | undefined {
  const bytes = bytesOf(file)
  if (!bytes) return undefined
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
  } catch (cause) {
    throw new Unfit(`${file} is not UTF-8, so it was left alone.`, { cause })
  }
}

function bytesOf(file: string): Buffer | undefined {
  let fd: number | undefined
  try {
    // Otherwise opening a FIFO or a device could wait for ever.
    fd = openSync(file, constants.O_RDONLY | constants.O_NONBLOCK)
    const found = fstatSync(fd)
    if (!found.isFile()) throw notPlain(file)
    if (found.size > MOST_BYTES) throw new Unfit(`${file} is larger than ${MOST_BYTES / 1024 / 1024} MiB.`)
    return readFileSync(fd)
  } catch (cause) {
    if (cause instanceof Unfit) throw cause
    const { code } = cause as NodeJS.ErrnoException
    if (code === 'ENOENT') return undefined
    // A socket, or a missing device.
    if (code === 'ENXIO') throw notPlain(file)
    throw new Unfit(`${file} cannot be read (${code}).`, { cause })
  } finally {
    if (fd !== undefined) closeSync(fd)
  }
}

const notPlain = (file: string): Unfit =>
  new Unfit(`${file} is not a file.`, { try: 'Move away what is in its place.' })

/** For a file that others open: there must be a file in its place, or nothing. */
export function requirePlain(file: string): void {
  const found = statSync(file, { throwIfNoEntry: false })
  if (found && !found.isFile()) throw notPlain(file)
}

export const eolOf = (text: string): string => (text.includes('\r\n') ? '\r\n' : '\n')

/**
 * The file that a link leads to: renaming over a link would replace the link. A file has the same name before and after
 * it exists, also below a folder that is a link.
 */
export function behindLinks(file: string): string {
  try {
    return realpathSync(file)
  } catch {
    try {
      return behindLinks(resolve(dirname(file), readlinkSync(file)))
    } catch {
      return dirname(file) === file ? file : join(behindLinks(dirname(file)), basename(file))
    }
  }
}

/**
 * Replaces the text in one step: a reader sees either the old or the new text, complete.
 * Returns the topmost folder that had to be created. `mode`: for a file that holds a secret; otherwise its mode stays.
 */
export function replaceText(
  file: string,
  before: string | undefined,
  after: string,
  mode?: number,
): string | undefined {
  const folder = mkdirSync(dirname(file), { recursive: true })
  const old = before === undefined ? undefined : statSync(file)
  const next = join(dirname(file), `.flotilla-${newId()}.tmp`)
  try {
    const fd = openSync(next, 'wx', old ? 0o600 : (mode ?? 0o644))
    writeFileSync(fd, after)
    fsyncSync(fd)
    closeSync(fd)
    if (old) {
      chmodSync(next, mode ?? old.mode & 0o7777)
      if (process.getuid?.() === 0) chownSync(next, old.uid, old.gid)
    }
    if (textOf(file) !== before)
      throw new NotAllowed(`Someone else changed ${file} just now; nothing was written.`, {
        try: 'Run the command again.',
      })
    renameSync(next, file)
  } finally {
    rmSync(next, { force: true })
  }
  return folder
}

/** Also removes the folders created for it, if they are empty. */
export function removeFile(file: string, made: string | undefined): void {
  rmSync(file, { force: true })
  for (let folder = dirname(file); made && folder.startsWith(made) && existsSync(folder); folder = dirname(folder)) {
    try {
      rmdirSync(folder)
    } catch {
      return
    }
  }
}
