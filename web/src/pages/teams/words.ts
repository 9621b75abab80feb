import type { Output } from '../../api/client.ts'
import type { Tone } from '../../kit/words.ts'

export type Team = Output<'get_team'>
export type Member = Team['members'][number]
export type Mail = Output<'list_mail'>['messages'][number]
export type Delivery = Mail['deliveries'][number]

interface Face {
  word: string
  tone: Tone
}

export const STATES: Record<Member['state'], Face> = {
  idle: { word: 'Idle', tone: 'gray' },
  working: { word: 'Working', tone: 'blue' },
  waiting: { word: 'Waiting', tone: 'gray' },
  needs_input: { word: 'Needs input', tone: 'amber' },
  paused: { word: 'Paused', tone: 'amber' },
  failed: { word: 'Failed', tone: 'red' },
  dismissed: { word: 'Dismissed', tone: 'gray' },
}

export const HEALTH: Record<Member['health']['state'], Face> = {
  healthy: { word: 'Healthy', tone: 'green' },
  degraded: { word: 'Degraded', tone: 'amber' },
  unhealthy: { word: 'Unhealthy', tone: 'red' },
}

/** What the terminal of a member shows. */
export const SCREENS: Record<Output<'capture_member'>['state'], Face> = {
  idle: { word: 'Idle', tone: 'gray' },
  busy: { word: 'In a turn', tone: 'blue' },
  prompt: { word: 'Asks', tone: 'amber' },
  typing: { word: 'Somebody types', tone: 'amber' },
  unknown: { word: 'Not understood', tone: 'amber' },
}

export const ROLES: Record<Member['role'], string> = {
  'team-lead': 'Lead',
  coordinator: 'Coordinator',
  worker: 'Worker',
  merger: 'Merger',
  monitor: 'Monitor',
}

export const NEEDS: Record<Mail['needs'], string> = {
  none: 'Nothing',
  ack: 'An acknowledgement',
  reply: 'A reply',
  decision: 'A decision',
}

/** What a message asks for, as its badge says it. */
export const ASKS: Record<Exclude<Mail['needs'], 'none'>, string> = {
  ack: 'Acknowledge',
  reply: 'Reply needed',
  decision: 'Decision needed',
}

const DELIVERED: Record<Delivery['state'], Face> = {
  queued: { word: 'Queued', tone: 'gray' },
  handed: { word: 'Handed over', tone: 'blue' },
  heard: { word: 'Heard', tone: 'blue' },
  acked: { word: 'Acknowledged', tone: 'green' },
  replied: { word: 'Answered', tone: 'green' },
  declined: { word: 'Declined', tone: 'amber' },
  cancelled: { word: 'Cancelled', tone: 'gray' },
  expired: { word: 'Expired', tone: 'amber' },
  bounced: { word: 'Bounced', tone: 'red' },
}

const HELD: Face = { word: 'Held back', tone: 'amber' }
/** A person reads, and nobody has to prove it. */
const OF_PEOPLE: Partial<Record<Delivery['state'], Face>> = {
  queued: { word: 'Unread', tone: 'gray' },
  heard: { word: 'Read', tone: 'blue' },
}

export interface Shown extends Face {
  /** When it came to be so. */
  at: string
  /** Why it is so, or what it waits for. */
  why: string | null
}

/** How far a message is on its way to one recipient. */
export function deliveryWords(delivery: Delivery, to: Member | undefined): Shown {
  const { state, held, reason, created_at, handed_at, heard_at, closed_at } = delivery
  const at = (state === 'queued' ? null : (closed_at ?? heard_at ?? handed_at)) ?? created_at
  const isPerson = !!to && to.person !== null
  if (state === 'queued' && held !== null) return { ...HELD, at, why: held }
  const face = (isPerson && OF_PEOPLE[state]) || DELIVERED[state]
  return { ...face, at, why: state === 'queued' && !isPerson ? queuedFor(delivery, to) : reason }
}

function queuedFor({ wakes }: Delivery, to: Member | undefined): string | null {
  switch (to?.state) {
    case 'working':
      return 'It waits for the end of a turn.'
    case 'idle':
      return wakes ? 'The member is being woken.' : 'It waits for the next turn.'
    case undefined:
    case 'dismissed':
      return null
    default:
      return to?.waits_for ?? `The member is ${STATES[to!.state].word.toLowerCase()}.`
  }
}
