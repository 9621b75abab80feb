import type { Line } from './parse.ts'

/** Two lines side by side; null: there is none on that side. */
export interface Pair {
  left: Line | null
  right: Line | null
}

/** Lines side by side: deleted lines opposite the added lines that replace them. */
export function pairsOf(lines: readonly Line[]): Pair[] {
  const pairs: Pair[] = []
  for (let at = 0; at < lines.length; ) {
    if (lines[at]!.sign === ' ') {
      pairs.push({ left: lines[at]!, right: lines[at]! })
      at++
      continue
    }
    const gone = runOf(lines, at, '-')
    const came = runOf(lines, at + gone.length, '+')
    for (let row = 0; row < Math.max(gone.length, came.length); row++)
      pairs.push({ left: gone[row] ?? null, right: came[row] ?? null })
    at += gone.length + came.length
  }
  return pairs
}

function runOf(lines: readonly Line[], start: number, sign: Line['sign']): Line[] {
  let end = start
  while (lines[end]?.sign === sign) end++
  return lines.slice(start, end)
}

/** Start and end in the text. */
export type Span = [start: number, end: number]

/** If more than this share of a line differs, marking the difference does not help. */
const TELLING = 0.7

/** The changed part of each line that replaces another one. */
export function changedParts(lines: readonly Line[]): Map<Line, Span> {
  const parts = new Map<Line, Span>()
  for (const { left, right } of pairsOf(lines)) {
    if (!left || !right || left === right) continue
    const [a, b] = [left.text, right.text]
    const shorter = Math.min(a.length, b.length)
    let head = 0
    while (head < shorter && a[head] === b[head]) head++
    // Do not split a surrogate pair.
    if (/[\ud800-\udbff]/.test(a[head - 1] ?? '')) head--
    let tail = 0
    while (tail < shorter - head && a.at(-1 - tail) === b.at(-1 - tail)) tail++
    if (tail && /[\udc00-\udfff]/.test(a.at(-tail)!)) tail--
    if (Math.max(a.length, b.length) - head - tail > TELLING * Math.max(a.length, b.length)) continue
    if (a.length > head + tail) parts.set(left, [head, a.length - tail])
    if (b.length > head + tail) parts.set(right, [head, b.length - tail])
  }
  return parts
}
