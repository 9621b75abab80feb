import { all, changed, dropped, type KnownName, kept, replaced } from './name.ts'

const FROM = 'claude-devfleet'

const keptRoutes: [route: string, why?: string][] = [
  ['DELETE /api/projects/{id}'],
  ['POST /api/missions', 'callback_url is refused: a plugin can notify others (post_complete, post_fail)'],
  ['DELETE /api/missions/{id}'],
  ['POST /api/missions/{id}/generate-next'],
  ['POST /api/missions/{id}/schedule'],
  ['DELETE /api/missions/{id}/schedule'],
  ['POST /api/sessions/{id}/cancel'],
  ['POST /api/autoloop/stop/{project_id}'],
  ['DELETE /api/mcp-servers/{id}'],
  ['GET /docs'],
]

const STATUS_WORDS = 'statuses are ours: done instead of completed, and queued, needs_input, review and others'

const changedRoutes: [route: string, what: string][] = [
  ['POST /api/projects', 'path must be a git repository, not just any folder; without it a new one is created'],
  ['GET /api/projects', '{projects, cursor} instead of a list; no counts of missions'],
  ['GET /api/projects/{id}', 'without missions: GET /api/missions?project_id='],
  ['PUT /api/projects/{id}', 'path cannot be changed'],
  [
    'GET /api/missions',
    `{missions, cursor} instead of a list; status=completed is accepted, ${STATUS_WORDS}; tags and depends_on are lists, not JSON in a text`,
  ],
  [
    'GET /api/missions/{id}',
    `report instead of latest_report, sessions oldest first, no project_name and mission_number; ${STATUS_WORDS}`,
  ],
  ['PUT /api/missions/{id}', 'status, auto_dispatch and schedule_… are refused: dispatch, cancel and schedule it'],
  [
    'POST /api/missions/{id}/dispatch',
    'returns the mission, which is queued: session_id is null until the agent starts; retry_… are refused',
  ],
  ['POST /api/missions/{id}/resume', 'returns the mission, which is queued: its next session has another id'],
  ['POST /api/missions/{id}/remote-control', 'answers before the link exists; GET of the same path has its url'],
  ['GET /api/missions/{id}/children', '{missions, cursor} instead of a list'],
  ['GET /api/missions/{id}/events', '{events, cursor} instead of a list; the events are ours'],
  ['GET /api/schedules', '{schedules, cursor} instead of a list'],
  [
    'GET /api/sessions',
    '{sessions, cursor} instead of a list; status=running, completed, failed and cancelled is accepted; a session has status and outcome',
  ],
  [
    'GET /api/sessions/{id}',
    'outcome instead of a final status, usage instead of total_cost_usd and total_tokens; output_log is at /transcript, the report at /api/reports',
  ],
  [
    'GET /api/sessions/{id}/stream',
    'events have names, such as text and tool_call, and the last one is end; there is no type done',
  ],
  ['GET /api/reports', '{reports, cursor} instead of a list; what_done and similar fields are lists, not texts'],
  ['GET /api/reports/{id}', 'what_done and similar fields are lists, not texts'],
  [
    'POST /api/plan',
    'answers at once with a plan; GET /api/plans/{id}/wait has its missions, which are created when it is approved',
  ],
  ['POST /api/autoloop/start', 'answers with the loop; a project without checks needs unchecked: true'],
  ['GET /api/autoloop/status/{project_id}', 'status instead of active; 404 if there is no loop'],
  ['GET /api/projects/{id}/mcp-servers', '{mcp_servers} instead of a list; name, command and url instead of config'],
  [
    'POST /api/projects/{id}/mcp-servers',
    '{server_name, server_type, config} is accepted, but not the type sse; the answer has name, command and url',
  ],
  ['GET /api/plugins', '{plugins}, each with its hooks and tools, instead of loaded, custom_tools and hooks'],
  ['GET /api/system/status', 'live_sessions and max_concurrent instead of running_agents and max_agents'],
  ['GET /api/config/engine', 'claude_engine says sdk or cli; engine is the store'],
  ['GET /api/config/models', '{models} of every agent instead of a list of names'],
  ['GET /api/config/tool-presets', '{presets} instead of an object'],
]

const otherRoutes: KnownName[] = [
  replaced(FROM, 'route', 'GET /api/missions/{id}/report', 'GET /api/missions/{id}'),
  replaced(FROM, 'route', 'POST /api/missions/{id}/recover', 'POST /api/missions/{id}/land'),
  replaced(FROM, 'route', 'GET /api/dashboard/stats', 'GET /api/overview'),
  replaced(FROM, 'route', 'GET /api/config/mission-types', 'GET /api/config/tool-presets'),
  replaced(FROM, 'route', 'GET /api/system/features', 'GET /api/agents', 'what each agent can do'),
  replaced(FROM, 'route', 'POST /api/plan-intelligent', 'POST /api/plan'),
  replaced(FROM, 'route', 'GET /api/projects/{id}/missions/graph', 'GET /api/graph'),
  replaced(FROM, 'route', 'GET /api/projects/{id}/missions/summary-diagram', 'GET /api/graph'),
  replaced(FROM, 'route', 'GET /api/projects/{id}/costs', 'GET /api/spending'),
  replaced(FROM, 'route', 'POST /api/sessions/{id}/takeover', 'POST /api/missions/{id}/takeover'),
  ...['POST', 'GET', 'DELETE'].map(method =>
    replaced(
      FROM,
      'route',
      `${method} /api/sessions/{id}/remote-control`,
      `${method} /api/missions/{id}/remote-control`,
    ),
  ),
  replaced(FROM, 'route', 'GET /api/remote-control/sessions', 'GET /api/processes'),
  dropped(FROM, 'route', 'GET /api/sessions/{id}/remote-stream', "Claude's own page shows a remote control"),
  dropped(FROM, 'route', 'POST /api/projects/{id}/analyze', 'use a mission of type explore'),
  dropped(FROM, 'route', 'GET /api/projects/{id}/health', 'there are no scores; checks say what works'),
  ...['/api/services…', '/api/incidents…', '/api/status…'].map(path =>
    dropped(FROM, 'route', path, 'monitoring web services is not a task for coding agents'),
  ),
]

