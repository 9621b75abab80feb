import { all, changed, dropped, type KnownName, kept, type NameKind, replaced } from './name.ts'

const FROM = 'claude-fleet'

const SUBSCRIBE =
  'sent to whoever subscribes to the topic `claude-fleet` on /ws, with a cursor; a worker is a member of a team, or a session of no member, whose handle is its id'
const IN_TEAM = 'sent to whoever subscribes to the topic `claude-fleet` on /ws and may see the team, with a cursor'
const TASK = `${SUBSCRIBE}; a task is a mission, and where no team has it, a team is a project`

const EVENTS: KnownName[] = [
  changed(FROM, 'event', 'worker_spawned', SUBSCRIBE),
  changed(FROM, 'event', 'worker_output', `${SUBSCRIBE}; output is text, not JSON in a text`),
  changed(FROM, 'event', 'worker_dismissed', SUBSCRIBE),
  changed(FROM, 'event', 'task_created', TASK),
  changed(FROM, 'event', 'task_updated', `${TASK}; cancelled work is resolved`),
  changed(FROM, 'event', 'task_assigned', `${TASK}; handle is that of the worker`),
  changed(FROM, 'event', 'new_message', `${IN_TEAM}; the message as POST /chats/{id}/messages answers it`),
  changed(FROM, 'event', 'broadcast', `${IN_TEAM}; for what is written to a role, too`),
  changed(FROM, 'event', 'blackboard_message', IN_TEAM),
  changed(FROM, 'event', 'checkpoint_created', `${IN_TEAM}; with the whole checkpoint`),
  changed(FROM, 'event', 'swarm_created', IN_TEAM),
  changed(FROM, 'event', 'swarm_killed', `${IN_TEAM}; worker_dismissed follows for each of its agents`),
  changed(FROM, 'event', 'worker_health', `${IN_TEAM}; when it changes, with the reason in words`),
  changed(FROM, 'event', 'worker_restarted', `${IN_TEAM}; restartCount counts all restarts of the worker`),
]

const IDS = 'ids are texts, not numbers'
const OWN_NAME = 'from must be the token itself'

