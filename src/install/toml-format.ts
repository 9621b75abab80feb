import { isDeepStrictEqual } from 'node:util'
import { headingOf, printedKey, printedValue, readToml, readTomlSafely } from '../config/toml.ts'
import { Unfit } from '../domain/errors.ts'
import { eolOf } from '../platform/whole-files.ts'
import { type Format, type Item, isTable, valueAt } from './document.ts'

/** A table of its own at the end of the file; what the parser says afterwards decides whether that was right. */
export const toml: Format = { read: readToml, insertions, without }

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
    `[${path.map(printedKey).join('.')}]`,
    ...own.map(([key, value]) => `${printedKey(key)} = ${printedValue(value)}`),
    ...inner.flatMap(([key, value]) => ['', ...tableLines([...path, key], value)]),
  ]
}

/** The lines from the table's heading to the next one that is not its own; a line in a text may look like one. */
function without(text: string, { path }: Item): string {
  const before = readToml(text)
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
    if (isDeepStrictEqual(pruned(readTomlSafely(after), path), wanted)) return after
  }
  throw new Unfit(`${path.join('.')} is written in a way that cannot be taken out safely.`, {
    try: 'Take it out by hand.',
  })
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
