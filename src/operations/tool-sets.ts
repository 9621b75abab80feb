/** The sets in which MCP offers tools. A client names the sets it wants, and only those are in its context. */
export const TOOL_SETS = {
  missions: 'projects, plans and missions in brief',
  workers: 'missions that do not land, as codefleet has them',
  workflows: 'workflows, as codefleet has them',
  plugins: 'the tools of plugins',
  control: 'start, stop and change missions with every field; sessions, worktrees, previews',
  review: 'see what changed, comment on it, and land, undo, reject or send it back',
  talk: 'the inbox, questions, messages, approvals and take-over',
  teams: 'teams of agents: their members, mail, tasks, blackboard and reserved files',
  planning: 'plans, workflows, loops, schedules and templates with every field',
  projects: 'projects with every field, their MCP servers and beads',
  history: 'events, transcripts, reports, spending and the graph',
  system: 'settings, agents, models, plugins, devices and upkeep',
} as const

export type ToolSet = keyof typeof TOOL_SETS

/** The sets for a client that names none. They stay small, because every tool takes room in the context of a model. */
export const DEFAULT_SETS: readonly ToolSet[] = ['missions', 'workers', 'workflows', 'plugins']

/** The tools for a client that names no set. Clients rely on these names. */
export const USUAL_TOOLS: readonly string[] = [
  ...['approve_plan', 'cancel_mission', 'cancel_worker', 'cancel_workflow', 'cleanup_worker', 'cleanup_workflow'],
  ...['collect_worker_result', 'collect_workflow_result', 'create_mission', 'create_project', 'create_worker'],
  ...['create_workflow', 'dispatch_mission', 'get_dashboard', 'get_mission_notes', 'get_mission_status', 'get_plan'],
  ...['get_report', 'get_worker_status', 'get_workflow_status', 'healthcheck', 'list_missions', 'list_projects'],
  ...['list_workers', 'list_workflows', 'plan_project', 'read_artifact', 'wait_for_mission'],
]

/** The set for an agent at work, at an address of its own. */
export const INSIDE_SET = 'inside'

/** How an operation is offered as a tool. */
export interface Offered {
  set: ToolSet | typeof INSIDE_SET
  /** Another name, where clients know its own name for something else. */
  name?: string
  /** It may take long, and reports its progress. */
  long?: boolean
  /** Other defaults than its own, because models have little room. */
  defaults?: Record<string, unknown>
  /** The answer for a model. Absent: the whole answer. */
  told?(answer: never): unknown
}
