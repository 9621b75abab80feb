import { hiddenBefore } from './expand.ts'
import { changedParts, type Pair, pairsOf, type Span } from './pairs.ts'
import type { FileDiff, Hunk, Line } from './parse.ts'

/** A changed file as in a list, before its diff is loaded. */
export interface Listed {
  path: string
  change: 'added' | 'modified' | 'deleted' | 'renamed'
  from?: string
  /** Number of lines; null: it is not text. */
  added: number | null
  deleted: number | null
  /** A program writes it. */
  generated?: boolean
}

/** A line, or the last line of several. */
export interface Place {
  path: string
  side: 'old' | 'new'
  line: number
  /** The first line of several. */
  start?: number
}

/** A comment on a line, or without a line on the whole file. */
export interface PlacedComment {
  id: string
  side: 'old' | 'new'
  line: number | null
}

export type View = 'unified' | 'split'

/** One row of the page, with a height of its own. */
export type Row<R extends PlacedComment = PlacedComment> = { key: string; listed: Listed } & (
  | { kind: 'file' }
  | { kind: 'unread' }
  | { kind: 'note'; text: string }
  | { kind: 'gap'; at: number; hidden: number | undefined; section: string }
  | { kind: 'line'; hunk: Hunk; line: Line; part: Span | undefined }
  | { kind: 'pair'; hunk: Hunk; pair: Pair; parts: ReadonlyMap<Line, Span> }
  | { kind: 'comment'; comment: R }
  | { kind: 'writing'; place: Place }
  | { kind: 'end' }
)

export interface Shown<R extends PlacedComment> {
  listed: Listed
  /** Undefined: not loaded yet. */
  diff: FileDiff | undefined
  /** How many lines the file has now, if that is known. */
  total: number | undefined
  folded: boolean
  view: View
  comments: readonly R[]
  /** The line on which somebody is writing a comment. */
  writing: Place | undefined
}

/** The rows of one file. */
export const rowsOf = <R extends PlacedComment>(shown: Shown<R>): readonly Row<R>[] =>
  withComments(plainRows(shown), shown.comments, shown.writing)

/** The same without comments. */
export function plainRows({
  listed,
  diff,
  folded,
  ...shown
}: Omit<Shown<never>, 'comments' | 'writing'>): Row<never>[] {
  const head: Row<never> = { key: `${listed.path}\0`, listed, kind: 'file' }
  const end: Row<never> = { key: `${listed.path}\0end`, listed, kind: 'end' }
  if (folded) return [head, end]
  if (!diff) return [head, { key: `${listed.path}\0unread`, listed, kind: 'unread' }, end]
  const rest: Row<never>[] = diff.cut ? [{ key: `${listed.path}\0cut`, listed, kind: 'note', text: CUT }] : []
  const rows: Row<never>[] = [head, ...notesOf(listed, diff)]
  for (const row of linesOf({ listed, diff, ...shown })) rows.push(row)
  return [...rows, ...rest, end]
}

/** Puts each comment below its line. Comments whose line is not shown come last. */
export function withComments<R extends PlacedComment>(
  rows: readonly Row<never>[],
  comments: readonly R[],
  writing: Place | undefined,
): readonly Row<R>[] {
  const { listed } = rows[0]!
  if ((!comments.length && !writing) || rows[1]?.kind === 'end') return rows
  const rowOf = (comment: R): Row<R> => ({
    key: `${listed.path}\0comment ${comment.id}`,
    listed,
    kind: 'comment',
    comment,
  })
  const saidOn = (side: Place['side']) =>
    Map.groupBy(
      comments.filter(each => each.side === side),
      each => each.line,
    )
  const said = { old: saidOn('old'), new: saidOn('new') }
  const left = new Set(comments)
  let unwritten = writing
  const all: Row<R>[] = []
  for (const row of rows) {
    if (row.kind === 'end') for (const comment of left) all.push(rowOf(comment))
    all.push(row)
    for (const side of SIDES) {
      const line = lineOn(row, side)
      const here = line === null ? undefined : said[side].get(line)
      if (here) for (const comment of here) if (left.delete(comment)) all.push(rowOf(comment))
    }
    if (!unwritten || lineOn(row, unwritten.side) !== unwritten.line) continue
    all.push({ key: `${listed.path}\0writing`, listed, kind: 'writing', place: unwritten })
    unwritten = undefined
  }
  return all
}

const SIDES = ['old', 'new'] as const

/** The line number of a row on this side, if it has one. */
function lineOn(row: Row, side: Place['side']): number | null {
  if (row.kind === 'line') return row.line[side]
  return row.kind === 'pair' ? ((side === 'old' ? row.pair.left : row.pair.right)?.[side] ?? null) : null
}

const CUT = 'The rest is too long to show here; git diff on the machine of the fleet shows all of it'