const tools: KnownName[] = [
  changed(
    FROM,
    'tool',
    'create_project',
    'path must be an existing git repository; without it a new one is created in projects_dir',
  ),
  kept(FROM, 'tool', 'list_projects'),
  changed(FROM, 'tool', 'create_mission', 'without mission_number'),
  changed(FROM, 'tool', 'dispatch_mission', 'status is queued, and session_id is null until the agent starts'),
  changed(FROM, 'tool', 'get_mission_status', `usage and session_id instead of session; ${STATUS_WORDS}`),
  changed(
    FROM,
    'tool',
    'get_report',
    'what_done and similar fields are lists, not texts; an error if there is no report yet',
  ),
  changed(FROM, 'tool', 'cancel_mission', 'status stays running until the agent has ended'),
  changed(
    FROM,
    'tool',
    'wait_for_mission',
    'waits 45 seconds by default; answer is over or running, and get_report has the report',
  ),
  changed(
    FROM,
    'tool',
    'get_dashboard',
    'counts by status and a line for each mission that runs, waits or failed; no agent_slots',
  ),
  changed(FROM, 'tool', 'list_missions', `completed is accepted for done; ${STATUS_WORDS}`),
  changed(FROM, 'tool', 'plan_project', 'proposes missions; approve_plan creates and starts them'),
]

const INSIDE =
  'get_mission_context get_project_context get_session_history get_team_context read_past_reports submit_report create_sub_mission request_review get_sub_mission_status list_project_missions'

export const DEVFLEET: KnownName[] = [
  ...keptRoutes.map(([route, why]) => kept(FROM, 'route', route, undefined, why)),
  ...changedRoutes.map(([route, what]) => changed(FROM, 'route', route, what)),
  ...otherRoutes,
  ...all(
    FROM,
    'field',
    'project_id title detailed_prompt acceptance_criteria priority tags model max_turns max_budget_usd mission_type parent_mission_id depends_on auto_dispatch schedule_cron max_retries auto_retry',
  ),
  kept(FROM, 'field', 'allowed_tools', undefined, 'a list, a list as JSON in a text, or the name of a preset'),
  dropped(FROM, 'field', 'callback_url', 'a plugin can notify others: post_complete, post_fail'),
  ...all(FROM, 'option', 'model max_turns max_budget_usd allowed_tools tool_preset append_system_prompt context_mode'),
  changed(
    FROM,
    'option',
    'fork_session',
    'false is accepted; true is refused: a fork is a separate mission, made by POST /api/missions/{id}/fork',
  ),
  ...['max_retries', 'retry_initial_delay', 'retry_max_delay'].map(name =>
    dropped(FROM, 'option', name, 'a mission has max_retries; it waits as long as its provider says'),
  ),
  ...tools,
  ...INSIDE.split(' ').map(name =>
    changed(FROM, 'inside tool', name, 'its inputs are accepted; the answer and the statuses in it are ours'),
  ),
  ...all(FROM, 'preset', 'full implement fix review test explore'),
  ...['pre_dispatch', 'post_complete', 'post_fail', 'pre_plan', 'post_plan'].map(name =>
    changed(FROM, 'hook', name, 'plugins are JavaScript, and a hook gets our records'),
  ),
  replaced(
    FROM,
    'variable',
    'DEVFLEET_DB',
    'FLEET_HOME',
    'the store is one file in a folder with transcripts and worktrees, and cannot be moved alone',
  ),
  dropped(
    FROM,
    'variable',
    'DEVFLEET_PATH_MAP_*',
    'agents and server see the same paths, so there is nothing to translate',
  ),
  ...['DEVFLEET_MAX_RETRIES', 'DEVFLEET_RETRY_INITIAL_DELAY', 'DEVFLEET_RETRY_MAX_DELAY'].map(name =>
    dropped(FROM, 'variable', name, 'a mission has max_retries; it waits as long as its provider says'),
  ),
  ...['DEVFLEET_SCHEDULER_INTERVAL', 'DEVFLEET_WATCHER_INTERVAL'].map(name =>
    dropped(FROM, 'variable', name, 'the server detects this itself'),
  ),
  dropped(FROM, 'variable', 'DEVFLEET_ENABLE_REMOTE_CONTROL', 'it is available if the agent supports it'),
  replaced(FROM, 'variable', 'DEVFLEET_PLUGINS_DIR', 'the folder plugins of the home'),
  dropped(FROM, 'variable', 'DEVFLEET_API_URL', 'its terminal sends no token; fleet does the same and more'),
]
