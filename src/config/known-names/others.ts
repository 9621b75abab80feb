import { all, changed, dropped, type KnownName, kept, notYet, replaced } from './name.ts'

const TEAMS = 'there are no teams yet'

export const BEADS: KnownName[] = [
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
    'fleet run "<what to do>" starts an agent; commands start the supervisor when they need it',
  ),
  kept(
    'fleet (beads supervisor)',
    'command',
    'fleet bd <args…>',
    'fleet bd <args…>',
    'these beads become missions once fleet beads bridge --of-home runs, or the server does it (beads_bridges = home)',
  ),
  ...all('fleet (beads supervisor)', 'agent variable', 'FLEET_TASK_ID FLEET_TASK_DIR FLEET_ARTIFACT_DIR'),
  kept('fleet (beads supervisor)', 'file', 'plan and status', 'PLAN.md'),
  kept('fleet (beads supervisor)', 'file', 'knowledge', 'KNOWLEDGE.md'),
  kept('fleet (beads supervisor)', 'file', 'artifacts'),
  kept(
    'fleet (beads supervisor)',
    'file',
    'questions (## Q: and ## A:)',
    'questions.md',
    'the fleet writes questions and answers to it and reads nothing from it, because agents can write it',
  ),
]

const SUBSCRIBE =
  'sent to whoever subscribes to the topic `claude-fleet` on /ws, with a cursor; a worker is a session, whose handle is its id'
const TASK = `${SUBSCRIBE}; a task is a mission, a team is a project`

const CLAUDE_FLEET_EVENTS: KnownName[] = [
  changed('claude-fleet', 'event', 'worker_spawned', SUBSCRIBE),
  changed('claude-fleet', 'event', 'worker_output', `${SUBSCRIBE}; output is text, not JSON in a text`),
  changed('claude-fleet', 'event', 'worker_dismissed', SUBSCRIBE),
  changed('claude-fleet', 'event', 'task_created', TASK),
  changed('claude-fleet', 'event', 'task_updated', `${TASK}; cancelled work is resolved`),
  changed('claude-fleet', 'event', 'task_assigned', `${TASK}; handle is that of the worker`),
  ...notYet(
    'claude-fleet',
    'event',
    [
      'new_message',
      'broadcast',
      'blackboard_message',
      'checkpoint_created',
      'swarm_created',
      'swarm_killed',
      'worker_health',
      'worker_restarted',
    ],
    TEAMS,
  ),
]

export const TEAM_TOOLS: KnownName[] = [
  kept('claude-fleet', 'route', 'GET /health'),
  changed(
    'claude-fleet',
    'route',
    'POST /auth',
    'needs a credential: the token of a person, a service or the owner, or an invitation, as Authorization: Bearer. teamName is a project, and the role is no wider than that of the credential',
  ),
  ...CLAUDE_FLEET_EVENTS,
  ...notYet('claude-fleet', 'route', ['/metrics', '/orchestrate/spawn', '/orchestrate/dismiss/:handle'], TEAMS),
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
    'many programs are started with a PORT that is not meant for the fleet; the default port is the same, 3847',
  ),
  changed('claude-fleet', 'variable', 'STORAGE_BACKEND', 'sqlite or postgresql; anything else is refused'),
  kept('claude-fleet', 'variable', 'DATABASE_URL', undefined, 'only with STORAGE_BACKEND=postgresql'),
  ...all('claude-fleet', 'variable', 'POSTGRESQL_URL POSTGRESQL_SCHEMA POSTGRESQL_POOL_SIZE'),
  dropped('claude-fleet', 'variable', 'JWT_SECRET', 'the home has its own keys, published at /.well-known/jwks.json'),
  replaced(
    'claude-fleet',
    'variable',
    'MAX_WORKERS',
    'FLEET_MAX_CONCURRENT',
    'the name does not say that it is for the fleet',
  ),
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
