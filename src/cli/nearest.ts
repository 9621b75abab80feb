/** The name that was probably meant: at most two letters differ, and not most of the word. */
export function nearest(written: string, names: readonly string[]): string | undefined {
  const [best] = names
    .map(name => ({ name, away: distance(written.toLowerCase(), name) }))
    .filter(({ name, away }) => away <= 2 && away * 2 < name.length)
    .sort((a, b) => a.away - b.away)
  return best?.name
}

/** The number of letters to add, remove or change to turn one word into the other. */
function distance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, i) => i)
  for (const [i, letter] of [...a].entries()) {
    const next = [i + 1]
    for (let j = 0; j < b.length; j++)
      next.push(Math.min(row[j + 1]! + 1, next[j]! + 1, row[j]! + (letter === b[j] ? 0 : 1)))
    row = next
  }
  return row[b.length]!
}
