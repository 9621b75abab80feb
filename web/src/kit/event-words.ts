import type { FleetEvent } from '../live/fleet-events.ts'
import { OUTCOMES } from './outcomes.ts'
import { plain } from './plain.ts'
import { capital } from './words.ts'

type Kind = FleetEvent['kind']
type Words = string | ((data: FleetEvent['data'], agent: string) => string)
/** Words that begin with what somebody did: “Approved a plan”. */
interface Deed {
  did: Words
}
const did = (words: Words): Deed => ({ did: words })

const lower = (text: string): string => text.charAt(0).toLowerCase() + text.slice(1)

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

const WORDS: Record<Kind, Words | Deed> = {
  project_created: did(data => named('Added a project', data.name)),
  project_updated: did('Changed the project'),
  project_deleted: did(data => named('Removed a project', data.name)),
  paused: did('Paused'),
  unpaused: did('Unpaused'),
  mission_created: did('Created the mission'),
  mission_updated: did(({ fields }) =>
    named('Edited', Array.isArray(fields) ? fields.map(each => text(each).replaceAll('_', ' ')).join(', ') : ''),
  ),
  mission_deleted: did('Deleted'),
  commented: did('Commented'),
  comment_changed: did('Edited a comment'),
  comment_deleted: did('Deleted a comment'),
  dispatched: did('Queued'),
  auto_dispatched: 'Queued',
  dependency_met: 'A dependency is done',
  dispatch_failed: 'Could not start',
  cancel_requested: 'Cancel requested',
  cancelled: did('Cancelled'),
  interrupt_requested: did('Interrupted the agent'),
  retried: did('Retried'),
  resumed: did('Resumed'),
  reopened: did('Reopened'),
  session_starting: (_, agent) => `${agent} is starting`,
  unknown_model: data => named('Unknown model', data.model),
  session_running: (_, agent) => `${agent} is working`,
  session_ended: (data, agent) =>
    data.outcome === 'completed' ? `${agent} finished` : named(`${agent} ended`, outcome(data.outcome)),
  session_claimed: 'Took the session over from another host',
  adopted: 'The server restarted; the agent kept running',
  swept: 'Ended leftover processes',
  usage: 'Reported usage',
  limit_reached: data => named('A limit was reached', text(data.code).replaceAll('_', ' ')),
  stalled: 'The agent seems stuck',
  retrying: 'The provider did not answer; the agent tries again',
  went_on: 'The provider answers again',
  landing_started: 'Landing started',
  check_passed: data => named('Check passed', data.name),
  check_failed: data => named('Check failed', data.name),
  checks_requested: did('Asked for the checks of the project'),
  checks_started: 'The checks of the project are running',
  checks_stop_requested: did('Stopped the checks of the project'),
  checks_ended: data => named('The checks of the project ended', data.outcome),
  conflict: 'Conflicts with the base branch',
  landing_waits: 'Landing waits',
  candidate_changed: 'The candidate changed',
  pull_request_opened: did('Opened a pull request'),
  branch_pushed: did(data => named('Pushed the branch', data.branch)),
  landed: did(data => onto('Landed', data)),
  kept: 'Kept on its branch',
  no_changes: 'Done without changes',
  review_wanted: 'Ready for review',
  land_requested: did('Approved'),
  undo_requested: 'Undo requested',
  undone: did(data => onto('Undone', data)),
  undo_failed: 'Could not be undone',
  worktree_removed: 'Removed the worktree',
  needs_input: 'Needs input',
  asked: did('Asked a question'),
  answered: did('Answered a question'),
  question_withdrawn: 'A question was withdrawn',
  approval_rule_made: did('Added an approval rule'),
  approval_rule_revoked: did('Revoked an approval rule'),
  allowed_by_rule: 'Allowed by an approval rule',
  message: did('Sent a message'),
  message_arrived: 'The agent received the message',
  message_missed: 'The session ended before the message arrived',
  parked: 'Stopped until there is news',
  reported: did('Wrote a report'),
  delegated: did('Created a sub-mission'),
  requeued: 'Queued again',
  failed: 'Failed',
  workflow_created: did('Created a workflow'),
  workflow_started: did('Started a workflow'),
  workflow_changed: 'A stage of the workflow changed',
  workflow_cancelled: did('Cancelled a workflow'),
  workflow_retried: did('Retried a workflow'),
  workflow_ended: 'A workflow ended',
  scheduled: did('Scheduled'),
  unscheduled: did('Removed the schedule'),
  schedule_run: 'Started by its schedule',
  schedule_skipped: 'The schedule skipped a time',
  takeover_requested: 'Take-over requested',
  taken_over: did('Taken over'),
  takeover_gone: 'The terminal of the take-over was closed',
  hand_back_requested: did(({ next }) => `Handed back ${HAND_BACK[text(next)] ?? ''}`.trim()),
  handed_back: did('Handed back'),
  process_asked: 'Starting a side process',
  process_up: 'A side process is running',
  process_stop_requested: 'Stopping a side process',
  process_ended: 'A side process ended',
  plan_requested: did('Asked for a plan'),
  plan_proposed: did('Proposed a plan'),
  plan_edited: did('Edited a plan'),
  plan_approved: did('Approved a plan'),
  plan_rejected: did('Rejected a plan'),
  plan_failed: 'Planning failed',
  loop_started: did('Started a loop'),
  loop_round: ({ outcome: ended, round }) =>
    ended ? `Round ${text(round)} of a loop ended` : `Started round ${text(round)} of a loop`,
  loop_paused: did('Paused a loop'),
  loop_resumed: did('Resumed a loop'),
  loop_stopping: 'The loop is stopping',
  loop_ended: 'The loop ended',
  fault_recorded: 'Something failed and will be tried again',
  fault_cleared: 'It works again',
  faults_retried: did('Retried after a failure'),
  settings_changed: did('Changed settings'),
  settings_refused: 'The settings file has an error; the last settings stay in effect',
  notifications_changed: 'Changed notifications',
  notification_failed: 'Could not send a notification',
  board_view_saved: data => named('Saved a view of the board', data.name),
  board_view_deleted: data => named('Deleted a view of the board', data.name),
  scrape_token_made: did('Created the token for measurements'),
  scrape_token_revoked: did('Revoked the token for measurements'),
  team_created: did(data => named('Created a team', data.name)),
  team_changed: did('Changed the team'),
  team_deleted: did(data => named('Deleted a team', data.name)),
  member_added: did(data => named('Added a member', data.handle)),
  member_changed: did(data => named('Changed a member', data.handle)),
  member_dismissed: did(data => named('Dismissed a member', data.handle)),
  member_held: data => `Mail does not wake ${text(data.handle)}: ${text(data.text)}`,
  member_terminal: data => `The terminal of ${text(data.handle)}: ${text(data.state)}`,
  member_quiet: 'Shows no sign of life',
  member_lively: 'Shows signs of life again',
  member_health: data => `${text(data.handle)} is ${text(data.state)}${data.reason ? `: ${text(data.reason)}` : ''}`,
  member_restarted: data => `${text(data.handle)} was started again: ${text(data.reason)}`,
  swarm_created: did(data => named('Created a swarm', data.name)),
  swarm_killed: did(data => named('Killed a swarm', data.name)),
  swarm_ended: data => named('The members of a swarm were dismissed', data.name),
  post_written: data => `${text(data.from)} wrote on the blackboard: ${text(data.type)}`,
  post_read: 'A post was read',
  post_archived: did('Archived a post'),
  checkpoint_created: ({ from, to }) => `${text(from)} wrote a checkpoint for ${text(to)}`,
  checkpoint_decided: data => `${text(data.by)} ${text(data.decision)} a checkpoint`,
  checkpoint_loaded: did(data => named('Loaded a checkpoint for the next session', data.handle)),
  spawn_requested: ({ from, role }) => `${text(from)} asked for another member: ${text(role)}`,
  spawn_decided: did(data => named(`Decided about a request for another member of ${text(data.from)}`, data.decision)),
  spawn_ended: data => named(`The request of ${text(data.from)} for another member`, data.state),
  reservation_made: data => named(`${text(data.handle)} is about to change`, data.file),
  reservation_ended: ({ handle, files }) =>
    `${text(handle)} no longer reserves ${Array.isArray(files) ? files.map(text).join(', ') : ''}`,
  task_assigned: did(data => (data.handle ? named('Gave a task to', data.handle) : 'Gave a task back to the team')),
  task_blocked: did('Said what blocks a task'),
  mail_sent: ({ from, to, reply_to }) =>
    `${text(from)} ${reply_to ? 'replied' : 'wrote'} to ${Array.isArray(to) ? to.map(text).join(', ') : ''}`,
  mail_handed: 'Mail was handed over',
  mail_heard: 'Mail was heard',
  mail_answered: data => named('Mail was answered', data.answer),
  mail_cancelled: did('Cancelled a message'),
  mail_released: did('Released a message'),
  mail_returned: 'Mail was returned',
  mail_escalated: 'An answer is overdue',
  mail_expired: 'Mail expired',
  template_saved: did(data => named('Saved a template', data.name)),
  template_deleted: did(data => named('Deleted a template', data.name)),
  restored: 'Restored from a backup',
  principal_added: did(data => named(data.of === 'service' ? 'Added a service' : 'Invited a person', data.name)),
  principal_changed: did(data => named('Changed access', data.name)),
  principal_ended: did(data => named('Ended access', data.name)),
  token_made: data => named('Made a token', data.name),
  token_revoked: data => named('Revoked a token', data.name),
  signing_keys_rotated: did('Made a new key for JWTs'),
  device_signed_in: data => named('A browser signed in', data.name),
  device_signed_out: data => named('A browser was signed out', data.name),
  plugin_enabled: did(data => named('Enabled a plugin', data.plugin)),
  plugin_disabled: did(data => named('Disabled a plugin', data.plugin)),
  plugin_configured: data => named('Changed the settings of a plugin', data.plugin),
  plugin_fault: data => named('A plugin failed', data.plugin),
  server_started: 'The server started',
  server_stopping: 'The server stopped',
  decider_changed: data => named('Another server decides', data.server),
}