function notesOf(listed: Listed, diff: FileDiff): Row<never>[] {
  const { oldMode, newMode, from, change, binary, hunks } = diff
  const notes = [
    from && `${change === 'copied' ? 'Copied' : 'Renamed'} from ${from}`,
    oldMode && newMode && `Mode changed from ${oldMode} to ${newMode}${modeWord(oldMode, newMode)}`,
    binary && 'Not text, so its content is not shown',
    !binary && !hunks.length && change === 'added' && 'Empty',
    !binary && !hunks.length && change === 'deleted' && 'The file was empty',
  ]
  return notes
    .filter(note => typeof note === 'string')
    .map(text => ({ key: `${listed.path}\0${text}`, listed, kind: 'note', text }))
}

const modeWord = (before: string, after: string): string => {
  if (after === '120000') return ': now a link'
  if (before === '120000') return ': no longer a link'
  return after === '100755' ? ': now executable' : before === '100755' ? ': no longer executable' : ''
}

interface Read {
  listed: Listed
  diff: FileDiff
  total: number | undefined
  view: View
}

function linesOf({ listed, diff, total, view }: Read): Row<never>[] {
  const rows: Row<never>[] = []
  const { path } = listed
  const whole = diff.change === 'added' || diff.change === 'deleted'
  const gap = (at: number) => {
    const hidden = hiddenBefore(diff.hunks, at, total)
    if (!whole && hidden !== 0)
      rows.push({ key: `${path}\0gap ${at}`, listed, kind: 'gap', at, hidden, section: diff.hunks[at]?.section ?? '' })
  }
  diff.hunks.forEach((hunk, at) => {
    gap(at)
    const parts = changedParts(hunk.lines)
    if (view === 'split')
      for (const pair of pairsOf(hunk.lines)) {
        const key = `${path}\0${pair.left?.old ?? ''}:${pair.right?.new ?? ''}`
        rows.push({ key, listed, kind: 'pair', hunk, pair, parts })
      }
    else
      for (const line of hunk.lines) {
        const key = `${path}\0${line.old ?? ''}:${line.new ?? ''}`
        rows.push({ key, listed, kind: 'line', hunk, line, part: parts.get(line) })
      }
  })
  if (diff.hunks.length && !reachesEnd(diff.hunks.at(-1)!)) gap(diff.hunks.length)
  return rows
}

/** The line that a comment on this row is about; undefined: it is not a line of a file. */
export function placeOf(row: Row): Place | undefined {
  const { path } = row.listed
  const line = row.kind === 'line' ? row.line : row.kind === 'pair' ? (row.pair.right ?? row.pair.left) : undefined
  if (!line) return undefined
  return line.sign === '-' ? { path, side: 'old', line: line.old! } : { path, side: 'new', line: line.new! }
}

export const isAt = (row: Row, { path, side, line }: Place): boolean =>
  lineOn(row, side) === line && row.listed.path === path

/** Whether a row is one of the lines of a place. */
export function isWithin(row: Row, { path, side, line, start = line }: Place): boolean {
  const at = lineOn(row, side)
  return at !== null && at >= start && at <= line && row.listed.path === path
}

/** All lines between two places. Lines of different files or sides make no range: the second place counts. */
export function rangeOf(one: Place | undefined, other: Place): Place {
  if (!one || one.path !== other.path || one.side !== other.side || one.line === other.line) return other
  const [start, line] = [Math.min(one.start ?? one.line, other.line), Math.max(one.line, other.line)]
  return { path: other.path, side: other.side, line, start }
}

/** The text of a place on the new side; undefined: some of its lines are not loaded. */
export function linesAt(diff: FileDiff | undefined, { side, line, start = line }: Place): string[] | undefined {
  if (side === 'old') return undefined
  const lines = (diff?.hunks ?? [])
    .flatMap(hunk => hunk.lines)
    .filter(each => each.new !== null && each.new >= start && each.new <= line)
  return lines.length === line - start + 1 ? lines.map(({ text }) => text.replace(/\r$/, '')) : undefined
}

/** The first added line, or without one the first deleted line. */
export function firstChange(rows: readonly Row[]): Place | undefined {
  let gone: Place | undefined
  for (const row of rows) {
    const isChange =
      row.kind === 'line' ? row.line.sign !== ' ' : row.kind === 'pair' && row.pair.left !== row.pair.right
    const place = isChange ? placeOf(row) : undefined
    if (place?.side === 'new') return place
    gone ??= place
  }
  return gone
}

const CONTEXT = 3
/** Git shows three lines after the last change. With fewer, the file ends there. */
const reachesEnd = ({ lines }: Hunk): boolean => lines.slice(-CONTEXT).some(line => line.sign !== ' ' || line.unended)
