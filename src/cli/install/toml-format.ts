import { isDeepStrictEqual } from 'node:util'
import { parse } from 'smol-toml'
import { Unfit } from '../../domain/errors.ts'
import { eolOf, type Format, type Item, isTable, valueAt } from './document.ts'

/** A table of its own at the end of the file; what the parser says afterwards decides whether that was right. */
export const toml: Format = { read, insertions, without }

function read(text: string): unknown {
  return plain(parse(text.replace(/^\ufeff/, ''), { integersAsBigInt: 'asNeeded' }))
}

/** The parser's tables have no prototype; ours have, and only like is equal to like. */
function plain(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(plain)
  const isTable = typeof value === 'object' && value !== null && Object.getPrototypeOf(value) === null
  return isTable ? Object.fromEntries(Object.entries(value).map(([key, each]) => [key, plain(each)])) : value
}

function insertions(text: string, { path, value }: Item) {
  const eol = eolOf(text)
  const empty = !text.replace(/^\ufeff/, '')
  const gap = empty ? '' : text.endsWith('\n') ? eol : eol + eol
  return [{ at: text.length, text: gap + tableLines(path, value as Record<string, unknown>).join(eol) + eol }]
}

function tableLines(path: readonly string[], table: Record<string, unknown>): string[] {
  const own = Object.entries(table).filter(([, value]) => !isTable(value))
  const inner = Object.entries(table).filter(([, value]) => isTable(value)) as [string, Record<string, unknown>][]
  return [
    `[${path.map(bare).join('.')}]`,
    ...own.map(([key, value]) => `${bare(key)} = ${printed(value)}`),
    ...inner.flatMap(([key, value]) => ['', ...tableLines([...path, key], value)]),
  ]
}

const bare = (key: string): string => (/^[\w-]+$/.test(key) ? key : JSON.stringify(key))
const printed = (value: unknown): string =>
  Array.isArray(value) ? `[${value.map(printed).join(', ')}]` : JSON.stringify(value)

/** The lines from the table's heading to the next one that is not its own; a line in a text may look like one. */
function without(text: string, { path }: Item): string {
  const before = read(text)
  if (valueAt(before, path) === undefined) return text
  const lines = text.split(/(?<=\n)/)
  const own = lines.map(line => {
    const heading = headingOf(line)
    return heading && path.every((key, index) => heading[index] === key)
  })
  const wanted = pruned(withoutPath(before, path), path)
  for (const [start, isOwn] of own.entries()) {
    if (!isOwn) continue
    const next = own.findIndex((each, index) => index > start && each === false)
    const after = [...lines.slice(0, start), ...(next < 0 ? [] : lines.slice(next))].join('')
    if (isDeepStrictEqual(pruned(safely(after), path), wanted)) return after
  }
  throw new Unfit(`${path.join('.')} is written in a way that cannot be taken out safely.`, {
    try: 'Take it out by hand.',
  })
}

function headingOf(line: string): string[] | undefined {
  const inner = /^\s*\[{1,2}([^[\]]+)\]{1,2}\s*(?:#.*)?$/.exec(line.trimEnd())?.[1]
  return inner?.split('.').map(key => key.trim().replace(/^(["'])(.*)\1$/, '$2'))
}

function safely(text: string): unknown {
  try {
    return read(text)
  } catch {
    return undefined
  }
}

function withoutPath(value: unknown, [key, ...rest]: readonly string[]): unknown {
  if (!isTable(value) || key === undefined) return value
  const { [key]: found, ...others } = value
  return rest.length ? { ...value, [key]: withoutPath(found, rest) } : others
}

/** A table above that is empty now: whether it is still there depends on who wrote its heading, and says nothing. */
function pruned(value: unknown, [key, ...rest]: readonly string[]): unknown {
  if (!isTable(value) || key === undefined || !rest.length) return value
  const { [key]: found, ...others } = value
  const inner = pruned(found, rest)
  return inner === undefined || (isTable(inner) && !Object.keys(inner).length) ? others : { ...others, [key]: inner }
}