/** An event in a few words. `agent`: the name of the mission's agent. */
export function eventWords({ kind, data }: Pick<FleetEvent, 'kind' | 'data'>, agent = 'The agent'): string {
  const entry = WORDS[kind] ?? kind.replaceAll('_', ' ')
  const words = typeof entry === 'object' ? entry.did : entry
  return typeof words === 'function' ? words(data, agent) : words
}

/** Who is signed in, and how others are called. */
export interface People {
  /** Null: the owner of the home. */
  me: string | null
  names: ReadonlyMap<string, string>
}

/** The owner, before others are known. */
const ALONE: People = { me: null, names: new Map() }

/** Who did it, in the middle of a sentence; empty: the fleet by itself. */
export function actorWords(actor: string, { me, names }: People): string {
  const [kind = '', id = ''] = actor.split(/:(.*)/s)
  if (actor === 'person') return me === null ? 'you' : 'the owner'
  if (kind === 'person') return id === me ? 'you' : plain(names.get(id) ?? 'somebody')
  if (kind === 'service') return plain(names.get(id) ?? 'a service')
  if (kind === 'session') return 'the agent'
  return actor === 'fleet' ? '' : plain(actor.replace(':', ' '))
}

/** What happened, as a sentence: who did what. `agent`: the name of the mission's agent; `who`: how people are called. */
export function sentenceOf(
  event: Pick<FleetEvent, 'kind' | 'data' | 'actor'>,
  agent = 'The agent',
  who: (actor: string) => string = actor => actorWords(actor, ALONE),
): string {
  const { kind, data, actor } = event
  // The fleet lands what a person approved. The person is who people ask about.
  if (kind === 'landed' && typeof data.approved_by === 'string')
    return `${capital(who(data.approved_by))} ${onto('landed it', data)}`
  if (kind === 'undone' && typeof data.requested_by === 'string')
    return `${capital(who(data.requested_by))} ${onto('undid it', data)}`
  if (kind === 'device_signed_in' && actor.startsWith('person:'))
    return `${capital(who(actor))} signed in: ${text(data.name)}`
  const words = eventWords(event, agent)
  const by = actor.startsWith('session:') ? agent : capital(who(actor))
  return by && typeof WORDS[kind] === 'object' ? `${by} ${lower(words)}` : words
}
