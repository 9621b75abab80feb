/**
 * Every name that people know from other tools, and what became of it here. Settings take their other names from this
 * list, and docs/compatibility.md is made from it; a test calls every name that is kept. The tools for MCP clients
 * are carried out in operations/aliases.
 */
export interface KnownName {
  from: KnownTool
  kind: NameKind
  name: string
  fate: 'kept' | 'replaced' | 'dropped' | 'not yet'
  /** What it is called here: the same, if absent and kept. */
  ours?: string
  why?: string
}

export const KNOWN_TOOLS = [
  'claude-devfleet',
  'codefleet',
  'fleet (beads supervisor)',
  'claude-fleet',
  'CAFleet',
] as const
export type KnownTool = (typeof KNOWN_TOOLS)[number]

export const NAME_KINDS = {
  route: 'REST routes',
  field: 'Fields of a mission',
  option: 'Options of a dispatch',
  tool: 'MCP tools',
  'inside tool': 'MCP tools of the agents inside',
  stage: 'Fields and variables of stages',
  preset: 'Tool presets',
  hook: 'Plugin hooks',
  command: 'Terminal',
  key: 'Configuration keys',
  variable: 'Environment variables',
  'agent variable': 'Environment of agents',
  file: 'Files of a task',
  team: 'Teams',
} as const
export type NameKind = keyof typeof NAME_KINDS

type Told = Pick<KnownName, 'ours' | 'why'>
const told =
  (fate: KnownName['fate']) =>
  (from: KnownTool, kind: NameKind, name: string, ours?: string, why?: string): KnownName => ({
    ...{ from, kind, name, fate },
    ...({ ...(ours && { ours }), ...(why && { why }) } satisfies Told),
  })
const kept = told('kept')
const replaced = told('replaced')
const dropped = (from: KnownTool, kind: NameKind, name: string, why: string): KnownName =>
  told('dropped')(from, kind, name, undefined, why)
const notYet = (from: KnownTool, kind: NameKind, names: readonly string[], why: string): KnownName[] =>
  names.map(name => told('not yet')(from, kind, name, undefined, why))
const all = (from: KnownTool, kind: NameKind, names: string): KnownName[] =>
  names.split(' ').map(name => kept(from, kind, name))

const DEVFLEET_ROUTES = [
  'GET /api/projects',
  'POST /api/projects',
  'GET /api/projects/{id}',
  'PUT /api/projects/{id}',
  'DELETE /api/projects/{id}',
  'GET /api/missions',
  'POST /api/missions',
  'GET /api/missions/{id}',
  'PUT /api/missions/{id}',
  'DELETE /api/missions/{id}',
  'POST /api/missions/{id}/dispatch',
  'POST /api/missions/{id}/resume',
  'POST /api/missions/{id}/generate-next',
  'POST /api/missions/{id}/remote-control',
  'POST /api/missions/{id}/schedule',
  'DELETE /api/missions/{id}/schedule',
  'GET /api/missions/{id}/children',
  'GET /api/missions/{id}/events',
  'GET /api/schedules',
  'GET /api/sessions',
  'GET /api/sessions/{id}',
  'GET /api/sessions/{id}/stream',
  'POST /api/sessions/{id}/cancel',
  'GET /api/reports',
  'GET /api/reports/{id}',
  'POST /api/plan',
  'POST /api/autoloop/start',
  'POST /api/autoloop/stop/{project_id}',
  'GET /api/autoloop/status/{project_id}',
  'GET /api/projects/{id}/mcp-servers',
  'POST /api/projects/{id}/mcp-servers',
  'DELETE /api/mcp-servers/{id}',
  'GET /api/plugins',
  'GET /api/system/status',
  'GET /api/config/engine',
  'GET /api/config/models',
  'GET /api/config/tool-presets',
  'GET /docs',
]

const TEAMS = 'there are no teams yet'

