import { isDeepStrictEqual } from 'node:util'
import { headingOf, printedKey, printedValue, readToml, readTomlSafely } from '../config/toml.ts'
import { Unfit } from '../domain/errors.ts'
import { eolOf } from '../platform/whole-files.ts'
import { type Format, type Item, isTable, valueAt } from './document.ts'

/** Adds a table at the end of the file. The result is parsed again to check it. */
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

/**
 * Removes the lines from the table's heading to the next heading that is not its own. A line in a text may look like
 * one.
 */
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
  throw new Unfit(`${path.join('.')} is written in a way that cannot be removed safely.`, {
    try: 'Remove it by hand.',
  })
}

function withoutPath(value: unknown, [key, ...rest]: readonly string[]): unknown {
  if (!isTable(value) || key === undefined) return value
  const { [key]: found, ...others } = value
  return rest.length ? { ...value, [key]: withoutPath(found, rest) } : others
}

/** Leaves out a table above it that is empty now. It may still be there, depending on who wrote its heading. */
function pruned(value: unknown, [key, ...rest]: readonly string[]): unknown {
  if (!isTable(value) || key === undefined || !rest.length) return value
  const { [key]: found, ...others } = value
  const inner = pruned(found, rest)
  return inner === undefined || (isTable(inner) && !Object.keys(inner).length) ? others : { ...others, [key]: inner }
}