const ROUTES: KnownName[] = [
  changed(FROM, 'route', 'GET /health', 'status and version, and nothing about the work'),
  changed(FROM, 'route', 'GET /metrics', 'needs the role monitor in the whole fleet, or a scrape token'),
  changed(
    FROM,
    'route',
    'GET /metrics/json',
    'needs the role monitor in the whole fleet, or a scrape token; the measurements are ours',
  ),
  changed(
    FROM,
    'route',
    'POST /auth',
    'needs a credential: the token of a person, a service or the owner, or an invitation, as Authorization: Bearer. teamName is a team that exists, or a project; agentType is a role, no wider than that of the credential; one credential is one member of a team, and the token of the owner makes a service for each handle',
  ),
  changed(FROM, 'route', 'GET /users/{uid}', 'agentType is the role; whoever may see the team sees its users'),
  changed(FROM, 'route', 'GET /users/{uid}/chats', 'from the newest 500 messages of the team'),
  changed(FROM, 'route', 'GET /teams/{team}/agents', 'agents and people; handles have at most 40 characters'),
  changed(
    FROM,
    'route',
    'POST /teams/{team}/broadcast',
    `${OWN_NAME}; it is mail to @all and wakes everybody; metadata is added to the text`,
  ),
  changed(
    FROM,
    'route',
    'POST /chats',
    'a chat is what two members of one team write to each other; its id names both',
  ),
  kept(FROM, 'route', 'GET /chats/{id}/messages'),
  changed(
    FROM,
    'route',
    'POST /chats/{id}/messages',
    `${OWN_NAME}; an idle agent is woken; metadata is added to the text`,
  ),
  changed(FROM, 'route', 'POST /chats/{id}/read', 'uid must be the token itself'),
  changed(
    FROM,
    'route',
    'POST /orchestrate/spawn',
    'a member of the team, with a worktree of its own: workingDir must be in the project of the team; spawnMode is native or process, sessionId is one that GET /orchestrate/workers told, which has ended: the worker goes on with a copy of its conversation; role is a role; model may be that of any agent',
  ),
  changed(FROM, 'route', 'POST /orchestrate/dismiss/{handle}', 'its work is kept, and its unread mail goes back'),
  changed(FROM, 'route', 'POST /orchestrate/send/{handle}', 'it is mail: an idle worker is woken, one at work is told'),
  changed(
    FROM,
    'route',
    'GET /orchestrate/workers',
    'workers of your team, or of all you see; without currentTaskId, restartCount and depthLevel',
  ),
  changed(
    FROM,
    'route',
    'GET /orchestrate/output/{handle}',
    'the last lines as text; needs the right to read transcripts',
  ),
  changed(
    FROM,
    'route',
    'POST /orchestrate/workers/register',
    'handle must be the token itself, which POST /auth gives; nobody joins for somebody else, and swarmId is for agents that the fleet starts',
  ),
  dropped(FROM, 'route', 'POST /orchestrate/workers/{handle}/output', 'nobody writes the output of somebody else'),
  changed(
    FROM,
    'route',
    'POST /orchestrate/worktree/{handle}/commit',
    'by the worker itself, with the token of its session: a checkpoint with a commit of its worktree',
  ),
  changed(FROM, 'route', 'POST /swarms', 'a name has letters, digits, - and _; at most 60 agents'),
  kept(FROM, 'route', 'GET /swarms'),
  kept(FROM, 'route', 'GET /swarms/{id}', undefined, 'an id, or the name'),
  changed(FROM, 'route', 'POST /swarms/{id}/kill', 'graceful: false is refused, because the record of a swarm is kept'),
  changed(FROM, 'route', 'POST /blackboard', 'senderHandle must be the token itself'),
  changed(
    FROM,
    'route',
    'GET /blackboard/{swarmId}',
    'newest first; readerHandle must be the token itself, and readBy says only whether it has read the post',
  ),
  changed(FROM, 'route', 'POST /blackboard/mark-read', 'readerHandle must be the token itself'),
  changed(FROM, 'route', 'POST /blackboard/archive', 'own posts, or any for those who steer the team'),
  kept(FROM, 'route', 'POST /blackboard/{swarmId}/archive-old'),
  changed(
    FROM,
    'route',
    'POST /checkpoints',
    `fromHandle must be the token itself; ${IDS}; commit instead of files: a commit of the worktree, if there is one`,
  ),
  changed(FROM, 'route', 'GET /checkpoints/{id}', IDS),
  changed(FROM, 'route', 'GET /checkpoints/latest/{handle}', IDS),
  changed(FROM, 'route', 'GET /checkpoints/list/{handle}', IDS),
  changed(FROM, 'route', 'POST /checkpoints/{id}/accept', `${IDS}; only its addressee, and the first decision counts`),
  changed(FROM, 'route', 'POST /checkpoints/{id}/reject', `${IDS}; only its addressee, and the first decision counts`),
  changed(FROM, 'route', 'POST /mail', `${OWN_NAME}; ${IDS}; an idle agent is woken`),
  changed(FROM, 'route', 'GET /mail/{handle}', `${IDS}; the newest 200`),
  changed(FROM, 'route', 'GET /mail/{handle}/unread', `${IDS}; of the newest 200`),
  changed(FROM, 'route', 'POST /mail/{id}/read', 'only mail to the token itself'),
  changed(FROM, 'route', 'POST /handoffs', `${OWN_NAME}; it is a checkpoint and mail that wakes; ${IDS}`),
  changed(FROM, 'route', 'GET /handoffs/{handle}', `open checkpoints too; ${IDS}`),
]

const TASK_STATUS =
  'blocked while tasks that it waits for are not resolved; createdByHandle and createdByUid are in the audit log'
