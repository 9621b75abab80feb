import type { Hunk, Line } from './parse.ts'

const STEP = 20

/** How many lines are hidden before this hunk, or after the last one; undefined: not known yet. */
export function hiddenBefore(hunks: readonly Hunk[], at: number, total?: number): number | undefined {
  const above = hunks[at - 1]
  const below = hunks[at]
  const first = above ? endOf(above.newStart, above.newCount) : 1
  if (below) return startOf(below.newStart, below.newCount) - first
  return total === undefined ? undefined : total - first + 1
}

/** The hunks with some of the hidden lines before one of them, or after the last. Hunks that touch are joined. */
export function expanded(hunks: readonly Hunk[], at: number, text: readonly string[]): Hunk[] {
  const above = hunks[at - 1]
  const below = hunks[at]
  const first = above ? endOf(above.newStart, above.newCount) : 1
  const end = below ? startOf(below.newStart, below.newCount) : text.length + 1
  const shift = above
    ? endOf(above.oldStart, above.oldCount) - first
    : below
      ? startOf(below.oldStart, below.oldCount) - end
      : 0
  const lines = (from: number, to: number): Line[] =>
    Array.from({ length: Math.max(0, to - from) }, (_, index) => ({
      sign: ' ',
      text: text[from + index - 1] ?? '',
      old: from + index + shift,
      new: from + index,
    }))
  const closes = end - first <= (above && below ? 2 * STEP : STEP)
  const down = above ? lines(first, closes ? end : Math.min(end, first + STEP)) : []
  const up = below ? lines(closes && above ? end : Math.max(first, closes ? first : end - STEP), end) : []
  const grown = [above && hunkWith(above, [], down), below && hunkWith(below, up, [])].filter(
    each => each !== undefined,
  )
  const [one, two] = grown
  const joined = one && two && closes ? [hunkWith(one, [], two.lines)] : grown
  return [...hunks.slice(0, Math.max(0, at - 1)), ...joined, ...hunks.slice(at + 1)]
}

/** If a side has no lines, git gives the number of the line before. */
const startOf = (start: number, count: number): number => (count ? start : start + 1)
const endOf = (start: number, count: number): number => startOf(start, count) + count

function hunkWith(hunk: Hunk, before: Line[], after: Line[]): Hunk {
  const lines = [...before, ...hunk.lines, ...after]
  const numbers = (side: 'old' | 'new') => lines.map(line => line[side]).filter(number => number !== null)
  const [old, now] = [numbers('old'), numbers('new')]
  return {
    ...hunk,
    oldStart: old[0] ?? hunk.oldStart,
    oldCount: old.length,
    newStart: now[0] ?? hunk.newStart,
    newCount: now.length,
    section: before.length ? '' : hunk.section,
    lines,
  }
}
