import type { Mission } from '../records/mission.ts'
import type { Member } from '../records/team.ts'
import { waitsForMail } from './life.ts'
import { WHY_NOT } from './screen.ts'

export const MEMBER_STATES = ['idle', 'working', 'waiting', 'needs_input', 'paused', 'failed', 'dismissed'] as const
export type MemberState = (typeof MEMBER_STATES)[number]

/** How a member is, and what it waits for, in words. A person is never at work for the fleet. */
export function stateOf(
  member: Pick<Member, 'dismissed_at' | 'paused' | 'held' | 'person' | 'placement' | 'terminal'>,
  mission: Mission | undefined,
): { state: MemberState; waits_for: string | null } {
  const { dismissed_at, paused, held, person, placement } = member
  if (dismissed_at) return { state: 'dismissed', waits_for: null }
  if (placement !== 'headless' && person === null && mission?.status !== 'failed') return inTerminal(member)
  const why = mission?.status_reason?.text ?? null
  switch (person === null ? mission?.status : undefined) {
    case 'running':
      return { state: 'working', waits_for: null }
    case 'needs_input':
      return { state: 'needs_input', waits_for: why }
    case 'failed':
      return { state: 'failed', waits_for: why }
    case 'queued':
      return { state: 'waiting', waits_for: why }
    case 'waiting':
      if (mission && !waitsForMail(mission)) return { state: 'waiting', waits_for: why }
  }
  if (paused) return { state: 'paused', waits_for: held?.text ?? null }
  return { state: held ? 'waiting' : 'idle', waits_for: held?.text ?? null }
}

type Placed = Pick<Member, 'paused' | 'held' | 'placement' | 'terminal'>

function inTerminal(member: Placed): { state: MemberState; waits_for: string | null } {
  const { paused, held, placement, terminal } = member
  const why = notTold(member)
  if (placement === 'outside') return { state: terminal?.state === 'ended' ? 'waiting' : 'idle', waits_for: why }
  if (terminal?.state === 'prompt') return { state: 'needs_input', waits_for: why }
  if (terminal?.state === 'busy') return { state: 'working', waits_for: null }
  if (terminal?.state !== 'idle') return { state: 'waiting', waits_for: why }
  if (paused) return { state: 'paused', waits_for: held?.text ?? null }
  return { state: held ? 'waiting' : 'idle', waits_for: held?.text ?? null }
}

/** Why a member in a terminal is not told now what waits for it. Null: it may be. */
export function notTold({ placement, terminal, held }: Omit<Placed, 'paused'>): string | null {
  if (placement === 'headless') return null
  if (placement === 'outside')
    return terminal?.state === 'ended'
      ? (terminal.text ?? 'Its session has ended.')
      : 'A person started it, so it cannot be woken: it reads its mail itself.'
  if (!terminal) return 'Its terminal is not open.'
  switch (terminal.state) {
    case 'idle':
      return terminal.text ?? held?.text ?? null
    case 'opening':
      return 'Its terminal is being opened.'
    case 'ended':
      return terminal.text ?? 'Its terminal is closed.'
    default:
      return WHY_NOT[terminal.state]
  }
}