const DEVFLEET: KnownName[] = [
  ...DEVFLEET_ROUTES.map(route => kept('claude-devfleet', 'route', route)),
  ...all(
    'claude-devfleet',
    'field',
    'project_id title detailed_prompt acceptance_criteria priority tags model max_turns max_budget_usd allowed_tools mission_type parent_mission_id depends_on auto_dispatch schedule_cron',
  ),
  ...all(
    'claude-devfleet',
    'option',
    'model max_turns max_budget_usd allowed_tools tool_preset append_system_prompt context_mode',
  ),
  replaced(
    'claude-devfleet',
    'option',
    'fork_session',
    'POST /api/missions/{id}/fork',
    'a fork is a mission of its own, so that the first stays as it was',
  ),
  ...all(
    'claude-devfleet',
    'tool',
    'plan_project create_project create_mission dispatch_mission get_mission_status get_report cancel_mission wait_for_mission get_dashboard list_projects list_missions',
  ),
  ...all(
    'claude-devfleet',
    'inside tool',
    'get_mission_context get_project_context get_session_history get_team_context read_past_reports submit_report create_sub_mission request_review get_sub_mission_status list_project_missions',
  ),
  ...all('claude-devfleet', 'preset', 'full implement fix review test explore'),
  ...all('claude-devfleet', 'hook', 'pre_dispatch post_complete post_fail pre_plan post_plan'),
  replaced(
    'claude-devfleet',
    'variable',
    'DEVFLEET_DB',
    'FLEET_HOME',
    'the store is one file in a folder with transcripts and worktrees, and cannot be moved alone',
  ),
  kept('claude-devfleet', 'variable', 'DEVFLEET_MAX_AGENTS', 'max_concurrent'),
  kept('claude-devfleet', 'variable', 'DEVFLEET_ENGINE', 'claude_engine'),
  kept('claude-devfleet', 'variable', 'DEVFLEET_CONTEXT_MODE_CMD', 'context_mode_cmd'),
  kept('claude-devfleet', 'variable', 'DEVFLEET_PROJECTS_DIR', 'projects_dir'),
  dropped(
    'claude-devfleet',
    'variable',
    'DEVFLEET_PATH_MAP_*',
    'agents and server see the same paths, so there is nothing to translate',
  ),
]

const CODEFLEET: KnownName[] = [
  ...all(
    'codefleet',
    'tool',
    'healthcheck create_worker get_worker_status list_workers collect_worker_result cancel_worker cleanup_worker create_workflow get_workflow_status list_workflows cancel_workflow collect_workflow_result cleanup_workflow',
  ),
  ...all(
    'codefleet',
    'stage',
    'name executor prompt_template model worktree_strategy depends_on timeout_seconds reasoning_effort {task_prompt} {stage_N_summary} {stage_N_files} {stage_N_next_steps} {stage_N_status} {stage_N_result}',
  ),
  kept('codefleet', 'variable', 'FLEET_DEFAULT_EXECUTOR', 'default_agent'),
  kept('codefleet', 'variable', 'FLEET_DEFAULT_MODEL', 'default_model'),
  replaced(
    'codefleet',
    'variable',
    'FLEET_GEMINI_DEFAULT_MODEL',
    'model of a project or mission',
    'default_model is for all agents',
  ),
  replaced(
    'codefleet',
    'variable',
    'FLEET_CLAUDE_DEFAULT_MODEL',
    'model of a project or mission',
    'default_model is for all agents',
  ),
  kept('codefleet', 'variable', 'FLEET_DEFAULT_TIMEOUT', 'default_timeout', 'its default is 7200 seconds here'),
  kept('codefleet', 'variable', 'FLEET_MAX_CONCURRENT', 'max_concurrent'),
  kept('codefleet', 'variable', 'FLEET_MAX_SPAWN_DEPTH', 'max_spawn_depth'),
  kept('codefleet', 'variable', 'FLEET_ALLOWED_REPOS', 'allowed_repos'),
  replaced('codefleet', 'variable', 'FLEET_BASE_DIR', 'FLEET_HOME', 'a folder of another tool is not taken for a home'),
  ...['FLEET_RATE_LIMIT_MAX_RETRIES', 'FLEET_RATE_LIMIT_BASE_DELAY', 'FLEET_RATE_LIMIT_MAX_DELAY'].map(name =>
    dropped('codefleet', 'variable', name, 'missions wait until the time their provider names'),
  ),
  kept('codefleet', 'variable', 'FLEET_STALE_TIMEOUT', 'stall_after', 'what happens then is said by stall_policy'),
  replaced(
    'codefleet',
    'variable',
    'FLEET_STALE_MAX_RESTARTS',
    'stall_policy = "restart"',
    'a stuck agent is restarted at most twice in a row',
  ),
]