const WORK_ITEM = 'a work item is a task of the team; ids are those of missions, and a title has at least 3 characters'
const BATCH = 'a batch is a task of the team that waits for its work items; a name has at least 3 characters'
const OF_WORK: KnownName[] = [
  changed(FROM, 'route', 'GET /teams/{team}/tasks', `the newest 500; ${TASK_STATUS}`),
  changed(
    FROM,
    'route',
    'POST /tasks',
    'fromUid must be the token itself; a task is a mission of the team, and an agent starts on it at once; giving it to somebody needs the right to start work',
  ),
  changed(FROM, 'route', 'GET /tasks/{id}', TASK_STATUS),
  changed(
    FROM,
    'route',
    'PATCH /tasks/{id}',
    'open gives it back to the team, in_progress takes it; blocked names what blocks it in blockedBy; only whoever has it, or steers the team. Of an agent at work, resolved counts once its work was taken in, checked and landed',
  ),
  changed(FROM, 'route', 'POST /workitems', WORK_ITEM),
  changed(FROM, 'route', 'GET /workitems', `${WORK_ITEM}; of your team`),
  changed(FROM, 'route', 'GET /workitems/{id}', WORK_ITEM),
  changed(
    FROM,
    'route',
    'PATCH /workitems/{id}',
    'blocked names what blocks it in blockedBy; actor must be the token itself; cancelling needs the right to stop work',
  ),
  changed(FROM, 'route', 'POST /batches', `${BATCH}; at most 30 at once`),
  changed(FROM, 'route', 'GET /batches', `${BATCH}; of your team`),
  changed(FROM, 'route', 'GET /batches/{id}', BATCH),
  changed(FROM, 'route', 'POST /batches/{id}/dispatch', 'gives every work item that is not over to the worker'),
  changed(
    FROM,
    'route',
    'POST /spawn-queue',
    'requesterHandle must be the token itself; targetAgentType is a role, and lead is team-lead; scout, kraken, oracle, critic and architect are refused. A lead or the policy of the team grants it',
  ),
  changed(FROM, 'route', 'GET /spawn-queue/status', 'of your team; the limit is that of the team, and soft is hard'),
  changed(FROM, 'route', 'GET /spawn-queue/{id}', 'without depthLevel, context and checkpoint'),
  changed(FROM, 'route', 'DELETE /spawn-queue/{id}', 'by whoever asked for it, or may add members'),
  changed(
    FROM,
    'route',
    'POST /orchestrate/worktree/{handle}/push',
    'pushes the newest work that the worker has handed in, and nothing that is only in its worktree; needs the right to land work',
  ),
  changed(
    FROM,
    'route',
    'POST /orchestrate/worktree/{handle}/pr',
    'for the newest work that the worker has handed in; prUrl is empty until the pull request is open; base must be the base branch of the project; needs the right to land work',
  ),
  changed(
    FROM,
    'route',
    'GET /orchestrate/worktree/{handle}/status',
    'hasChanges and changedFiles are what its newest session changed; without aheadBehind',
  ),
]

const ECONOMY = 'simulations of an economy are left out on purpose: roles, limits and reviews decide'
const ELSEWHERE: KnownName[] = [
  ...['pheromones', 'beliefs', 'credits', 'consensus', 'bids', 'payoffs'].map(name =>
    dropped(FROM, 'route', `/${name}…`, ECONOMY),
  ),
  replaced(FROM, 'route', 'GET /debug', 'GET /api/system/status'),
  replaced(FROM, 'route', '/workflows…', '/api/workflows', 'stages with prompts instead of steps'),
  replaced(FROM, 'route', '/executions…', '/api/workflows'),
  replaced(FROM, 'route', '/steps…', '/api/workflows'),
  replaced(FROM, 'route', '/triggers…', '/api/schedules'),
  replaced(FROM, 'route', '/orchestrate/waves…', '/api/workflows', 'missions that depend on others start in waves'),
  replaced(FROM, 'route', '/templates…', '/api/templates'),
  replaced(FROM, 'route', '/search…', 'GET /api/search'),
  replaced(FROM, 'route', '/dag…', 'GET /api/graph'),
  dropped(FROM, 'route', '/orchestrate/multi-repo…', 'one queue has missions on many repositories'),
  dropped(
    FROM,
    'route',
    '/audit…',
    'checks of the project say whether work is good; /audit is the page of the audit log',
  ),
  dropped(FROM, 'route', '/tldr…', 'agents read files themselves'),
  dropped(FROM, 'route', '/memory…', 'checkpoints and KNOWLEDGE.md keep what an agent knows'),
  dropped(FROM, 'route', '/lmsh…', 'prose never becomes a command of a shell'),
  dropped(FROM, 'route', '/routing…', 'people decide which agent and model suit a task'),
]

