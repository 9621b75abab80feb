import { setTimeout as pause } from 'node:timers/promises'
import type { InTerminal } from '../../agents/contract.ts'
import { isSameScreen, type Screen, type ScreenState, shows, WHY_NOT } from '../../domain/rules/screen.ts'
import type { Pane, Tmux } from '../../tmux/tmux.ts'

/** A client paints its screen in steps: what two looks this far apart see is what it shows. */
const SETTLES_MS = 120
const LOOK_MS = 80
const APPEARS_MS = 5000

interface Typing {
  tmux: Tmux
  pane: Pane
  judge: InTerminal['judge']
}

export type Seen =
  | { gone: string }
  | { over: true; screen: Screen }
  | { over: false; screen: Screen; state: ScreenState }

export async function see({ tmux, pane, judge }: Typing): Promise<Seen> {
  const found = await tmux.look(pane)
  return 'gone' in found || found.over ? found : { ...found, state: judge(found.screen) }
}

/** The screen once two looks saw the same. */
export async function seeSettled(typing: Typing): Promise<Seen> {
  for (let before: Seen | undefined, tries = 0; ; tries++) {
    const now = await see(typing)
    if ('gone' in now || now.over) return now
    if (before && !('gone' in before) && isSameScreen(before.screen, now.screen)) return now
    // What changes all the time is at work.
    if (tries > 10) return { ...now, state: now.state === 'idle' ? 'busy' : now.state }
    before = now
    await pause(SETTLES_MS)
  }
}

export interface NotSent {
  why: string
  /** It may stand in the input of the client, and Enter was not pressed: something came up after it was typed. */
  isTyped: boolean
}

/** Types a line into an idle client. Undefined: it was typed and sent. */
export async function typeLine(
  typing: Typing,
  line: string,
  { first }: { first?: '!' } = {},
): Promise<NotSent | undefined> {
  const unsent = (why: string | undefined, isTyped = false) => (why === undefined ? undefined : { why, isTyped })
  const { tmux, pane } = typing
  let seen = await seeSettled(typing)
  const why = whyNot(seen)
  if (why || 'gone' in seen) return unsent(why)
  if (first) {
    if (!(await tmux.press(pane, seen.screen, [first]))) return unsent(CHANGED)
    seen = await seeSettled(typing)
    if ('gone' in seen || seen.over) return unsent(whyNot(seen))
    if (isInTheWay(seen.state)) return unsent(WHY_NOT[seen.state])
  }
  if (!(await tmux.paste(pane, seen.screen, line))) return unsent(CHANGED)
  const before = seen.screen
  const typed = await until(typing, now => shows(now.screen, line) && !isSameScreen(before, now.screen))
  if (!typed) return unsent('What was typed did not appear in its input, so it was not sent.', true)
  if (isInTheWay(typed.state)) return unsent(WHY_NOT[typed.state], true)
  return unsent(await sendTyped(typing, typed.screen))
}

/** Sends what stands in the input of a client. Undefined: it was sent; otherwise why it was not. */
export async function sendTyped(typing: Typing, typed: Screen): Promise<string | undefined> {
  if (!(await typing.tmux.press(typing.pane, typed, ['Enter']))) return 'Its terminal changed before the text was sent.'
  const sent = await until(typing, now => !isSameScreen(typed, now.screen))
  return sent ? undefined : 'Its client did not take the text.'
}

/** What is half typed may look like anything else, but into these nothing is typed. */
const isInTheWay = (state: ScreenState): state is 'prompt' | 'busy' => state === 'prompt' || state === 'busy'

const CHANGED = 'Its terminal changed at this moment, so nothing was typed.'

function whyNot(seen: Seen): string | undefined {
  if ('gone' in seen) return seen.gone
  if (seen.over) return 'Its client has ended.'
  return seen.state === 'idle' ? undefined : WHY_NOT[seen.state]
}

type There = Extract<Seen, { over: false }>

/** Waits until a settled screen is as wanted. */
async function until(typing: Typing, wanted: (seen: There) => boolean): Promise<There | undefined> {
  const end = performance.now() + APPEARS_MS
  do {
    await pause(LOOK_MS)
    const seen = await see(typing)
    if ('gone' in seen || seen.over) return undefined
    if (!wanted(seen)) continue
    const settled = await seeSettled(typing)
    return 'gone' in settled || settled.over || !wanted(settled) ? undefined : settled
  } while (performance.now() < end)
  return undefined
}
