import type { Screen, ScreenState } from '../domain/rules/screen.ts'

/** How a script says that it waits for a line. */
const PROMPT = '> '
/** What it asks with where it wants an answer of a person. */
const ASKS = /(\?|\[[yn]\/[yn]\]|\([yn]\/[yn]\)|password:|:)\s*$/i

/**
 * A script in a terminal. It shows `> ` when it waits for a line. A cursor at the start of an empty line is that of a
 * program at work.
 */
export function judgeScript({ lines, cursor, scrolled }: Screen): ScreenState {
  if (scrolled) return 'typing'
  const line = (lines[cursor.y] ?? '').padEnd(cursor.x)
  if (line.trim() === '' && cursor.x === 0) return 'busy'
  if (line.startsWith(PROMPT)) return line === PROMPT && cursor.x === PROMPT.length ? 'idle' : 'typing'
  return ASKS.test(line) ? 'prompt' : 'unknown'
}
