import { parseConfiguration } from './configuration.ts'

export const GOOD = `# Mine.
max_concurrent = 6 # enough
default_agent = "claude"
allowed_repos = [
  "/srv/one", # the first
  "/srv/two",
]
preview_hours = 1.5

[max_per_agent]
claude = 2
`

/** A small random generator that gives the same numbers for the same seed. */
export function numbers(seed: number): (below: number) => number {
  let state = seed
  return below => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0
    return Math.floor((state / 2 ** 32) * below)
  }
}

const PIECES = [
  '=',
  '"',
  "'",
  '"""',
  '[',
  ']',
  '[[',
  '{',
  '}',
  '#',
  '\n',
  '\\',
  '\0',
  '\ufeff',
  '\ud800',
  '.',
  ',',
  '-',
  '0x',
  '1e999',
  'true',
  'nan',
  'inf',
  '1979-05-27T07:32:00Z',
  '9'.repeat(400),
  '__proto__ = 1\n',
  'constructor = 1\n',
  '[__proto__]\n',
  'max_concurrent = -1\n',
  'max_concurrent = 501\n',
  'maxConcurrent = 2\n',
  '[a]\nb = 1\n',
  'default_agent = []\n',
  'max_per_agent = { claude = 0 }\n',
  'stall_policy = "never"\n',
  '['.repeat(2000),
  '{a='.repeat(2000),
]

/** One way to damage a text: a cut, an inserted piece, a doubled part, swapped bytes. */
export function spoiled(text: string, next: (below: number) => number): string {
  const at = next(text.length + 1)
  const behind = at + next(12)
  const piece = PIECES[next(PIECES.length)]!
  const ways = [
    () => text.slice(0, at),
    () => text.slice(0, at) + text.slice(behind),
    () => text.slice(0, at) + piece + text.slice(at),
    () => text.slice(0, at) + text.slice(at, behind).repeat(1 + next(4)) + text.slice(behind),
    () => text.slice(0, at) + String.fromCharCode(next(0x10000)) + text.slice(at + 1),
    () => piece + text,
    () => text + piece,
  ]
  return ways[next(ways.length)]!()
}

/** Texts that the loader refuses. */
export const broken = (count: number, seed: number): string[] => {
  const next = numbers(seed)
  const found: string[] = []
  while (found.length < count) {
    let text = GOOD
    for (let times = 1 + next(4); times; times--) text = spoiled(text, next)
    // As if it was read back from a file.
    text = Buffer.from(text).toString()
    try {
      parseConfiguration(text)
    } catch {
      found.push(text)
    }
  }
  return found
}
