const MAX_LINE = 200

/** The lines that go and come, without those around them: a neighbour's line may hold a secret. */
export function diffOf(file: string, before: string | undefined, after: string | undefined): string {
  const [old, next] = [linesOf(before), linesOf(after)]
  let head = 0
  while (head < Math.min(old.length, next.length) && old[head] === next[head]) head++
  let tail = 0
  while (tail < Math.min(old.length, next.length) - head && old.at(-1 - tail) === next.at(-1 - tail)) tail++
  const hunks = hunksOf(old.slice(head, old.length - tail), next.slice(head, next.length - tail), head)
  const name = (text: string | undefined) => (text === undefined ? '/dev/null' : file)
  return [`--- ${name(before)}`, `+++ ${name(after)}`, ...hunks].join('\n')
}

const linesOf = (text: string | undefined): string[] => text?.split(/(?<=\n)/) ?? []

function hunksOf(old: string[], next: string[], head: number): string[] {
  const common = longestCommon(old, next)
  const out: string[] = []
  let [i, j, open] = [0, 0, false]
  while (i < old.length || j < next.length) {
    if (i < old.length && j < next.length && old[i] === next[j]) {
      ;[i, j, open] = [i + 1, j + 1, false]
      continue
    }
    if (!open) out.push(`@@ line ${j + head + 1} @@`)
    open = true
    const goes = j === next.length || (i < old.length && common[i + 1]![j]! >= common[i]![j + 1]!)
    out.push(goes ? `-${shown(old[i++]!)}` : `+${shown(next[j++]!)}`)
  }
  return out
}

/** How many lines both have in common from each pair of places on. */
function longestCommon(old: string[], next: string[]): number[][] {
  const table = Array.from({ length: old.length + 1 }, () => new Array<number>(next.length + 1).fill(0))
  for (let i = old.length - 1; i >= 0; i--)
    for (let j = next.length - 1; j >= 0; j--)
      table[i]![j] = old[i] === next[j] ? table[i + 1]![j + 1]! + 1 : Math.max(table[i + 1]![j]!, table[i]![j + 1]!)
  return table
}

const shown = (line: string): string => {
  const text = line.replace(/\r?\n$/, '')
  return text.length > MAX_LINE ? `${text.slice(0, MAX_LINE)}…` : text
}
