import type { Tone } from '../../kit/words.ts'
import type { FleetEvent } from '../../live/fleet-events.ts'

type Kind = FleetEvent['kind']

/** What people look for, and the matching events. */
export const GROUPS = {
  landing: {
    title: 'Landing',
    kinds: [
      'landing_started',
      'check_passed',
      'check_failed',
      'conflict',
      'landing_waits',
      'pull_request_opened',
      'branch_pushed',
      'landed',
      'kept',
      'undone',
    ],
  },
  trouble: {
    title: 'Problems',
    kinds: [
      'failed',
      'conflict',
      'check_failed',
      'stalled',
      'limit_reached',
      'dispatch_failed',
      'undo_failed',
      'fault_recorded',
      'plugin_fault',
      'settings_refused',
    ],
  },
  people: {
    title: 'Questions and messages',
    kinds: [
      'asked',
      'answered',
      'question_withdrawn',
      'approval_rule_made',
      'approval_rule_revoked',
      'allowed_by_rule',
      'needs_input',
      'message',
      'message_arrived',
      'message_missed',
      'commented',
      'review_wanted',
    ],
  },
  sessions: {
    title: 'Sessions',
    kinds: [
      'session_starting',
      'session_running',
      'session_ended',
      'adopted',
      'parked',
      'resumed',
      'retried',
      'reported',
    ],
  },
  plans: {
    title: 'Plans and loops',
    kinds: [
      'plan_requested',
      'plan_proposed',
      'plan_edited',
      'plan_approved',
      'plan_rejected',
      'plan_failed',
      'loop_started',
      'loop_round',
      'loop_paused',
      'loop_resumed',
      'loop_ended',
    ],
  },
  fleet: {
    title: 'Fleet',
    kinds: [
      'paused',
      'unpaused',
      'settings_changed',
      'settings_refused',
      'server_started',
      'server_stopping',
      'decider_changed',
      'plugin_enabled',
      'plugin_disabled',
      'plugin_fault',
      'fault_recorded',
      'fault_cleared',
      'faults_retried',
      'restored',
    ],
  },
} as const satisfies Record<string, { title: string; kinds: readonly Kind[] }>
export type Group = keyof typeof GROUPS

const BAD: readonly Kind[] = [...GROUPS.trouble.kinds]
const GOOD: readonly Kind[] = ['landed', 'check_passed', 'plan_approved', 'undone', 'fault_cleared']
const WAITING: readonly Kind[] = [
  'asked',
  'needs_input',
  'review_wanted',
  'plan_proposed',
  'landing_waits',
  'pull_request_opened',
]

export function toneOf(kind: Kind): Tone {
  if (BAD.includes(kind)) return 'red'
  if (GOOD.includes(kind)) return 'green'
  return WAITING.includes(kind) ? 'amber' : 'gray'
}
