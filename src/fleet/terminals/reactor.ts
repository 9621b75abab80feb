import { isOfTheStore } from '../../domain/errors.ts'
import type { Event } from '../../domain/records/event.ts'
import { isOfMember, type Session } from '../../domain/records/session.ts'
import type { Member } from '../../domain/records/team.ts'
import { WHY_NOT } from '../../domain/rules/screen.ts'
import type { Fleet } from '../fleet.ts'
import { type Desk, idIn, type Reactor, type Ref, refTo } from '../reactor.ts'
import { all, current } from '../records.ts'
import { sentence } from '../sentences.ts'
import { isHere, updateSession } from '../sessions/record.ts'
import { liveOf } from '../teams/sessions.ts'
import { endTerminal } from './ending.ts'
import { startTerminal } from './opening.ts'
import { type Opened, terminalTurns, tmuxOf } from './panes.ts'
import { askPeople, noteTerminal } from './states.ts'
import { hasBegun, queuedFor, sendBegun, settleHanded, startsIn, tellMail } from './telling.ts'
import { see } from './typing.ts'

/** Events of missions after which something is to do in a terminal. */
const OF_MISSIONS: readonly Event['kind'][] = ['session_starting', 'session_running', 'cancel_requested']
const OF_MEMBERS: readonly Event['kind'][] = ['mail_released', 'member_changed', 'member_dismissed', 'member_terminal']
/** A question on the screen may be gone at once: its client is only painting. */
const PROMPT_MS = 10_000
/** What was typed is at work by then. */
const SOON_MS = 500

/** Opens the terminals of members, keeps an eye on them, types mail where they are idle, and ends them. */
export class Terminals implements Reactor {
  readonly name = 'terminals'
  readonly #fleet: Fleet
  readonly #desk: Desk
  readonly #url: string

  constructor(fleet: Fleet, desk: Desk, url: string) {
    this.#fleet = fleet
    this.#desk = desk
    this.#url = url
  }

