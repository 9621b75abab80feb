import type { Agent } from '../../agents/index.ts'
import { NotAllowed, Unfit } from '../../domain/errors.ts'
import { isOfMember, type Session } from '../../domain/records/session.ts'
import type { Member, MemberTerminal } from '../../domain/records/team.ts'
import { Turns } from '../../git/turns.ts'
import { agentEnvironment } from '../../runner/environment.ts'
import { type Pane, Tmux } from '../../tmux/tmux.ts'
import type { Fleet } from '../fleet.ts'
import { current } from '../records.ts'
import { liveOf } from '../teams/sessions.ts'

/** Whoever types into the terminal of a member, opens or ends it, does so alone. */
export const terminalTurns = new Turns()

const known = new Map<string, Tmux>()

/** The tmux of this home. It gets nothing that speaks for anybody. */
export function tmuxOf({ home, environment }: Fleet): Tmux {
  const found = known.get(home.path) ?? new Tmux(home.path, agentEnvironment(environment, []))
  known.set(home.path, found)
  return found
}

/** The name of a member's window. */
export const windowOf = ({ id }: Pick<Session, 'id'>): string => `fleet-${id}`

export interface Opened {
  member: Member
  session: Session
  terminal: MemberTerminal
  pane: Pane
  agent: Agent
}

/** A member with an open terminal; otherwise it is said why there is none. */
export async function openedOf(fleet: Fleet, memberId: string): Promise<Opened> {
  const { value: member } = await current(fleet, 'members', memberId)
  requirePlaced(member)
  const session = await liveOf(fleet, member)
  const { terminal } = member
  if (!session || !isOfMember(session) || !terminal?.pane || terminal.session_id !== session.id)
    throw new NotAllowed(`${member.handle} has no open terminal. ${terminal?.text ?? ''}`.trim(), {
      try: `fleet member open <team> ${member.handle}`,
    })
  return { member, session, terminal, pane: terminal.pane, agent: fleet.agents.ofSession(session.agent) }
}

export function requirePlaced({ handle, placement, dismissed_at }: Member): void {
  if (dismissed_at) throw new NotAllowed(`${handle} was dismissed.`)
  if (placement === 'tmux') return
  throw new NotAllowed(
    placement === 'outside'
      ? `${handle} is in a terminal of a person, which the fleet does not see.`
      : `${handle} has no terminal: it runs headless.`,
    { try: 'Write to it: fleet mail send' },
  )
}

export async function requireTmux(fleet: Fleet): Promise<void> {
  if (await tmuxOf(fleet).isInstalled()) return
  throw new Unfit('tmux is not installed here, so no member can be in a window of it.', {
    try: 'Install tmux, or leave out --tmux: a headless member does the same work.',
  })
}
