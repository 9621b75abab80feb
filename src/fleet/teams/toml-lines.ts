import { headingOf } from '../../config/toml.ts'

/** The line of a value in a TOML file, counted from 1; that of the table around it if the value is not there. */
export function tomlLineOf(text: string, path: readonly string[]): number | undefined {
  const [first, place, ...rest] = path
  const [list, key] = /^\d+$/.test(place ?? '') ? [Number(place), rest[0]] : [undefined, first]
  let at = -1
  let table: string | undefined
  let found: number | undefined
  for (const { line, number } of outsideTexts(text)) {
    const heading = headingOf(line)
    if (heading) {
      table = heading[0]
      if (table === first && /^\s*\[\[/.test(line) && heading.length === 1 && ++at === list) found = number
      continue
    }
    const isHere = list === undefined ? table === undefined : table === first && at === list
    if (isHere && key !== undefined && line.match(/^\s*["']?([\w-]+)["']?\s*=/)?.[1] === key) return number
  }
  return found
}

/** The lines that do not begin inside a text of several lines. */
function* outsideTexts(text: string): Generator<{ line: string; number: number }> {
  let inside: string | undefined
  for (const [index, line] of text.split('\n').entries()) {
    const began = inside
    for (const [mark] of line.matchAll(/"""|'''/g)) inside = inside === mark ? undefined : (inside ?? mark)
    if (!began) yield { line, number: index + 1 }
  }
}
