import type { Screen, ScreenState } from '../../domain/rules/screen.ts'

const RULE = /^─{20,}/
/** The menus, questions and requests of the client all end with one of these. */
const ASKS = /Esc to cancel|Enter to confirm|Enter to select|Esc to exit|Do you want to |^\s*❯ \d+\. /m
/** Such as `✻ Stewing… (3s · ↓ 20 tokens)`, in the lines above the input. */
const AT_WORK = /^\S \p{L}+…( \(|$)/u
const ABOVE = 6
/** Below the input there are one or two lines; a menu of commands or files has more. */
const MOST_BELOW = 3
/** Where the input begins. */
const START = 2

/** The screen of Claude Code 2.1: an input between two rules, and what it does in the lines around. */
export function judgeClaude({ lines, bright, cursor, scrolled }: Screen): ScreenState {
  if (scrolled) return 'typing'
  const rules = lines.flatMap((line, n) => (RULE.test(line) ? [n] : []))
  const [top, bottom] = rules.slice(-2)
  const mark = top === undefined || bottom === undefined ? undefined : lines[top + 1]?.charAt(0)
  if (mark !== '❯' && mark !== '!') return ASKS.test(lines.join('\n')) ? 'prompt' : 'unknown'
  const below = lines.slice(bottom! + 1).filter(line => line.trim() !== '')
  if (ASKS.test(below.join('\n'))) return 'prompt'
  if (below.some(line => line.includes('esc to interrupt'))) return 'busy'
  const said = bright
    .slice(top! + 1, bottom)
    .join('')
    .slice(1)
    .trim()
  if (said !== '' || mark === '!' || below.length > MOST_BELOW) return 'typing'
  if (lines.slice(Math.max(0, top! - ABOVE), top).some(line => AT_WORK.test(line))) return 'busy'
  return cursor.y === top! + 1 && cursor.x === START ? 'idle' : 'unknown'
}