const BEADS: KnownName[] = [
  ...[
    'fleet init [--force]',
    'fleet ready [--limit]',
    'fleet show <id> [--json]',
    'fleet tasks [--limit]',
    'fleet task <id> log',
    'fleet task <id> plan',
    'fleet task <id> knowledge',
    'fleet log [N]',
    'fleet config show [--raw]',
    'fleet config set k=v…',
  ].map(name => kept('fleet (beads supervisor)', 'command', name)),
  replaced(
    'fleet (beads supervisor)',
    'command',
    'fleet run [--coder X]',
    'fleet up [--set default_agent=X]',
    'fleet run "<what to do>" sends an agent; commands start the supervisor when they need it',
  ),
  kept(
    'fleet (beads supervisor)',
    'command',
    'fleet bd <args…>',
    'fleet bd <args…>',
    'beads made so become missions once fleet beads bridge --of-home runs, or the server does it (beads_bridges = home)',
  ),
  kept('fleet (beads supervisor)', 'key', 'max_concurrent', 'max_concurrent', 'its default is 4 here'),
  kept('fleet (beads supervisor)', 'key', 'coder', 'default_agent', 'it has no default here, and cannot be shell'),
  kept('fleet (beads supervisor)', 'key', 'model', 'default_model', 'by default the client chooses here'),
  kept('fleet (beads supervisor)', 'key', 'context_pressure_threshold_pct', 'context_limit'),
  ...all('fleet (beads supervisor)', 'agent variable', 'FLEET_TASK_ID FLEET_TASK_DIR FLEET_ARTIFACT_DIR'),
  kept('fleet (beads supervisor)', 'file', 'plan and status', 'PLAN.md'),
  kept('fleet (beads supervisor)', 'file', 'knowledge', 'KNOWLEDGE.md'),
  kept('fleet (beads supervisor)', 'file', 'artifacts'),
  kept(
    'fleet (beads supervisor)',
    'file',
    'questions (## Q: and ## A:)',
    'questions.md',
    'the fleet writes what is asked and answered; nothing is read from it, because agents can write it',
  ),
]

const TEAM_TOOLS: KnownName[] = [
  kept('claude-fleet', 'route', 'GET /health'),
  ...notYet(
    'claude-fleet',
    'route',
    ['/metrics', '/auth', '/orchestrate/spawn', '/orchestrate/dismiss/:handle'],
    TEAMS,
  ),
  ...notYet(
    'claude-fleet',
    'team',
    [
      '/orchestrate/workers',
      '/teams/:team/agents',
      '/teams/:team/tasks',
      '/tasks',
      '/swarms',
      '/blackboard',
      '/checkpoints',
      'WebSocket',
      'team_status',
      'team_spawn',
      'team_assign',
      'team_broadcast',
      'blackboard_post',
      'checkpoint_create',
      'team-lead',
      'worker',
      'coordinator',
      'monitor',
      'merger',
    ],
    TEAMS,
  ),
  ...notYet(
    'claude-fleet',
    'command',
    ['health', 'metrics', 'workers', 'spawn', 'dismiss', 'send', 'swarms', 'swarm-create', 'teams', 'tasks'],
    TEAMS,
  ),
  replaced(
    'claude-fleet',
    'variable',
    'PORT',
    'fleet up --port',
    'many programs are started with a PORT that is not meant for the fleet; the usual port is the same, 3847',
  ),
  ...notYet('claude-fleet', 'variable', ['STORAGE_BACKEND'], 'there is only SQLite yet'),
  dropped('claude-fleet', 'variable', 'JWT_SECRET', 'the home has a key of its own'),
  replaced('claude-fleet', 'variable', 'MAX_WORKERS', 'FLEET_MAX_CONCURRENT', 'the name says nothing of the fleet'),
  ...notYet(
    'CAFleet',
    'team',
    [
      'fleets',
      'director',
      'message send, broadcast, poll, ack, cancel, show',
      'member create, delete, list, capture, send-input, exec, ping, nudge',
      'monitor start, status, config',
      'skills',
    ],
    TEAMS,
  ),
]

export const KNOWN_NAMES: readonly KnownName[] = [...DEVFLEET, ...CODEFLEET, ...BEADS, ...TEAM_TOOLS]

/** Names of settings that are ours under another name. */
export const SETTING_ALIASES: readonly { kind: 'key' | 'variable'; name: string; ours: string }[] = KNOWN_NAMES.flatMap(
  ({ kind, name, fate, ours }) =>
    fate === 'kept' && ours && (kind === 'key' || kind === 'variable') ? [{ kind, name, ours }] : [],
)
