import { InvalidInput } from '../../../domain/errors.ts'

type Given = Record<string, unknown>

/** The inputs that clients of claude-fleet send to tools whose names are ours too. Our own pass unchanged. */
export const TOOL_INPUTS: Readonly<Record<string, (given: Given) => Given>> = {
  team_handoff: ({ context, ...rest }) => ({
    ...rest,
    ...(context !== undefined && { context: typeof context === 'string' ? context : JSON.stringify(context, null, 1) }),
  }),
  blackboard_mark_read: renamed({ message_ids: 'post_ids' }),
  blackboard_archive: given => {
    const ours = renamed({ message_ids: 'post_ids', max_age_hours: 'older_than_hours' })(given)
    return ours.post_ids === undefined && ours.older_than_hours === undefined
      ? { ...ours, older_than_hours: DAY_HOURS }
      : ours
  },
  checkpoint_load: ({ latest, checkpoint_id, ...rest }) => ({
    ...rest,
    ...(latest === false && { latest }),
    ...(checkpoint_id !== undefined && { checkpoint_id: String(checkpoint_id) }),
  }),
  checkpoint_list: ({ status, ...rest }) => ({
    ...rest,
    ...(status !== undefined && { state: status === 'pending' ? 'open' : status }),
  }),
  // Its answer has the members anyway.
  swarm_list: ({ include_agents: _, ...rest }) => rest,
  swarm_kill: ({ graceful = true, ...rest }) => {
    if (graceful !== true) throw new InvalidInput('graceful', 'must be true: the record of a swarm is kept')
    return rest
  },
  swarm_broadcast: renamed({ directive: 'message' }),
  spawn_request: ({ agent_type, ...rest }) => ({
    ...rest,
    agent_type: agent_type === 'lead' ? 'team-lead' : agent_type,
  }),
  spawn_status: renamed({ request_id: 'spawn_id' }),
  spawn_cancel: renamed({ request_id: 'spawn_id' }),
  create_task: renamed({ task: 'title' }),
  update_task: ({ status, ...rest }) => ({ ...rest, status: TASK_WORDS[String(status)] ?? status }),
}

const DAY_HOURS = 24
const TASK_WORDS: Record<string, string> = { pending: 'open', completed: 'resolved' }

function renamed(names: Readonly<Record<string, string>>) {
  return (given: Given): Given =>
    Object.fromEntries(Object.entries(given).map(([name, value]) => [names[name] ?? name, value]))
}
