/** A higher score is a better match; undefined: the letters do not occur in this order. */
export function fuzzyScore(wanted: string, path: string): number | undefined {
  const letters = wanted.toLowerCase()
  const lower = path.toLowerCase()
  const name = lower.lastIndexOf('/') + 1
  // Letters that all fit into the name of the file count more than letters all over its path.
  const inName = scoreFrom(letters, lower, path, name)
  const score = inName === undefined ? scoreFrom(letters, lower, path, 0) : inName + NAME_BONUS
  return score === undefined ? undefined : score - path.length / 100
}

const NAME_BONUS = 20
const RUN_BONUS = 5
const START_BONUS = 8

function scoreFrom(letters: string, lower: string, path: string, from: number): number | undefined {
  let score = 0
  let at = from - 1
  let run = 0
  for (const letter of letters) {
    const next = lower.indexOf(letter, at + 1)
    if (next < 0) return undefined
    run = next === at + 1 && next > from ? run + 1 : 0
    score += 1 + run * RUN_BONUS + (startsWord(path, next) ? START_BONUS : 0)
    at = next
  }
  return score
}

const startsWord = (path: string, at: number): boolean =>
  at === 0 || /[/._\- ]/.test(path[at - 1]!) || (/[A-Z]/.test(path[at]!) && /[a-z]/.test(path[at - 1]!))

/** The best matches, best first. */
export function fuzzyFind(wanted: string, paths: Iterable<string>, limit: number): string[] {
  const letters = wanted.replace(/\s+/g, '')
  const found: { path: string; score: number }[] = []
  for (const path of paths) {
    const score = letters ? fuzzyScore(letters, path) : -path.split('/').length
    if (score !== undefined) found.push({ path, score })
  }
  return found
    .sort((one, other) => other.score - one.score || one.path.localeCompare(other.path))
    .slice(0, limit)
    .map(({ path }) => path)
}
