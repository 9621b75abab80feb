import { closeSync, constants, fstatSync, openSync, readSync } from 'node:fs'

/** Room for anything git writes for itself, the packed refs of a very large repository among it. */
const MAX_BYTES = 64 * 1024 * 1024

export interface PlainFileOptions {
  maxBytes?: number
  /** A link is no file of ours to follow. */
  refuseLinks?: boolean
}

/**
 * The content of a regular file; undefined where there is none, or a larger one. An agent can put a pipe, a socket or
 * a device where a file belongs, and a read of one may never end: so nothing is waited for, and nothing is read before
 * it is known what was opened.
 */
export function readPlainFile(path: string | Buffer, options: PlainFileOptions = {}): Buffer | undefined {
  const { maxBytes = MAX_BYTES, refuseLinks = false } = options
  let fd: number | undefined
  try {
    fd = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK | (refuseLinks ? constants.O_NOFOLLOW : 0))
    const opened = fstatSync(fd)
    return opened.isFile() && opened.size <= maxBytes ? readBytes(fd, opened.size) : undefined
  } catch {
    return undefined
  } finally {
    if (fd !== undefined) closeSync(fd)
  }
}

/** Never more than the size that was looked at, however fast the file grows. */
function readBytes(fd: number, size: number): Buffer {
  const content = Buffer.alloc(size)
  let length = 0
  while (length < size) {
    const count = readSync(fd, content, length, size - length, null)
    if (count === 0) break
    length += count
  }
  return content.subarray(0, length)
}
