import type { Screen, ScreenState } from '../../domain/rules/screen.ts'

const ASKS = /^› \d+\. |enter continue|enter\/esc confirm|Press enter to confirm|esc to cancel/m
const AT_WORK = /esc to interrupt/
/** Below its name, until it knows its folder and whether it has to ask about it. */
const LOADING = /^\s*loading$/
const NAME = />_ OpenAI Codex/
const ABOVE = 8
const MOST_BELOW = 3
const START = 2

/** The screen of Codex 0.166: its input is the last line that begins with `›`. */
export function judgeCodex({ lines, bright, cursor, scrolled }: Screen): ScreenState {
  if (scrolled) return 'typing'
  const input = lines.findLastIndex(line => /^›( |$)/.test(line))
  const last = lines.slice(input === -1 ? 0 : input).join('\n')
  if (ASKS.test(last)) return 'prompt'
  if (input === -1) return 'unknown'
  if (lines.some((line, n) => LOADING.test(line) && NAME.test(lines[n - 1] ?? ''))) return 'unknown'
  if (lines.slice(Math.max(0, input - ABOVE), input).some(line => AT_WORK.test(line))) return 'busy'
  const below = lines.slice(input + 1).filter(line => line.trim() !== '')
  if (bright[input]!.slice(1).trim() !== '' || below.length > MOST_BELOW) return 'typing'
  return cursor.y === input && cursor.x === START ? 'idle' : 'unknown'
}
