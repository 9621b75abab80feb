import type { Mission } from '../records/mission.ts'
import type { Member } from '../records/team.ts'
import { waitsForMail } from './life.ts'

export const MEMBER_STATES = ['idle', 'working', 'waiting', 'needs_input', 'paused', 'failed', 'dismissed'] as const
export type MemberState = (typeof MEMBER_STATES)[number]

/** How a member is, and what it waits for, in words. A person is never at work for the fleet. */
export function stateOf(
  { dismissed_at, paused, held, person }: Pick<Member, 'dismissed_at' | 'paused' | 'held' | 'person'>,
  mission: Mission | undefined,
): { state: MemberState; waits_for: string | null } {
  if (dismissed_at) return { state: 'dismissed', waits_for: null }
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
