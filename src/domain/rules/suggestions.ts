import type { Comment } from '../records/mission.ts'

const SUGGESTION = /^(?<fence>`{3,})suggestion[ \t]*\n(?<code>(?:.*\n)*?)\k<fence>[ \t]*$/gm

/** The lines that a comment suggests, in a block as on GitHub. Undefined: it suggests none, or more than one thing. */
export function suggestionIn(body: string): string[] | undefined {
  const found = [...body.replaceAll('\r\n', '\n').matchAll(SUGGESTION)]
  if (found.length !== 1) return undefined
  const code = found[0]!.groups!.code!
  return code === '' ? [] : code.slice(0, -1).split('\n')
}

/** The lines of the new file that a comment is about. */
export interface Range {
  path: string
  first: number
  last: number
}

export function rangeOf({ path, line, start_line, side }: Placed): Range | undefined {
  return path && line && side === 'new' ? { path, first: start_line ?? line, last: line } : undefined
}
type Placed = Pick<Comment, 'path' | 'line' | 'start_line' | 'side'>

/**
 * A file with these lines in place of others. All others stay as they are, and the new ones end as those there do, or as
 * the one before them if the last line has no end. Undefined: it has no such lines.
 */
export function withLines(text: string, { first, last }: Range, lines: readonly string[]): string | undefined {
  const all = text.match(/[^\n]*\n|[^\n]+$/g) ?? []
  if (first < 1 || last < first || last > all.length) return undefined
  const ending = endOf(all[first - 1]!) || endOf(all[first - 2] ?? '') || '\n'
  const added = lines.map(line => line + ending).join('')
  const isLast = last === all.length && !endOf(all[last - 1]!)
  return all.slice(0, first - 1).join('') + (isLast ? added.slice(0, -ending.length) : added) + all.slice(last).join('')
}

const endOf = (line: string): string => /\r?\n$/.exec(line)?.[0] ?? ''

/**
 * Where a comment is after lines of a file were replaced. Undefined: it was about some of these lines, or about the
 * file as it was before the work.
 */
export function placeAfter<C extends Placed>(comment: C, range: Range, count: number): C | undefined {
  const { path, line, start_line } = comment
  if (path !== range.path || !line || comment.side === 'old') return comment
  if (line < range.first) return comment
  if ((start_line ?? line) <= range.last) return undefined
  const moved = count - (range.last - range.first + 1)
  return { ...comment, line: line + moved, start_line: start_line && start_line + moved }
}

/** What a comment says beside its suggestion. */
export const withoutSuggestion = (body: string): string => body.replaceAll('\r\n', '\n').replace(SUGGESTION, '').trim()
