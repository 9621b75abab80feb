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
import { dirname, join, resolve } from 'node:path'
import { NotAllowed, Unfit } from '../domain/errors.ts'
import { newId } from '../domain/ids.ts'

/** More than any file has that we read by its name. */
const MOST_BYTES = 64 * 1024 * 1024

/** What a file holds, byte for byte, or undefined if it is not there. Nothing in a file's place makes it wait. */
export function textOf(file: string): string | undefined {
  const bytes = bytesOf(file)
  if (!bytes) return undefined
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
  } catch (cause) {
    throw new Unfit(`${file} is not written in UTF-8, so it is left alone.`, { cause })
  }
}

function bytesOf(file: string): Buffer | undefined {
  let fd: number | undefined
  try {
    // Opening a FIFO or a device could wait for ever otherwise.
    fd = openSync(file, constants.O_RDONLY | constants.O_NONBLOCK)
    const found = fstatSync(fd)
    if (!found.isFile()) throw notPlain(file)
    if (found.size > MOST_BYTES) throw new Unfit(`${file} is larger than ${MOST_BYTES / 1024 / 1024} MiB.`)
    return readFileSync(fd)
  } catch (cause) {
    if (cause instanceof Unfit) throw cause
    const { code } = cause as NodeJS.ErrnoException
    if (code === 'ENOENT') return undefined
    // A socket, or a device that is not there.
    if (code === 'ENXIO') throw notPlain(file)
    throw new Unfit(`${file} cannot be read (${code}).`, { cause })
  } finally {
    if (fd !== undefined) closeSync(fd)
  }
}

const notPlain = (file: string): Unfit =>
  new Unfit(`${file} is not a file.`, { try: 'Move away what is in its place.' })

/** For a file that others open: what is in its place is a file, or nothing. */
export function requirePlain(file: string): void {
  const found = statSync(file, { throwIfNoEntry: false })
  if (found && !found.isFile()) throw notPlain(file)
}

export const eolOf = (text: string): string => (text.includes('\r\n') ? '\r\n' : '\n')

/** The file itself, where a link leads to it: renaming over a link would cut it. */
export function behindLinks(file: string): string {
  try {
    return realpathSync(file)
  } catch {
    try {
      return behindLinks(resolve(dirname(file), readlinkSync(file)))
    } catch {
      return file
    }
  }
}

/**
 * Puts the new text in the place of the old one at once: whoever reads meanwhile finds one or the other whole.
 * Answers with the topmost folder that had to be made.
 */
export function replaceText(file: string, before: string | undefined, after: string): string | undefined {
  const folder = mkdirSync(dirname(file), { recursive: true })
  const old = before === undefined ? undefined : statSync(file)
  const next = join(dirname(file), `.flotilla-${newId()}.tmp`)
  try {
    const fd = openSync(next, 'wx', old ? 0o600 : 0o644)
    writeFileSync(fd, after)
    fsyncSync(fd)
    closeSync(fd)
    if (old) {
      chmodSync(next, old.mode & 0o7777)
      if (process.getuid?.() === 0) chownSync(next, old.uid, old.gid)
    }
    if (textOf(file) !== before)
      throw new NotAllowed(`${file} was changed by someone else just now; nothing was written.`, {
        try: 'Run the command again.',
      })
    renameSync(next, file)
  } finally {
    rmSync(next, { force: true })
  }
  return folder
}

/** Also the folders that were made for it, as far as nothing else has come into them. */
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
