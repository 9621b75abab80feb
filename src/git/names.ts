/**
 * A path is bytes. Code uses a *byte name*: a string with one character per byte, which can be compared, split and
 * given back to git or the file system without loss. People see text.
 */
const BEYOND_ASCII = /[\x80-\xff]/
const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

/** A byte name for people: as UTF-8, or with the bytes that are not ASCII as \\xNN. */
export const shownName = (name: string): string =>
  textOf(name) ?? name.replace(/[\x80-\xff]/g, byte => `\\x${byte.charCodeAt(0).toString(16)}`)

/** A byte name as text; undefined if it is not UTF-8. */
export function textOf(name: string): string | undefined {
  if (!BEYOND_ASCII.test(name)) return name
  try {
    return utf8.decode(Buffer.from(name, 'latin1'))
  } catch {
    return undefined
  }
}

export const byteName = (text: string): string => Buffer.from(text, 'utf8').toString('latin1')

/** For the file system, and for git's standard input. */
export const nameBytes = (name: string): Buffer => Buffer.from(name, 'latin1')