const OWN_TEAM = 'for your own team; the answer is ours'
const TOOLS: KnownName[] = [
  ...[
    ...['team_status', 'team_workers', 'team_tasks', 'team_assign', 'team_complete', 'team_broadcast', 'team_send'],
    ...['mail_send', 'mail_read', 'send_message', 'read_messages', 'list_tasks', 'checkpoint_create'],
    ...['blackboard_post', 'blackboard_read', 'blackboard_mark_read', 'blackboard_archive', 'swarm_create'],
    ...['swarm_list', 'swarm_broadcast', 'spawn_status', 'spawn_cancel', 'batch_create', 'batch_dispatch'],
  ].map(name => changed(FROM, 'tool', name, OWN_TEAM)),
  changed(FROM, 'tool', 'team_spawn', 'workingDir is a folder of the project; if there is no room, it waits in order'),
  changed(FROM, 'tool', 'team_dismiss', 'its work is kept'),
  changed(FROM, 'tool', 'team_claim', 'a reservation: both sides are told of an overlap, and nobody is kept away'),
  changed(FROM, 'tool', 'team_handoff', 'a checkpoint, and mail that wakes'),
  changed(FROM, 'tool', 'workitem_create', WORK_ITEM),
  changed(FROM, 'tool', 'workitem_update', 'blocked names what blocks it in blocked_by'),
  changed(FROM, 'tool', 'workitem_list', WORK_ITEM),
  changed(FROM, 'tool', 'worktree_commit', 'a checkpoint with a commit of your worktree'),
  changed(FROM, 'tool', 'worktree_push', 'pushes the newest work that was handed in; needs the right to land work'),
  changed(FROM, 'tool', 'worktree_pr', 'for the newest work that was handed in; needs the right to land work'),
  changed(FROM, 'tool', 'checkpoint_load', `${IDS}; the next session of the reader is told of it too`),
  changed(FROM, 'tool', 'checkpoint_list', 'those of the whole team'),
  changed(FROM, 'tool', 'swarm_kill', 'graceful: false is refused'),
  changed(FROM, 'tool', 'spawn_request', 'agent_type is a role, and lead is team-lead; others are refused'),
  changed(FROM, 'tool', 'create_task', 'without agent, nobody has it yet'),
  changed(FROM, 'tool', 'update_task', 'our words open and resolved are taken too'),
  ...['pheromone_…', 'belief_…', 'credits_…', 'proposal_…', 'bid_…', 'auction_run', 'payoff_…'].map(name =>
    dropped(FROM, 'tool', name, ECONOMY),
  ),
  replaced(FROM, 'tool', 'template_…', 'save_template', 'templates of missions and workflows'),
  replaced(FROM, 'tool', 'workflow_… execution_… step_…', 'create_workflow'),
  dropped(FROM, 'tool', 'audit_…', 'checks of the project say whether work is good'),
  dropped(FROM, 'tool', 'tldr_…', 'agents read files themselves'),
]

const role = (name: string, why?: string): KnownName => kept(FROM, 'team' satisfies NameKind, name, undefined, why)
const ROLES: KnownName[] = [
  ...['team-lead', 'worker', 'coordinator', 'monitor', 'merger'].map(name =>
    role(name, 'a role: what it may do is in the table of permissions'),
  ),
  dropped(FROM, 'team', 'notifier', 'the fleet itself notifies people; any other agentType is refused too'),
]

