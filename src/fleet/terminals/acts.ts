import { setTimeout as pause } from 'node:timers/promises'
import { NotAllowed } from '../../domain/errors.ts'
import { type ScreenState, typeable, WHY_NOT } from '../../domain/rules/screen.ts'
import type { Key } from '../../tmux/keys.ts'
import type { Fleet } from '../fleet.ts'
import { endTree } from './ending.ts'
import { type Opened, openedOf, terminalTurns, tmuxOf, windowOf } from './panes.ts'
import { queuedFor } from './telling.ts'
import { type Seen, see, seeSettled, typeLine } from './typing.ts'

/** How long a client that was asked to end may take. */
const LEAVES_MS = 15_000
const LOOK_MS = 250
/** What is shown of a client that did not end. */
export const LAST_LINES = 80

export interface Shown {
  state: ScreenState
  text: string | null
  lines: string[]
}

const typingIn = (fleet: Fleet, { pane, agent }: Opened) => ({
  ...{ tmux: tmuxOf(fleet), pane, judge: agent.inTerminal!.judge },
})

/** What the terminal of a member shows, and what the fleet makes of it. */
export async function captured(fleet: Fleet, memberId: string, count: number): Promise<Shown> {
  const opened = await openedOf(fleet, memberId)
  const { state } = there(await see(typingIn(fleet, opened)))
  const lines = (await tmuxOf(fleet).lines(opened.pane, count)) ?? []
  return { state, text: state === 'idle' ? null : WHY_NOT[state], lines }
}

/** Presses keys, or types a line, for a person: whatever the terminal shows, it is their answer. */
export async function answered(fleet: Fleet, memberId: string, input: { keys?: readonly Key[]; text?: string }) {
  return terminalTurns.take(memberId, async () => {
    const opened = await openedOf(fleet, memberId)
    const typing = typingIn(fleet, opened)
    const tmux = tmuxOf(fleet)
    const press = async (key: Key) => {
      const { screen } = there(await seeSettled(typing))
      if (!(await tmux.press(opened.pane, screen, [key]))) throw changed()
    }
    for (const key of input.keys ?? []) await press(key)
    const line = input.text === undefined ? '' : typeable(input.text)
    if (line) {
      const { screen } = there(await seeSettled(typing))
      if (!(await tmux.paste(opened.pane, screen, line))) throw changed()
      await press('Enter')
    }
    return there(await seeSettled(typing)).state
  })
}

const changed = () =>
  new NotAllowed('Its terminal changed at this moment, so nothing was typed.', { try: 'Look again.' })

/** Runs a command in an idle client, as a person could with its `!`. */
export async function executed(fleet: Fleet, memberId: string, command: string): Promise<void> {
  await terminalTurns.take(memberId, async () => {
    const opened = await openedOf(fleet, memberId)
    const { title, inTerminal } = opened.agent
    if (!inTerminal?.command)
      throw new NotAllowed(`${title} runs no commands from its input.`, { try: 'Use fleet member send-input.' })
    const problem = await typeLine(typingIn(fleet, opened), typeable(command), { first: inTerminal.command })
    if (problem) throw new NotAllowed(problem.why)
  })
}

/** Reminds an idle member of its mail, or types a line of whoever steers the team. */
export async function nudged(fleet: Fleet, memberId: string, words: string | undefined): Promise<string> {
  return terminalTurns.take(memberId, async () => {
    const opened = await openedOf(fleet, memberId)
    const { items } = await fleet.store.find('deliveries', { index: 'open', equals: [memberId], limit: 50 })
    const said = words && typeable(words)
    if (!items.length && !said)
      throw new NotAllowed(`${opened.member.handle} has no mail that it should be reminded of.`)
    const tools = opened.agent.can.mcp !== 'no'
    const mail = `You have ${items.length} ${items.length === 1 ? 'message' : 'messages'} without an answer.`
    const line = said
      ? `A reminder: ${JSON.stringify(said)}.`
      : `${mail} ${tools ? 'mail_read' : 'fleet mail read'} shows them.`
    const problem = await typeLine(typingIn(fleet, opened), line)
    if (problem) throw new NotAllowed(problem.why)
    return line
  })
}

export interface Pinged {
  alive: boolean
  state: ScreenState | 'ended'
  text: string | null
  waiting: number
}

/** Whether the terminal is there and what it shows. Types nothing. */
export async function pinged(fleet: Fleet, memberId: string): Promise<Pinged> {
  const opened = await openedOf(fleet, memberId)
  const seen = await see(typingIn(fleet, opened))
  const waiting = (await queuedFor(fleet, opened.member)).length
  if ('gone' in seen) return { alive: false, state: 'ended', text: seen.gone, waiting }
  if (seen.over) return { alive: false, state: 'ended', text: 'Its client has ended.', waiting }
  return { alive: true, state: seen.state, text: seen.state === 'idle' ? null : WHY_NOT[seen.state], waiting }
}

export async function attachment(fleet: Fleet, memberId: string): Promise<string[]> {
  const { session } = await openedOf(fleet, memberId)
  return tmuxOf(fleet).attachment(windowOf(session))
}

/**
 * Asks a client to end and waits. With `force` its whole tree is ended instead. Returns whether it has ended, and what
 * it shows last.
 */
export async function left(
  fleet: Fleet,
  memberId: string,
  force: boolean,
): Promise<{ ended: boolean; lines: string[] }> {
  return terminalTurns.take(memberId, async () => {
    const opened = await openedOf(fleet, memberId)
    const tmux = tmuxOf(fleet)
    const typing = typingIn(fleet, opened)
    const show = async () => (await tmux.lines(opened.pane, LAST_LINES)) ?? []
    if (force) {
      const lines = await show()
      await endTree(fleet, opened.session)
      return { ended: true, lines }
    }
    const isOver = async () => {
      const seen = await see(typing)
      return 'gone' in seen || seen.over
    }
    if (!(await isOver())) await typeLine(typing, opened.agent.inTerminal!.leave)
    const end = performance.now() + LEAVES_MS
    for (; performance.now() < end; await pause(LOOK_MS))
      if (await isOver()) return { ended: true, lines: await show() }
    return { ended: false, lines: await show() }
  })
}

function there(seen: Seen): Extract<Seen, { over: false }> {
  if ('gone' in seen) throw new NotAllowed(seen.gone)
  if (seen.over) throw new NotAllowed('Its client has ended.')
  return seen
}
