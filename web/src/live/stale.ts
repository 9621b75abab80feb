import type { Input, Name, Output } from '../api/client.ts'
import type { FleetEvent } from './fleet-events.ts'

type Touches<N extends Name> = (event: FleetEvent, input: Input<N>, answer: Output<N> | undefined) => boolean

const about = (...prefixes: string[]) => {
  return ({ kind }: FleetEvent): boolean => prefixes.some(prefix => kind.startsWith(prefix))
}
const ofMissions = (event: FleetEvent): boolean => event.mission_id !== null && event.kind !== 'usage'
/** Its status changed. */
const moved = ({ mission_id, data }: FleetEvent): boolean => mission_id !== null && 'was' in data
const ofThatMission = (event: FleetEvent, input: { mission_id: string }, answer: { id: string } | undefined): boolean =>
  event.mission_id !== null && (event.mission_id === answer?.id || event.mission_id.startsWith(input.mission_id))

/** About its sub-missions or its dependents. A new mission may be one of them. */
const concernsItsOwn = (event: FleetEvent, answer: Output<'get_mission'> | undefined): boolean =>
  event.kind === 'mission_created'
    ? event.project_id === answer?.project_id
    : event.kind !== 'usage' &&
      !!answer &&
      [...answer.children, ...answer.dependents].some(({ id }) => id === event.mission_id)

/** A comment changed, moved with its lines, or was sent to the agent. */
const aboutComments = about('comment', 'candidate_changed', 'resumed', 'reopened')
/** Changes what waits for review, or what a review says about other missions. */
const changesReviews = (event: FleetEvent): boolean =>
  [event.data.was, event.data.status].some(status => status === 'review' || status === 'needs_input') ||
  about('comment', 'check_', 'reported', 'landed', 'undone', 'mission_deleted')(event)

/** Changes what somebody has to read, answer or release. */
const changesMail = about('mail_', 'team_deleted')

/** Changes of the fleet or a project that may keep missions from starting. */
const mayHold = about('project_updated', 'paused', 'unpaused', 'settings_', 'limit_reached')
const ofItsProject = (event: FleetEvent, answer: { project_id: string } | undefined): boolean =>
  event.project_id !== null && event.project_id === answer?.project_id
const isOneOf = ({ mission_id }: FleetEvent, { first, second }: { first: string; second: string }): boolean =>
  mission_id !== null && (mission_id.startsWith(first) || mission_id.startsWith(second))

const ofLoop = (event: FleetEvent, _: unknown, answer: { project_id: string } | undefined): boolean =>
  about('loop_', 'plan_')(event) || (about('usage', 'session_')(event) && ofItsProject(event, answer)) || moved(event)

/**
 * Which answers an event makes outdated. Answers that are not listed never change while they are shown, or only by a
 * command of the page, which names them. Lists of missions are updated record by record (`mending.ts`).
 */