const VARIABLES: KnownName[] = [
  replaced(
    FROM,
    'variable',
    'PORT',
    'fleet up --port',
    'many programs are started with a PORT that is not meant for the fleet; the default port is the same, 3847',
  ),
  replaced(FROM, 'variable', 'HOST', 'fleet up --host', 'shells set HOST to the name of the machine'),
  changed(FROM, 'variable', 'STORAGE_BACKEND', 'sqlite or postgresql; anything else is refused'),
  kept(FROM, 'variable', 'DATABASE_URL', undefined, 'only with STORAGE_BACKEND=postgresql'),
  ...all(FROM, 'variable', 'POSTGRESQL_URL POSTGRESQL_SCHEMA POSTGRESQL_POOL_SIZE'),
  dropped(
    FROM,
    'variable',
    'JWT_SECRET',
    'the home has its own keys, published at /.well-known/jwks.json; fleet up says that it is not used',
  ),
  replaced(
    FROM,
    'variable',
    'MAX_WORKERS',
    'FLEET_MAX_CONCURRENT',
    'the name does not say that it is for the fleet; fleet up says that it is not used',
  ),
  ...[
    'AWS_REGION DYNAMODB_TABLE_PREFIX DYNAMODB_ENDPOINT S3_BUCKET S3_PREFIX S3_ENDPOINT',
    'GOOGLE_CLOUD_PROJECT FIRESTORE_PROJECT_ID GOOGLE_APPLICATION_CREDENTIALS',
  ]
    .flatMap(names => names.split(' '))
    .map(name =>
      dropped(FROM, 'variable', name, 'of a store that is not offered: records are in SQLite or PostgreSQL'),
    ),
  dropped(FROM, 'variable', 'CORS_ORIGINS', 'pages of other origins get no answer; fleet up says that it is not used'),
  changed(FROM, 'client variable', 'CLAUDE_FLEET_URL', 'of fleet mcp and fleet as claude-fleet'),
  kept(FROM, 'client variable', 'CLAUDE_FLEET_TEAM', undefined, 'of fleet mcp; CLAUDE_CODE_TEAM_NAME is the same'),
  changed(
    FROM,
    'client variable',
    'CLAUDE_CODE_AGENT_NAME',
    'of fleet mcp, beside CLAUDE_FLEET_URL or CLAUDE_FLEET_TEAM: Claude Code sets it for its own teams too',
  ),
  changed(FROM, 'client variable', 'CLAUDE_CODE_AGENT_TYPE', 'a role, no wider than that of the credential'),
  changed(FROM, 'client variable', 'FLEET_TOKEN', 'the credential; default: the token of the home'),
]

const AS = 'with fleet as claude-fleet in front'
const COMMANDS: KnownName[] = [
  ...[
    ...['health', 'metrics', 'auth', 'teams', 'workers', 'spawn', 'dismiss', 'send', 'output'],
    ...['worktree-status', 'worktree-commit', 'worktree-push', 'worktree-pr', 'tasks', 'task', 'task-create'],
    ...['task-update', 'workitems', 'workitem-create', 'workitem-update', 'batches', 'batch-create', 'batch-dispatch'],
    ...['mail', 'mail-send', 'handoffs', 'checkpoints', 'checkpoint', 'checkpoint-create', 'checkpoint-latest'],
    ...['checkpoint-accept', 'checkpoint-reject', 'swarms', 'swarm-create', 'swarm-kill', 'spawn-queue'],
    ...['blackboard', 'blackboard-post'],
  ].map(name => changed(FROM, 'command', name, AS)),
  replaced(FROM, 'command', 'mcp-server', 'fleet mcp'),
  replaced(FROM, 'command', 'mcp-install', 'fleet mcp install'),
  replaced(
    FROM,
    'command',
    'start script with --background, --status, --stop',
    'fleet up --detach',
    'and fleet up --status, fleet down',
  ),
  dropped(FROM, 'command', 'pheromone-… belief-… credits-… proposal-… bid-… payoff-…', ECONOMY),
]

export const CLAUDE_FLEET: KnownName[] = [
  ...ROUTES,
  ...OF_WORK,
  ...ELSEWHERE,
  ...TOOLS,
  ...EVENTS,
  ...ROLES,
  ...COMMANDS,
  ...VARIABLES,
]
