import { eventWords, onto } from '../../kit/event-words.ts'
import { OUTCOMES } from '../../kit/outcomes.ts'
import { capital } from '../../kit/words.ts'
import type { FleetEvent } from '../../live/fleet-events.ts'
import type { Who } from '../../live/names.ts'

type Kind = FleetEvent['kind']

/** Events whose words begin with what somebody did: “Approved a plan”. */
const DONE_BY: ReadonlySet<Kind> = new Set<Kind>([
  ...(['project_created', 'project_updated', 'project_deleted', 'paused', 'unpaused', 'settings_changed'] as const),
  ...(['mission_created', 'mission_updated', 'mission_deleted', 'dispatched', 'retried', 'resumed'] as const),
  ...(['reopened', 'cancelled', 'commented', 'comment_changed', 'comment_deleted', 'interrupt_requested'] as const),
  ...(['asked', 'answered', 'message', 'reported', 'delegated', 'approval_rule_made'] as const),
  ...(['approval_rule_revoked', 'land_requested', 'pull_request_opened', 'landed', 'undone', 'scheduled'] as const),
  ...(['unscheduled', 'taken_over', 'handed_back', 'hand_back_requested', 'workflow_created'] as const),
  ...(['workflow_started', 'workflow_cancelled', 'workflow_retried', 'plan_requested', 'plan_proposed'] as const),
  ...(['plan_edited', 'plan_approved', 'plan_rejected', 'loop_started', 'loop_paused', 'loop_resumed'] as const),
  ...(['template_saved', 'template_deleted', 'plugin_enabled', 'plugin_disabled', 'faults_retried'] as const),
  ...(['principal_added', 'principal_changed', 'principal_ended', 'token_made', 'token_revoked'] as const),
])

const lower = (text: string): string => text.charAt(0).toLowerCase() + text.slice(1)

/** What happened, as a sentence: who did what. `agent`: the name of the mission's agent. */
export function sentenceOf(event: FleetEvent, agent: string, who: Who): string {
  const { kind, data, actor } = event
  if (kind === 'session_starting') return `${agent} is starting`
  if (kind === 'session_running') return `${agent} is working`
  if (kind === 'session_ended') return ended(data.outcome, agent)
  const words = kind === 'mission_created' ? 'Created the mission' : eventWords(event)
  // The fleet lands what a person approved. The person is who people ask about.
  if (kind === 'landed' && typeof data.approved_by === 'string')
    return `${capital(who(data.approved_by))} ${onto('landed it', data)}`
  if (kind === 'device_signed_in' && actor.startsWith('person:'))
    return `${capital(who(actor))} signed in: ${String(data.name)}`
  const by = actor.startsWith('session:') ? agent : capital(who(actor))
  return by && DONE_BY.has(kind) ? `${by} ${lower(words)}` : words
}

function ended(outcome: unknown, agent: string): string {
  if (outcome === 'completed') return `${agent} finished`
  const word = OUTCOMES[outcome as keyof typeof OUTCOMES]?.word.toLowerCase()
  return word ? `${agent} ended: ${word}` : `${agent} ended`
}

/** Events about one mission on one day, the newest first. Events of the fleet stand by themselves. */
export interface Happenings {
  key: string
  day: string
  mission_id: string | null
  events: FleetEvent[]
}

/** The usage of a session is reported every few seconds. It is on the page of costs. */
const isTold = ({ kind }: FleetEvent): boolean => kind !== 'usage'

/** Groups events, newest first. A group stands where its newest event is. */
export function grouped(events: readonly FleetEvent[], dayOf: (time: string) => string): Happenings[] {
  const groups = new Map<string, Happenings>()
  for (const event of events.filter(isTold)) {
    const { mission_id, cursor, time } = event
    const day = dayOf(time)
    const key = mission_id ? `${day} ${mission_id}` : cursor
    const group = groups.get(key) ?? { key, day, mission_id, events: [] }
    group.events.push(event)
    groups.set(key, group)
  }
  return [...groups.values()]
}
