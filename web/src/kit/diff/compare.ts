import type { Hunk, Line } from './parse.ts'

const CONTEXT = 3
/** With more differences than this, the shortest edit script costs too much. */
const MOST_EDITS = 600

/** The changed lines between two texts, with this many lines of context. */
export function compareTexts(before: string, after: string, context = CONTEXT): Hunk[] {
  const [old, now] = [linesOf(before), linesOf(after)]
  let head = 0
  while (head < old.length && head < now.length && old[head] === now[head]) head++
  let tail = 0
  while (tail < old.length - head && tail < now.length - head && old.at(-1 - tail) === now.at(-1 - tail)) tail++
  const middle = edits(old.slice(head, old.length - tail), now.slice(head, now.length - tail))
  const lines: Line[] = []
  let [oldNumber, newNumber] = [1, 1]
  const add = (sign: Line['sign'], text: string) => {
    const ends = text.endsWith('\n')
    lines.push({
      sign,
      text: ends ? text.slice(0, -1) : text,
      old: sign === '+' ? null : oldNumber++,
      new: sign === '-' ? null : newNumber++,
      ...(!ends && { unended: true }),
    })
  }
  for (const text of old.slice(0, head)) add(' ', text)
  for (const [sign, text] of middle) add(sign, text)
  for (const text of old.slice(old.length - tail)) add(' ', text)
  return hunksOf(lines, context)
}

/** Lines with their newline, so that a missing newline at the end counts as a change. */
const linesOf = (text: string): string[] => text.match(/[^\n]*\n|[^\n]+$/g) ?? []

type Edit = [Line['sign'], string]

/** The shortest edit script, by Myers' algorithm: how far each diagonal gets with one more edit each time. */
function edits(old: string[], now: string[]): Edit[] {
  const reached = new Map<number, number>([[1, 0]])
  const trace: Map<number, number>[] = []
  const most = Math.min(old.length + now.length, MOST_EDITS)
  for (let count = 0; count <= most; count++) {
    trace.push(new Map(reached))
    for (let diagonal = -count; diagonal <= count; diagonal += 2) {
      let x = cameDown(reached, diagonal, count) ? reached.get(diagonal + 1)! : reached.get(diagonal - 1)! + 1
      while (x < old.length && x - diagonal < now.length && old[x] === now[x - diagonal]) x++
      reached.set(diagonal, x)
      if (x >= old.length && x - diagonal >= now.length) return walkBack(trace, old, now)
    }
  }
  return [...old.map((text): Edit => ['-', text]), ...now.map((text): Edit => ['+', text])]
}

const cameDown = (reached: ReadonlyMap<number, number>, diagonal: number, count: number): boolean =>
  diagonal === -count || (diagonal !== count && reached.get(diagonal - 1)! < reached.get(diagonal + 1)!)

function walkBack(trace: ReadonlyMap<number, number>[], old: string[], now: string[]): Edit[] {
  const found: Edit[] = []
  let [x, y] = [old.length, now.length]
  for (let count = trace.length - 1; count >= 0; count--) {
    const reached = trace[count]!
    const diagonal = x - y
    const from = cameDown(reached, diagonal, count) ? diagonal + 1 : diagonal - 1
    const [fromX, fromY] = [reached.get(from)!, reached.get(from)! - from]
    while (x > fromX && y > fromY && x > 0 && y > 0) {
      found.push([' ', old[--x]!])
      y--
    }
    if (count === 0) break
    if (x === fromX) found.push(['+', now[--y]!])
    else found.push(['-', old[--x]!])
  }
  return found.reverse()
}

/** Changes with a few lines of context. Lines further away are left out. */
function hunksOf(lines: Line[], context: number): Hunk[] {
  const hunks: Hunk[] = []
  let end = 0
  for (let at = 0; at < lines.length; at++) {
    if (lines[at]!.sign === ' ') continue
    const start = Math.max(end, at - context)
    let last = at
    for (let next = at; next < lines.length && next - last <= 2 * context; next++)
      if (lines[next]!.sign !== ' ') last = next
    end = Math.min(lines.length, last + 1 + context)
    hunks.push(hunkOf(lines.slice(start, end)))
    at = end - 1
  }
  return hunks
}

const hunkOf = (lines: Line[]): Hunk => ({
  oldStart: lines.find(line => line.old !== null)?.old ?? 0,
  oldCount: lines.filter(line => line.old !== null).length,
  newStart: lines.find(line => line.new !== null)?.new ?? 0,
  newCount: lines.filter(line => line.new !== null).length,
  section: '',
  lines,
})
