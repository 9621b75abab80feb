import { all, changed, dropped, type KnownName, kept, replaced } from './name.ts'

const FROM = 'codefleet'
const NO_FILES = 'without heartbeats and its own file paths (worker_dir, stdout_path and similar)'

export const CODEFLEET: KnownName[] = [
  changed(FROM, 'tool', 'healthcheck', 'without db_path, base_dir, git_path and heartbeat_interval'),
  changed(
    FROM,
    'tool',
    'create_worker',
    `profile, extra_args and extra_codex_args must be empty; in a folder of a repository it works in that folder; ${NO_FILES}`,
  ),
  ...['get_worker_status', 'list_workers', 'cancel_worker'].map(name => changed(FROM, 'tool', name, NO_FILES)),
  changed(FROM, 'tool', 'collect_worker_result', `files and commits are those that git reports; ${NO_FILES}`),
  kept(FROM, 'tool', 'cleanup_worker', undefined, 'its commits stay under refs/fleet'),
  changed(
    FROM,
    'tool',
    'create_workflow',
    'starts from the base branch unless base_ref says otherwise; the last stages land by the policy of the project: with never they stay on their branches',
  ),
  ...['get_workflow_status', 'list_workflows', 'cancel_workflow', 'cleanup_workflow'].map(name =>
    kept(FROM, 'tool', name),
  ),
  changed(FROM, 'tool', 'collect_workflow_result', `its workers are ${NO_FILES}`),
  dropped(FROM, 'tool', 'executor_guide', 'people decide which agent suits a task'),
  ...all(
    FROM,
    'stage',
    'name executor prompt_template model depends_on timeout_seconds reasoning_effort {task_prompt} {stage_N_summary} {stage_N_files} {stage_N_next_steps} {stage_N_status} {stage_N_result}',
  ),
  changed(FROM, 'stage', 'worktree_strategy', 'the default is inherit for a stage that depends on others'),
  dropped(
    FROM,
    'stage',
    'extra_args',
    'agents are started with the arguments their adapters know; an empty list is accepted',
  ),
  replaced(
    FROM,
    'variable',
    'FLEET_GEMINI_DEFAULT_MODEL',
    'model of a project or mission',
    'default_model is for all agents',
  ),
  replaced(
    FROM,
    'variable',
    'FLEET_CLAUDE_DEFAULT_MODEL',
    'model of a project or mission',
    'default_model is for all agents',
  ),
  replaced(FROM, 'variable', 'FLEET_BASE_DIR', 'FLEET_HOME', 'a folder of another tool is not used as a home'),
  ...['FLEET_RATE_LIMIT_MAX_RETRIES', 'FLEET_RATE_LIMIT_BASE_DELAY', 'FLEET_RATE_LIMIT_MAX_DELAY'].map(name =>
    dropped(FROM, 'variable', name, 'missions wait until the time their provider names'),
  ),
  replaced(
    FROM,
    'variable',
    'FLEET_STALE_MAX_RESTARTS',
    'stall_policy = "restart"',
    'a stuck agent is restarted at most twice in a row',
  ),
  replaced(FROM, 'variable', 'FLEET_REASONING_EFFORT', 'effort of a mission or stage'),
  dropped(FROM, 'variable', 'FLEET_HEARTBEAT_INTERVAL', 'the server sees whether a process is alive'),
]
