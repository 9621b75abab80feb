import { isDeepStrictEqual } from 'node:util'
import { parse } from 'smol-toml'
import { Unfit } from '../domain/errors.ts'
import { eolOf } from '../platform/whole-files.ts'

/** Reads TOML, and changes it without touching any other byte. The parser checks every result. */

export function readToml(text: string): unknown {
  return plain(parse(text.replace(/^\ufeff/, ''), { integersAsBigInt: 'asNeeded' }))
}

/** The parser's tables have no prototype. Ours have one, so that they can be compared. */
function plain(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(plain)
  const isTable = typeof value === 'object' && value !== null && Object.getPrototypeOf(value) === null
  return isTable ? Object.fromEntries(Object.entries(value).map(([key, each]) => [key, plain(each)])) : value
}

/** The parsed text; undefined if it is not TOML. */
export function readTomlSafely(text: string): unknown {
  try {
    return readToml(text)
  } catch {
    return undefined
  }
}

export const printedKey = (key: string): string => (/^[\w-]+$/.test(key) ? key : JSON.stringify(key))

export function printedValue(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(printedValue).join(', ')}]`
  if (typeof value !== 'object' || value === null) return JSON.stringify(value)
  const pairs = Object.entries(value).map(([key, each]) => `${printedKey(key)} = ${printedValue(each)}`)
  return pairs.length ? `{ ${pairs.join(', ')} }` : '{}'
}

/** The keys of a heading such as `[a.b]`; undefined for another line. A line inside a text may look like one. */
export function headingOf(line: string): string[] | undefined {
  const inner = /^\s*\[{1,2}([^[\]]+)\]{1,2}\s*(?:#.*)?$/.exec(line.trimEnd())?.[1]
  return inner?.split('.').map(key => key.trim().replace(/^(["'])(.*)\1$/, '$2'))
}

/** The text with this top-level key set to the value; undefined removes the key. Comments and order stay. */
export function withKey(text: string, key: string, value: unknown): string {
  const before = readToml(text) as Record<string, unknown>
  const { [key]: _, ...others } = before
  const wanted = value === undefined ? others : { ...others, [key]: value }
  if (isDeepStrictEqual(before, wanted)) return text
  const fits = (candidate: string): boolean => isDeepStrictEqual(readTomlSafely(candidate), wanted)
  const candidates = Object.hasOwn(before, key) ? replacements(text, key, value) : additions(text, key, value)
  for (const candidate of candidates) if (fits(candidate)) return candidate
  throw new Unfit(`${key} is written in a way that cannot be changed safely.`, { try: 'Change it by hand.' })
}

const ASSIGNED = /^(\s*(?:([\w-]+)|"([^"]*)"|'([^']*)')\s*=\s*)(.*?)(\s*#[^"'\r\n]*)?(\r?\n)?$/s

/** Replaces the lines from the key on, up to each possible end. A table of its own becomes one line. */
function* replacements(text: string, key: string, value: unknown): Iterable<string> {
  const lines = text.split(/(?<=\n)/)
  for (const [start, line] of lines.entries()) {
    const [, name = '', bare, double, single, , comment = '', eol = ''] = ASSIGNED.exec(line) ?? []
    const isTable = headingOf(line)?.[0] === key
    if (!isTable && (bare ?? double ?? single) !== key) continue
    const said = value === undefined ? '' : `${name}${printedValue(value)}${comment}${eol || eolOf(text)}`
    for (let end = start + 1; end <= lines.length; end++) {
      const rest = [...lines.slice(0, start), isTable ? '' : said, ...lines.slice(end)].join('')
      if (isTable && value !== undefined) yield* additions(rest, key, value)
      else yield rest
    }
  }
}

/** Inserts after the last setting before the first heading. A comment in between may belong to the heading. */
function* additions(text: string, key: string, value: unknown): Iterable<string> {
  const lines = text.split(/(?<=\n)/)
  const said = `${printedKey(key)} = ${printedValue(value)}`
  const headings = lines.flatMap((line, index) => (headingOf(line) ? [index] : []))
  for (const heading of [...headings, lines.length]) {
    const isEnd = heading === lines.length
    const last = isEnd ? heading - 1 : lines.slice(0, heading).findLastIndex(line => !/^\s*(#|$)/.test(line))
    const head = lines.slice(0, last + 1).join('')
    const gap = head && !head.endsWith('\n') && head !== '\ufeff' ? eolOf(text) : ''
    yield `${head}${gap}${said}${eolOf(text)}${lines.slice(last + 1).join('')}`
  }
}
