import type { Screen, ScreenState } from '../../domain/rules/screen.ts'

const END = /^\s*╹▀{10,}/
const BAR = /^\s*┃/
const ASKS = /Permission required|Allow once|esc dismiss|enter confirm|enter submit/
const AT_WORK = /esc (again to )?interrupt/
/** The hint in an empty input. It is printed like text. */
const HINT = /^Ask anything…( ".*")?$/
const MOST_BELOW = 18

/** The screen of OpenCode 1.18: the input has a bar at its left and a line of blocks below it. */
export function judgeOpencode({ lines, cursor, scrolled }: Screen): ScreenState {
  if (scrolled) return 'typing'
  const end = lines.findLastIndex(line => END.test(line))
  if (end === -1) return ASKS.test(lines.join('\n')) ? 'prompt' : 'unknown'
  const below = lines.slice(end + 1)
  if (ASKS.test(lines.slice(-MOST_BELOW).join('\n'))) return 'prompt'
  if (AT_WORK.test(below.join('\n'))) return 'busy'
  let top = end
  while (top > 0 && BAR.test(lines[top - 1]!)) top--
  // What stands beside the box, such as a long path, is no input.
  const width = lines[end]!.lastIndexOf('▀') + 1
  // The last line above the end names the agent and the model.
  const input = lines.slice(top, end - 1).map(line => line.slice(0, width).replace(BAR, '').trim())
  const said = input.filter(Boolean).join(' ')
  const start = (lines[end]?.indexOf('╹') ?? 0) + 3
  const isAtStart = cursor.x === start && cursor.y >= top && cursor.y < end - 1
  if (said !== '' && !(HINT.test(said) && isAtStart)) return 'typing'
  return isAtStart ? 'idle' : 'unknown'
}
