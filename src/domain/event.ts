import * as z from 'zod'
import { Id, Timestamp } from './ids.ts'
import { MAX_CAUSE_CHARS } from './text.ts'

/** Fixed names: people and programs filter by them. */
export const EVENT_KINDS = [
  'project_created',
  'project_updated',
  'project_deleted',
  'paused',
  'unpaused',
  'mission_created',
  'mission_updated',
  'mission_deleted',
  'commented',
  'dispatched',
  'auto_dispatched',
  'dependency_met',
  'dispatch_failed',
  'cancel_requested',
  'cancelled',
  'retried',
  'resumed',
  'reopened',
  'session_starting',
  'session_running',
  'session_ended',
  'adopted',
  'swept',
  'usage',
  'limit_reached',
  'stalled',
  'landing_started',
  'check_passed',
  'check_failed',
  'conflict',
  'landing_waits',
  'landed',
  'kept',
  'no_changes',
  'review_wanted',
  'land_requested',
  'undo_requested',
  'undone',
  'undo_failed',
  'worktree_removed',
  'needs_input',
  'asked',
  'answered',
  'question_withdrawn',
  'message',
  'message_arrived',
  'message_missed',
  'parked',
  'requeued',
  'failed',
  'scheduled',
  'unscheduled',
  'schedule_run',
  'schedule_skipped',
  'process_asked',
  'process_up',
  'process_stop_requested',
  'process_ended',
  'server_started',
  'server_stopping',
] as const
export const EventKind = z.enum(EVENT_KINDS)
export type EventKind = z.infer<typeof EventKind>

export const NewEvent = z.object({
  kind: EventKind,
  time: Timestamp,
  actor: z.string().max(120).describe('person, fleet, or session:<id>'),
  project_id: Id.nullable().default(null),
  mission_id: Id.nullable().default(null),
  session_id: Id.nullable().default(null),
  cause: z.string().max(MAX_CAUSE_CHARS).nullable().default(null),
  data: z.record(z.string(), z.unknown()).default({}),
})
export type NewEvent = z.input<typeof NewEvent>

export const Event = NewEvent.extend({ cursor: z.string() })
export type Event = z.infer<typeof Event>
