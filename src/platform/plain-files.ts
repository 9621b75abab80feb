import { closeSync, constants, fstatSync, openSync, readSync, writeSync } from 'node:fs'

/**
 * Opens a file that an agent could have replaced. A link, a device or a FIFO is not opened, so that reading never
 * waits. Returns undefined if there is no plain file.
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

/** The text of such a file, if it is not too long. */
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

/** Appends to a file of ours, unless something else is in its place: these notes are not worth waiting for. */
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
