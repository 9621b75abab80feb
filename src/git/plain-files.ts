import { closeSync, constants, fstatSync, openSync, readSync } from 'node:fs'

/** Large enough for any file git writes, including the packed refs of a very large repository. */
const MAX_BYTES = 64 * 1024 * 1024

export interface PlainFileOptions {
  maxBytes?: number
  /** Do not follow links. */
  refuseLinks?: boolean
  /** Read only this many bytes of it. */
  first?: number
}

/**
 * The content of a regular file; undefined: there is none, or it is larger. An agent can put a pipe, a socket or a
 * device in its place, and reading one may never end. So the open does not wait, and nothing is read before the kind is
 * known.
 */
export function readPlainFile(path: string | Buffer, options: PlainFileOptions = {}): Buffer | undefined {
  const { maxBytes = MAX_BYTES, refuseLinks = false, first = maxBytes } = options
  let fd: number | undefined
  try {
    fd = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK | (refuseLinks ? constants.O_NOFOLLOW : 0))
    const opened = fstatSync(fd)
    return opened.isFile() && opened.size <= maxBytes ? readBytes(fd, Math.min(opened.size, first)) : undefined
  } catch {
    return undefined
  } finally {
    if (fd !== undefined) closeSync(fd)
  }
}

/** Reads at most the size that was seen, however fast the file grows. */
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
