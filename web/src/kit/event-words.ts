import type { FleetEvent } from '../live/fleet-events.ts'
import { OUTCOMES } from './outcomes.ts'
import { plain } from './plain.ts'

type Kind = FleetEvent['kind']
type Told = (data: FleetEvent['data']) => string

const text = (value: unknown): string =>
  typeof value === 'string' || typeof value === 'number' ? plain(`${value}`) : ''
const commit = (value: unknown): string => text(value).slice(0, 10)
/** “Check failed: lint”, or only “Check failed” where the event does not say which. */
const named = (words: string, name: unknown): string => (text(name) ? `${words}: ${text(name)}` : words)
export const onto = (words: string, { commit: id, branch }: FleetEvent['data']): string =>
  [words, text(branch) && `on ${text(branch)}`, commit(id) && `as ${commit(id)}`].filter(Boolean).join(' ')

const HAND_BACK: Record<string, string> = { resume: 'for the agent to continue', land: 'to land', keep: 'for review' }
const outcome = (value: unknown): string =>
  OUTCOMES[value as keyof typeof OUTCOMES]?.word.toLowerCase() ?? text(value).replaceAll('_', ' ')

const WORDS: Record<Kind, string | Told> = {
  project_created: data => named('Added a project', data.name),
  project_updated: 'Changed the project',
  project_deleted: data => named('Removed a project', data.name),
  paused: 'Paused',
  unpaused: 'Unpaused',
  mission_created: 'Created',
  mission_updated: ({ fields }) =>
    named('Edited', Array.isArray(fields) ? fields.map(each => text(each).replaceAll('_', ' ')).join(', ') : ''),
  mission_deleted: 'Deleted',
  commented: 'Commented',
  comment_changed: 'Edited a comment',
  comment_deleted: 'Deleted a comment',
  dispatched: 'Queued',
  auto_dispatched: 'Queued',
  dependency_met: 'A dependency is done',
  dispatch_failed: 'Could not start',
  cancel_requested: 'Cancel requested',
  cancelled: 'Cancelled',
  interrupt_requested: 'Interrupted the agent',
  retried: 'Retried',
  resumed: 'Resumed',
  reopened: 'Reopened',
  session_starting: data => named('Starting the agent', data.agent),
  unknown_model: data => named('The model is not known', data.model),
  session_running: 'The agent is running',
  session_ended: data => named('The session ended', outcome(data.outcome)),
  session_claimed: 'Another host was given up; the session continues here',
  adopted: 'The server restarted; the agent kept running',
  swept: 'Ended processes that were left over',
  usage: 'Reported usage',
  limit_reached: data => named('A limit was reached', text(data.code).replaceAll('_', ' ')),
  stalled: 'The agent seems stuck',
  retrying: 'The provider did not answer; the agent tries again',
  went_on: 'The provider answers again',
  landing_started: 'Landing started',
  check_passed: data => named('Check passed', data.name),
  check_failed: data => named('Check failed', data.name),
  conflict: 'Conflicts with the base branch',
  landing_waits: 'Landing waits',
  candidate_changed: 'The candidate changed',
  pull_request_opened: 'Opened a pull request',
  landed: data => onto('Landed', data),
  kept: 'Kept on its branch',
  no_changes: 'Done without changes',
  review_wanted: 'Ready for review',
  land_requested: 'Approved',
  undo_requested: 'Undo requested',
  undone: data => onto('Undone', data),
  undo_failed: 'Could not be undone',
  worktree_removed: 'Removed the worktree',
  needs_input: 'Needs input',
  asked: 'Asked a question',
  answered: 'Answered a question',
  question_withdrawn: 'A question was withdrawn',
  approval_rule_made: 'Added an approval rule',
  approval_rule_revoked: 'Revoked an approval rule',
  allowed_by_rule: 'Allowed by an approval rule',
  message: 'Sent a message',
  message_arrived: 'The agent received the message',
  message_missed: 'The session ended before the message arrived',
  parked: 'Parked until there is an answer',
  reported: 'Wrote a report',
  delegated: 'Split off a sub-mission',
  requeued: 'Queued again',
  failed: 'Failed',
  workflow_created: 'Created a workflow',
  workflow_started: 'Started a workflow',
  workflow_changed: 'A stage of the workflow changed',
  workflow_cancelled: 'Cancelled a workflow',
  workflow_retried: 'Retried a workflow',
  workflow_ended: 'A workflow ended',
  scheduled: 'Scheduled',
  unscheduled: 'Removed the schedule',
  schedule_run: 'Started by its schedule',
  schedule_skipped: 'The schedule skipped a time',
  takeover_requested: 'Take-over requested',
  taken_over: 'Taken over',
  takeover_gone: 'The terminal of the take-over was closed',
  hand_back_requested: ({ next }) => `Handed back ${HAND_BACK[text(next)] ?? ''}`.trim(),
  handed_back: 'Handed back',
  process_asked: 'Starting a side process',
  process_up: 'A side process is running',
  process_stop_requested: 'Stopping a side process',
  process_ended: 'A side process ended',
  plan_requested: 'Asked for a plan',
  plan_proposed: 'Proposed a plan',
  plan_edited: 'Edited a plan',
  plan_approved: 'Approved a plan',
  plan_rejected: 'Rejected a plan',
  plan_failed: 'Planning failed',
  loop_started: 'Started a loop',
  loop_round: data => named('Started a round of a loop', data.round),
  loop_paused: 'Paused a loop',
  loop_resumed: 'Resumed a loop',
  loop_stopping: 'Stopping a loop',
  loop_ended: 'A loop ended',
  fault_recorded: 'Something failed and will be tried again',
  fault_cleared: 'It works again',
  faults_retried: 'Retried what had failed',
  settings_changed: 'Changed settings',
  settings_refused: 'The settings file has an error; the last settings stay in effect',
  notifications_changed: 'Changed notifications',
  notification_failed: 'Could not send a notification',
  board_view_saved: data => named('Saved a view of the board', data.name),
  board_view_deleted: data => named('Deleted a view of the board', data.name),
  template_saved: data => named('Saved a template', data.name),
  template_deleted: data => named('Deleted a template', data.name),
  restored: 'Restored from a backup',
  principal_added: data => named(data.of === 'service' ? 'Added a service' : 'Invited a person', data.name),
  principal_changed: data => named('Changed access', data.name),
  principal_ended: data => named('Ended access', data.name),
  token_made: data => named('Made a token', data.name),
  token_revoked: data => named('Revoked a token', data.name),
  device_signed_in: data => named('A browser signed in', data.name),
  device_signed_out: data => named('A browser was signed out', data.name),
  plugin_enabled: data => named('Enabled a plugin', data.name),
  plugin_disabled: data => named('Disabled a plugin', data.name),
  plugin_fault: data => named('A plugin failed', data.name),
  server_started: 'The server started',
  server_stopping: 'The server stopped',
}

/** An event in a few words. */
export function eventWords({ kind, data }: Pick<FleetEvent, 'kind' | 'data'>): string {
  const words = WORDS[kind]
  return typeof words === 'function' ? words(data) : (words ?? kind.replaceAll('_', ' '))
}

/** Who is signed in, and how others are called. */
export interface People {
  /** Null: the owner of the home. */
  me: string | null
  names: ReadonlyMap<string, string>
}

/** Who did it, in the middle of a sentence; empty: the fleet by itself. */
export function actorWords(actor: string, { me, names }: People): string {
  const [kind = '', id = ''] = actor.split(/:(.*)/s)
  if (actor === 'person') return me === null ? 'you' : 'the owner'
  if (kind === 'person') return id === me ? 'you' : plain(names.get(id) ?? 'somebody')
  if (kind === 'service') return plain(names.get(id) ?? 'a service')
  if (kind === 'session') return 'the agent'
  return actor === 'fleet' ? '' : plain(actor.replace(':', ' '))
}