  async *unfinished(): AsyncGenerator<Ref> {
    for await (const { value } of all(this.#fleet, 'sessions', 'live'))
      if (isOfMember(value) && isHere(this.#fleet, value)) yield refTo('members', value.member_id!)
  }

  async affectedBy({ kind, mission_id, data }: Event): Promise<Ref[]> {
    if (kind === 'mail_sent') return (data.members as string[]).map(id => refTo('members', id))
    if (OF_MEMBERS.includes(kind) && data.member) return [refTo('members', data.member as string)]
    if (kind === 'team_changed') return Array.fromAsync(this.unfinished())
    if (!mission_id || !OF_MISSIONS.includes(kind)) return []
    const member = (await this.#fleet.store.get('missions', mission_id))?.value.member
    return member ? [refTo('members', member.id)] : []
  }

  /** What a terminal shows, and that its client ended, no commit tells. */
  async tick(): Promise<void> {
    for await (const ref of this.unfinished()) await this.#desk.attempt(ref, () => this.look(ref))
  }

  async look(ref: Ref): Promise<void> {
    const id = idIn(ref)
    const member = (await this.#fleet.store.get('members', id))?.value
    if (!member || member.placement === 'headless') return
    // One that is being opened or typed into is looked at again afterwards.
    if (terminalTurns.isTaken(id)) return this.#desk.lookIn(SOON_MS, ref)
    this.#desk.goOn(
      ref,
      terminalTurns.take(id, () => this.#step(id)),
    )
  }

  async #step(id: string): Promise<void> {
    const { value: member } = await current(this.#fleet, 'members', id)
    const session = await liveOf(this.#fleet, member)
    if (!session || !isOfMember(session) || !isHere(this.#fleet, session)) return
    const { value: mission } = await current(this.#fleet, 'missions', session.mission_id)
    if (member.dismissed_at || mission.cancel_requested)
      return endTerminal(this.#fleet, session, { text: 'It was dismissed.', cancelled: true })
    if (session.stopping) return endTerminal(this.#fleet, session, { text: session.stopping.reason })
    if (session.reason === 'outside') return this.#outside(member, session)
    if (session.status === 'starting') return this.#open(member, session)
    const { terminal } = member
    if (!terminal?.pane || terminal.session_id !== session.id) return this.#open(member, session)
    const agent = this.#fleet.agents.ofSession(session.agent)
    await this.#watch({ member, session, terminal, pane: terminal.pane, agent })
  }

  async #outside({ joined_until }: Member, session: Session): Promise<void> {
    const left = Date.parse(joined_until ?? '') - Date.parse(this.#fleet.now())
    if (left > 0) return this.#desk.lookIn(Math.min(left, 2 ** 31 - 1), refTo('members', session.member_id!))
    await endTerminal(this.#fleet, session, { text: 'The time it had joined for is over.' })
  }

  async #open(member: Member, session: Session): Promise<void> {
    try {
      const pane = await startTerminal(this.#fleet, session, this.#url)
      const { pid, started } = pane.process
      const running = { status: 'running', started_at: this.#fleet.now(), pid, process_started: started } as const
      await noteTerminal(this.#fleet, member.id, session.id, { pane, state: 'opening' })
      await updateSession(this.#fleet, session, 'commit.session-running', running, { event: 'session_running' })
    } catch (error) {
      if (isOfTheStore(error)) throw error
      await endTerminal(this.#fleet, session, { text: `Its terminal could not be opened: ${sentence(error)}` })
    }
  }

  async #watch(opened: Opened): Promise<void> {
    const { member, session, terminal, pane, agent } = opened
    const ref = refTo('members', member.id)
    const seen = await see({ tmux: tmuxOf(this.#fleet), pane, judge: agent.inTerminal!.judge })
    const again = `Open it again: fleet member open <team> ${member.handle}`
    if ('gone' in seen) return endTerminal(this.#fleet, session, { text: `${seen.gone} ${again}` })
    if (seen.over)
      return endTerminal(this.#fleet, session, { text: `Its client has ended. ${again}`, keepWindow: true })
    const { state } = seen
    // A client that is at work may have text in its input.
    if (state === 'idle' || state === 'busy')
      await settleHanded(this.#fleet, opened, state === 'busy' ? seen.screen : null)
    if (state === 'typing' && (await sendBegun(this.#fleet, opened, seen.screen)))
      return this.#desk.lookIn(SOON_MS, ref)
    if (state !== 'idle') {
      await noteTerminal(this.#fleet, member.id, session.id, { state, text: WHY_NOT[state] })
      return this.#tellPeople(opened, state)
    }
    if (terminal.state !== 'idle') await noteTerminal(this.#fleet, member.id, session.id, { state })
    if (member.paused || !(await queuedFor(this.#fleet, member)).length) return
    const left = await startsIn(this.#fleet, opened)
    if (left > 0) return this.#desk.lookIn(left, ref)
    await tellMail(this.#fleet, opened)
    this.#desk.lookIn(SOON_MS, ref)
  }

  /** A question waits for a person; so does a screen that nobody understands, once there is something to be said. */
  async #tellPeople({ member: { id, handle }, session }: Opened, state: keyof typeof WHY_NOT): Promise<void> {
    const { value: member } = await current(this.#fleet, 'members', id)
    const { terminal } = member
    if (!terminal || terminal.asked || terminal.state !== state || (state !== 'prompt' && state !== 'unknown')) return
    const patience = state === 'prompt' ? PROMPT_MS : this.#fleet.settings.terminalPatience * 1000
    const left = Date.parse(terminal.since) + patience - Date.parse(this.#fleet.now())
    if (left > 0) return this.#desk.lookIn(left, refTo('members', id))
    const waits = (await queuedFor(this.#fleet, member)).length > 0 || (await hasBegun(this.#fleet, session))
    if (state === 'unknown' && !waits) return
    const advice = `Look at it with: fleet member capture <team> ${handle}, or fleet member attach <team> ${handle}.`
    await askPeople(this.#fleet, id, `${WHY_NOT[state]} Mail for ${handle} waits meanwhile. ${advice}`)
  }
}