export const STALE: { [N in Name]?: Touches<N> } = {
  get_mission: (event, input, answer) =>
    ofThatMission(event, input, answer) || mayHold(event) || concernsItsOwn(event, answer),
  list_children: ofMissions,
  list_mission_events: (event, input) => event.mission_id?.startsWith(input.mission_id) ?? false,
  list_comments: (event, input) => aboutComments(event) && !!event.mission_id?.startsWith(input.mission_id),
  list_reviews: event => changesReviews(event) || about('project_')(event),
  get_review: (event, input) => changesReviews(event) || ofThatMission(event, input, undefined),
  get_conflict: (event, input) => event.kind === 'landed' || ofThatMission(event, input, undefined),
  get_mission_notes: (event, input) => !!event.mission_id?.startsWith(input.mission_id),
  diff_mission: (event, input) => ofMissions(event) && !!event.mission_id?.startsWith(input.mission_id),
  get_session: (event, input) => event.session_id?.startsWith(input.session_id) ?? false,
  diff_session: (event, input) => event.kind !== 'usage' && !!event.session_id?.startsWith(input.session_id),
  list_sessions: about('session_'),
  list_teams: about('team_', 'member_'),
  get_team: (event, _, answer) =>
    about('team_', 'member_', 'mail_', 'session_')(event) ||
    moved(event) ||
    (event.kind === 'usage' && ofItsProject(event, answer)),
  capture_member: about('member_terminal'),
  get_member: event => about('team_', 'member_', 'mail_', 'session_')(event) || moved(event),
  team_tasks: event => moved(event) || about('task_', 'mission_', 'candidate_', 'team_deleted')(event),
  get_team_task: event => moved(event) || about('task_', 'mission_', 'candidate_')(event),
  swarm_list: about('swarm_', 'member_', 'team_'),
  blackboard_read: about('post_', 'team_'),
  checkpoint_list: about('checkpoint_', 'team_'),
  get_checkpoint: about('checkpoint_'),
  spawn_status: about('spawn_', 'member_', 'team_', 'swarm_'),
  team_workers: event => about('team_', 'member_', 'mail_', 'session_')(event) || moved(event),
  team_reservations: about('reservation_', 'member_', 'team_'),
  list_mail: about('mail_', 'team_'),
  get_mail: about('mail_'),
  team_status: event => about('team_', 'member_', 'mail_', 'session_')(event) || moved(event),
  list_running: event => about('session_', 'usage', 'needs_input', 'asked', 'answered', 'retrying', 'went_on')(event),
  list_ready: ofMissions,
  count_missions: moved,
  list_reports: about('reported', 'session_ended'),
  compare_missions: (event, input) => event.kind !== 'usage' && isOneOf(event, input),
  compare_sessions: ({ kind, session_id }, { first, second }) =>
    kind !== 'usage' && session_id !== null && (session_id.startsWith(first) || session_id.startsWith(second)),
  get_graph: event => ofMissions(event) || mayHold(event),
  list_inbox: event =>
    moved(event) ||
    about('asked', 'answered', 'question_', 'plan_', 'mission_', 'taken_over', 'takeover_')(event) ||
    changesMail(event),
  list_projects: about('project_', 'paused', 'unpaused'),
  get_project: about('project_', 'paused', 'unpaused'),
  get_check_run: (event, _, answer) =>
    about('check')(event) && (!answer?.run || event.project_id === answer.run.project_id),
  find_repositories: about('project_'),
  suggest_files: about('landed', 'undone', 'project_updated'),
  list_mcp_servers: about('project_updated', 'settings_'),
  list_plans: about('plan_'),
  get_plan: (event, _, answer) =>
    about('plan_')(event) ||
    (event.mission_id !== null &&
      (event.mission_id === answer?.mission_id ||
        !!answer?.missions.some(({ mission_id }) => mission_id === event.mission_id))),
  get_loop: ofLoop,
  get_loop_details: ofLoop,
  get_loop_round: event => about('loop_', 'plan_', 'check_', 'session_', 'usage')(event) || moved(event),
  list_loops: about('loop_'),
  list_schedules: event => moved(event) || about('schedule', 'unscheduled', 'mission_deleted', 'workflow_')(event),
  list_workflows: event => about('workflow_')(event) || ofMissions(event),
  get_workflow: event => about('workflow_')(event) || ofMissions(event),
  list_plugins: about('plugin_'),
  list_board_views: about('board_view_'),
  list_templates: about('template_'),
  get_template: about('template_'),
  list_processes: about('process_'),
  get_preview: about('process_'),
  get_remote_control: about('process_'),
  get_settings: about('settings_'),
  get_engine: about('settings_'),
  get_notification_settings: about('notification', 'device_signed_out'),
  system_status: event =>
    moved(event) ||
    about('session_', 'retrying', 'went_on', 'paused', 'unpaused', 'settings_', 'server_', 'decider_', 'fault_')(event),
  disk_use: about('worktree_', 'project_created', 'project_deleted'),
  list_faults: about('fault'),
  get_overview: event =>
    moved(event) ||
    changesMail(event) ||
    about(
      'fault_',
      'session_',
      'usage',
      'plan_',
      'question_',
      'asked',
      'answered',
      'paused',
      'unpaused',
      'settings_',
      'project_',
      'limit_reached',
    )(event),
  list_devices: about('device_', 'principal_'),
  // Every command has one, and nobody reads faster than the page looks again.
  list_audit: ({ actor }) => actor !== 'fleet',
  list_people: about('principal_', 'token_', 'device_signed_in'),
  list_names: about('principal_'),
  list_tokens: about('token_', 'principal_'),
  list_approval_rules: about('approval_rule_', 'allowed_by_rule', 'mission_deleted'),
  list_spending: about('usage', 'session_ended'),
  list_mission_costs: about('session_ended'),
  // The end of a session is when the windows of its provider may have changed.
  list_agents: about('settings_', 'plugin_', 'limit_reached', 'session_ended'),
}
