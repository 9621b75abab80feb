import type { Event } from '../../../domain/records/event.ts'
import type { Mission } from '../../../domain/records/mission.ts'
import type { Session } from '../../../domain/records/session.ts'
import type { AgentEvent } from '../../../domain/records/transcript.ts'
import { headOf } from '../../../domain/text.ts'
import { TASK_STATUSES } from './words.ts'

/**
 * Sessions and missions as clients of claude-fleet read them: a worker is a member of a team, or a session of no member,
 * whose handle is its id. A task is a mission, and where no team has it, a team is a project. This file only translates words and shapes.
 */
export interface Told {
  kind: string
  data: Record<string, unknown>
}

export interface Facts {
  mission?: Mission
  session?: Session
  team: string | null
  /** The name of the member whose session it is. */
  member?: string
}

const taskOf = (mission: Mission, team: string | null) => ({
  id: mission.id,
  teamName: team,
  subject: mission.title,
  description: headOf(mission.prompt),
  ownerHandle: mission.task ? (mission.task.assignee?.handle ?? null) : mission.session_id,
  status: TASK_STATUSES[mission.status],
  blockedBy: mission.depends_on,
  createdAt: mission.created_at,
  updatedAt: mission.updated_at,
})

const workerOf = (session: Session, team: string | null) => ({
  id: session.id,
  handle: session.id,
  teamName: team,
  workingDir: session.worktree,
  state: session.status === 'ended' ? 'stopped' : 'working',
  spawnedAt: session.started_at ?? session.created_at,
})

/** Events after which a task may read differently. */
const UPDATES: ReadonlySet<Event['kind']> = new Set<Event['kind']>([
  'mission_updated',
  'dispatched',
  'auto_dispatched',
  'dispatch_failed',
  'cancelled',
  'retried',
  'resumed',
  'reopened',
  'requeued',
  'asked',
  'answered',
  'needs_input',
  'parked',
  'landing_started',
  'review_wanted',
  'pull_request_opened',
  'landed',
  'kept',
  'no_changes',
  'undone',
  'failed',
  'taken_over',
  'handed_back',
])

/** Whether it is worth looking up what an event is about. */
export const isTold = ({ kind }: Pick<Event, 'kind'>): boolean => UPDATES.has(kind) || OTHERS.has(kind)
/** Between these a session is a worker. */
const OF_SESSIONS: ReadonlySet<string> = new Set(['session_running', 'adopted', 'session_ended'])
const OTHERS: ReadonlySet<string> = new Set([
  'mission_created',
  'session_starting',
  'session_running',
  'adopted',
  'session_ended',
])

/** An event in their words, with the records as they are now. Undefined: they have no word for it. */
export function inTheirWords({ kind, session_id }: Event, { mission, session, team, member }: Facts): Told | undefined {
  // What a member does beside tasks is no task, and it is a worker for as long as it is in its team.
  const task = mission && !mission.member && taskOf(mission, team)
  if (member !== undefined && OF_SESSIONS.has(kind)) return undefined
  if (kind === 'mission_created') return task ? { kind: 'task_created', data: { task } } : undefined
  if (kind === 'session_starting')
    return task ? { kind: 'task_assigned', data: { task, handle: member ?? session_id } } : undefined
  // A server that died before it said that the agent runs leaves it to the next one, which adopts it.
  if (kind === 'session_running' || kind === 'adopted')
    return session && { kind: 'worker_spawned', data: { worker: workerOf(session, team) } }
  // A session whose agent never started was never announced.
  if (kind === 'session_ended')
    return session?.started_at ? { kind: 'worker_dismissed', data: { handle: session_id } } : undefined
  return task && UPDATES.has(kind) ? { kind: 'task_updated', data: { task } } : undefined
}

/** What an agent printed, as text. */
export function outputOf(event: AgentEvent): string | undefined {
  switch (event.type) {
    case 'text':
    case 'raw':
    case 'error':
    case 'warning':
      return event.text
    case 'tool_call':
      return event.name
    case 'tool_result':
      return event.output
    default:
      return undefined
  }
}
