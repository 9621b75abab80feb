/** ' ' is on both sides, '-' on the old one only, '+' on the new one only. */
export type Sign = ' ' | '-' | '+'

export interface Line {
  sign: Sign
  text: string
  /** Its number on the old side; null: it is not there. */
  old: number | null
  new: number | null
  /** The last line of its file, without a newline. */
  unended?: true
}

export interface Hunk {
  oldStart: number
  oldCount: number
  newStart: number
  newCount: number
  /** The context that git names, such as a function. */
  section: string
  lines: Line[]
}

export type Change = 'added' | 'modified' | 'deleted' | 'renamed' | 'copied'

export interface FileDiff {
  /** Its path, or its old path if it was deleted. */
  path: string
  /** Its earlier path, if it was moved. */
  from: string | null
  change: Change
  oldMode: string | null
  newMode: string | null
  binary: boolean
  hunks: Hunk[]
  /** The diff is not complete. */
  cut?: true
  additions: number
  deletions: number
}

const HUNK = /^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@ ?(.*)$/s

const emptyFile = (): FileDiff => ({
  path: '',
  from: null,
  change: 'modified',
  oldMode: null,
  newMode: null,
  binary: false,
  hunks: [],
  additions: 0,
  deletions: 0,
})

/**
 * Parses the output of `git diff`, also if it is cut off, and hunks without a header. The lines of a hunk are counted,
 * because a file may contain lines that look like a header.
 */
export function parseDiff(text: string): FileDiff[] {
  const lines = text.split('\n')
  // The last newline does not begin another line.
  if (lines.at(-1) === '') lines.pop()
  const files: FileDiff[] = []
  let file: FileDiff | undefined
  const begin = (): FileDiff => {
    const begun = emptyFile()
    files.push(begun)
    return begun
  }
  for (let at = 0; at < lines.length; ) {
    const line = lines[at]!
    const hunk = HUNK.exec(line)
    if (hunk) {
      file ??= begin()
      at = readHunk(lines, at + 1, hunk, file)
      continue
    }
    at++
    if (line.startsWith('diff --git ')) {
      file = begin()
      readNames(file, line.slice('diff --git '.length))
    } else if (line.startsWith('--- ') && lines[at]?.startsWith('+++ ')) {
      // A diff that git did not make begins a file with this line.
      file = file && !file.hunks.length ? file : begin()
      readOldName(file, line.slice(4))
      readNewName(file, lines[at]!.slice(4))
      at++
    } else if (file) readExtended(file, line)
  }
  return files
}

function readHunk(lines: string[], start: number, head: RegExpExecArray, file: FileDiff): number {
  const [oldStart, oldCount, newStart, newCount] = [head[1], head[2] ?? 1, head[3], head[4] ?? 1].map(Number) as [
    number,
    number,
    number,
    number,
  ]
  const hunk: Hunk = { oldStart, oldCount, newStart, newCount, section: head[5]!, lines: [] }
  file.hunks.push(hunk)
  let [before, after, at] = [0, 0, start]
  for (; at < lines.length; at++) {
    const line = lines[at]!
    const sign = line[0] ?? ' '
    if (sign === '\\') {
      const last = hunk.lines.at(-1)
      if (last) last.unended = true
      continue
    }
    if (before >= oldCount && after >= newCount) break
    if (sign === ' ' || sign === '-' || sign === '+') {
      hunk.lines.push({
        sign,
        text: line.slice(1),
        old: sign === '+' ? null : oldStart + before,
        new: sign === '-' ? null : newStart + after,
      })
      if (sign !== '+') before++
      if (sign !== '-') after++
      if (sign === '+') file.additions++
      if (sign === '-') file.deletions++
    } else break
  }
  return at
}

const EXTENDED: [prefix: string, told: (rest: string) => Partial<FileDiff>][] = [
  ['old mode ', rest => ({ oldMode: rest })],
  ['new mode ', rest => ({ newMode: rest })],
  ['new file mode ', rest => ({ newMode: rest, change: 'added' })],
  ['deleted file mode ', rest => ({ oldMode: rest, change: 'deleted' })],
  ['rename from ', rest => ({ from: unquoted(rest), change: 'renamed' })],
  ['rename to ', rest => ({ path: unquoted(rest) })],
  ['copy from ', rest => ({ from: unquoted(rest), change: 'copied' })],
  ['copy to ', rest => ({ path: unquoted(rest) })],
  ['Binary files ', () => ({ binary: true })],
  ['GIT binary patch', () => ({ binary: true })],
]

function readExtended(file: FileDiff, line: string): void {
  const [prefix, told] = EXTENDED.find(([each]) => line.startsWith(each)) ?? []
  if (told) Object.assign(file, told(line.slice(prefix!.length)))
}

/** `a/path b/path`: both are the same here. If they differ, separate lines give them. */
function readNames(file: FileDiff, rest: string): void {
  if (rest.startsWith('"')) file.path = withoutSide(unquoted(rest))
  else {
    const middle = (rest.length - 1) / 2
    file.path = rest.slice(2, Number.isInteger(middle) ? middle : undefined)
  }
}

function readOldName(file: FileDiff, name: string): void {
  if (name === '/dev/null') file.change = 'added'
  else if (!file.path) file.path = withoutSide(unquoted(name))
}

function readNewName(file: FileDiff, name: string): void {
  if (name === '/dev/null') file.change = 'deleted'
  else file.path = withoutSide(unquoted(name))
}

const withoutSide = (name: string): string => name.replace(/^[ab]\//, '')

const ESCAPES: Record<string, number> = { a: 7, b: 8, t: 9, n: 10, v: 11, f: 12, r: 13, '"': 34, '\\': 92 }

/** Git quotes names with unusual bytes, and ends names with spaces by a tab. */
export function unquoted(name: string): string {
  if (!name.startsWith('"')) return name.replace(/\t$/, '')
  const encoder = new TextEncoder()
  const bytes: number[] = []
  for (let at = 1; at < name.length && name[at] !== '"'; at++) {
    if (name[at] !== '\\') {
      const character = String.fromCodePoint(name.codePointAt(at)!)
      bytes.push(...encoder.encode(character))
      at += character.length - 1
      continue
    }
    const octal = /^[0-3][0-7]{2}/.exec(name.slice(at + 1, at + 4))?.[0]
    bytes.push(octal ? Number.parseInt(octal, 8) : (ESCAPES[name[at + 1]!] ?? 63))
    at += octal ? 3 : 1
  }
  return new TextDecoder().decode(new Uint8Array(bytes))
}
