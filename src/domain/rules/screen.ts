import { withoutControls } from '../text.ts'

/** What a terminal shows now. */
export interface Screen {
  lines: readonly string[]
  /** The same without what is printed faintly: a hint in an empty input is no text of a person. */
  bright: readonly string[]
  cursor: { x: number; y: number }
  /** Somebody scrolls in it, so keys would not reach the client. */
  scrolled: boolean
}

export const SCREEN_STATES = ['idle', 'busy', 'prompt', 'typing', 'unknown'] as const
export type ScreenState = (typeof SCREEN_STATES)[number]

/** Why nothing is typed into a terminal in this state. */
export const WHY_NOT: Readonly<Record<Exclude<ScreenState, 'idle'>, string>> = {
  busy: 'It is in the middle of a turn.',
  prompt: 'Its terminal shows a question that only a person answers.',
  typing: 'Somebody is typing or scrolling in its terminal.',
  unknown: 'What its terminal shows is not understood, so nothing is typed there.',
}

// biome-ignore-start lint/suspicious/noControlCharactersInRegex: these begin what a terminal is told.
const SEQUENCE =
  /\x1b\[([0-9;:]*)m|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)|\x1b\[[0-9;?]*[A-Za-z]|\x1b[()][A-Z0-9]|[\x0e\x0f]/g
// biome-ignore-end lint/suspicious/noControlCharactersInRegex: see above

/** Lines as `tmux capture-pane -e` prints them, with and without what is faint. */
export function linesOf(captured: string): Pick<Screen, 'lines' | 'bright'> {
  const lines: string[] = []
  const bright: string[] = []
  let faint = false
  for (const raw of captured.replace(/\n$/, '').split('\n')) {
    let line = ''
    let seen = ''
    let at = 0
    const add = (text: string) => {
      line += text
      seen += faint ? ' '.repeat(text.length) : text
    }
    for (const match of raw.matchAll(SEQUENCE)) {
      add(raw.slice(at, match.index))
      at = match.index + match[0].length
      if (match[1] !== undefined) faint = faintAfter(match[1], faint)
    }
    add(raw.slice(at))
    lines.push(withoutControls(line).trimEnd())
    bright.push(withoutControls(seen).trimEnd())
  }
  return { lines, bright }
}

function faintAfter(parameters: string, before: boolean): boolean {
  const codes = parameters.split(/[;:]/).map(Number)
  let faint = before
  for (let n = 0; n < codes.length; n++) {
    const code = codes[n]!
    // What follows says which colour, and is no code of its own.
    if (code === 38 || code === 48 || code === 58) n += codes[n + 1] === 5 ? 2 : 4
    else if (code === 2) faint = true
    else if (code === 0 || code === 22) faint = false
  }
  return faint
}

/** Whether two looks at a terminal saw the same. */
export const isSameScreen = (one: Screen, other: Screen): boolean =>
  one.cursor.x === other.cursor.x &&
  one.cursor.y === other.cursor.y &&
  one.lines.length === other.lines.length &&
  one.lines.every((line, n) => line === other.lines[n])

const dense = (text: string): string => text.replace(/[\s│┃|▌>❯›]+/gu, '')

/** Whether a text is on the screen, wherever its client broke the lines. */
export const shows = ({ lines }: Pick<Screen, 'lines'>, text: string): boolean =>
  dense(lines.join('')).includes(dense(text))

/** What a terminal shows up to its cursor. */
export const beforeCursor = ({ lines, cursor: { x, y } }: Screen): string =>
  [...lines.slice(0, y), lines[y]?.slice(0, x) ?? ''].join('')

/** Whether what a terminal shows ends with a text, wherever its client broke the lines. */
export const endsWith = (shown: string, text: string): boolean => dense(shown).endsWith(dense(text))

/** Characters that a terminal, a client or a reader takes for something else than text. */
const NOT_TEXT = /[\p{Cc}\p{Cf}\p{Co}\p{Zl}\p{Zp}]/gu

/** Text for a terminal: one line, without control characters, escape sequences and invisible characters. */
export const typeable = (text: string): string => text.toWellFormed().replace(NOT_TEXT, ' ').replace(/\s+/g, ' ').trim()
