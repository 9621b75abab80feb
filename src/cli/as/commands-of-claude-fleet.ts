/** A command of claude-fleet as a request to the address that it asked there. */
export interface TheirCommand {
  name: string
  args: string
  summary: string
  ask(args: string[]): TheirRequest
  /** For --table: a title, and the field of each row. */
  columns?: readonly (readonly [title: string, field: string])[]
}

export interface TheirRequest {
  method: 'GET' | 'POST' | 'PATCH' | 'DELETE'
  path: string
  body?: object
}

const get = (path: string): TheirRequest => ({ method: 'GET', path })
const post = (path: string, body: object = {}): TheirRequest => ({ method: 'POST', path, body })
const patch = (path: string, body: object): TheirRequest => ({ method: 'PATCH', path, body })
/** A word of the command line as a part of a path. */
const part = (word: string | undefined): string => encodeURIComponent(word ?? '')

const WORKERS = [
  ['HANDLE', 'handle'],
  ['STATE', 'state'],
  ['SPAWNED', 'spawnedAt'],
] as const
const TASKS = [
  ['ID', 'id'],
  ['TO', 'ownerHandle'],
  ['STATUS', 'status'],
  ['SUBJECT', 'subject'],
] as const
const ITEMS = [
  ['ID', 'id'],
  ['STATUS', 'status'],
  ['ASSIGNEE', 'assignedTo'],
  ['TITLE', 'title'],
] as const
const SWARMS = [
  ['ID', 'id'],
  ['NAME', 'name'],
  ['MAX', 'maxAgents'],
] as const

const command = (
  words: string,
  summary: string,
  ask: TheirCommand['ask'],
  columns?: TheirCommand['columns'],
): TheirCommand => {
  const [name = '', ...args] = words.split(' ')
  return { name, args: args.join(' '), summary, ask, ...(columns && { columns }) }
}

/** In the order of their help. */
export const CLAUDE_FLEET_COMMANDS: readonly TheirCommand[] = [
  command('health', 'whether the server is up', () => get('/health')),
  command('metrics', 'measurements', () => get('/metrics/json')),
  command('auth <handle> <team> [type]', 'exchange your token for one of an agent', ([handle, teamName, agentType]) =>
    post('/auth', { handle, teamName, ...(agentType && { agentType }) }),
  ),
  command('teams <team>', 'list the agents of a team', ([team]) => get(`/teams/${part(team)}/agents`), [
    ['HANDLE', 'handle'],
    ['UID', 'uid'],
    ['TYPE', 'agentType'],
  ]),
  command('workers', 'list the workers', () => get('/orchestrate/workers'), WORKERS),
  command('spawn <handle> <prompt...>', 'add a worker to your team and tell it what to do', ([handle, ...prompt]) =>
    post('/orchestrate/spawn', { handle, initialPrompt: prompt.join(' '), role: 'worker' }),
  ),
  command('dismiss <handle>', 'dismiss a worker', ([handle]) => post(`/orchestrate/dismiss/${part(handle)}`)),
  command('send <handle> <message...>', 'write to a worker', ([handle, ...message]) =>
    post(`/orchestrate/send/${part(handle)}`, { message: message.join(' ') }),
  ),
  command('output <handle>', 'the last lines of a worker', ([handle]) => get(`/orchestrate/output/${part(handle)}`)),
  command('worktree-status <handle>', 'the worktree of a worker', ([handle]) =>
    get(`/orchestrate/worktree/${part(handle)}/status`),
  ),
  command('worktree-commit <handle> <message...>', 'commit your own worktree', ([handle, ...message]) =>
    post(`/orchestrate/worktree/${part(handle)}/commit`, { message: message.join(' ') }),
  ),
  command('worktree-push <handle>', 'push what a worker has handed in', ([handle]) =>
    post(`/orchestrate/worktree/${part(handle)}/push`),
  ),
  command('worktree-pr <handle> <title> <body...>', 'propose what a worker has handed in', ([handle, title, ...body]) =>
    post(`/orchestrate/worktree/${part(handle)}/pr`, { title, body: body.join(' ') }),
  ),
  command('tasks <team>', 'list the tasks of a team', ([team]) => get(`/teams/${part(team)}/tasks`), TASKS),
  command('task <id>', 'show a task', ([id]) => get(`/tasks/${part(id)}`)),
  command('task-create <to> <subject> [description]', 'give a task', ([toHandle, subject, description]) =>
    post('/tasks', { toHandle, subject, ...(description && { description }) }),
  ),
  command('task-update <id> <status>', 'open, in_progress, resolved or blocked', ([id, status]) =>
    patch(`/tasks/${part(id)}`, { status }),
  ),
  command(
    'workitems [status]',
    'list work items',
    ([status]) => get(status ? `/workitems?status=${part(status)}` : '/workitems'),
    ITEMS,
  ),
  command(
    'workitem-create <title> [description] [assignee]',
    'create a work item',
    ([title, description, assignedTo]) =>
      post('/workitems', { title, ...(description && { description }), ...(assignedTo && { assignedTo }) }),
  ),
  command('workitem-update <id> <status> [reason]', 'change a work item', ([id, status, reason]) =>
    patch(`/workitems/${part(id)}`, { status, ...(reason && { reason }) }),
  ),
  command('batches', 'list batches of work items', () => get('/batches'), [
    ['ID', 'id'],
    ['NAME', 'name'],
    ['STATUS', 'status'],
    ['ITEMS', 'itemCount'],
  ]),
  command('batch-create <name> [items...]', 'bundle work items', ([name, ...workItemIds]) =>
    post('/batches', { name, workItemIds: workItemIds.filter(Boolean) }),
  ),
  command('batch-dispatch <id> <worker>', 'give a batch to a worker', ([id, workerHandle]) =>
    post(`/batches/${part(id)}/dispatch`, { workerHandle }),
  ),
  command('mail <handle>', 'unread mail', ([handle]) => get(`/mail/${part(handle)}/unread`), [
    ['ID', 'id'],
    ['FROM', 'fromHandle'],
    ['SUBJECT', 'subject'],
  ]),
  command('mail-send <from> <to> <body> [subject]', 'write mail', ([from, to, body, subject]) =>
    post('/mail', { from, to, body, ...(subject && { subject }) }),
  ),
  command('handoffs <handle>', 'open hand-overs', ([handle]) => get(`/handoffs/${part(handle)}`), [
    ['ID', 'id'],
    ['FROM', 'fromHandle'],
    ['TO', 'toHandle'],
  ]),
  command('checkpoints <handle>', 'checkpoints for somebody', ([handle]) => get(`/checkpoints/list/${part(handle)}`), [
    ['ID', 'id'],
    ['FROM', 'fromHandle'],
    ['STATUS', 'status'],
  ]),
  command('checkpoint <id>', 'show a checkpoint', ([id]) => get(`/checkpoints/${part(id)}`)),
  command('checkpoint-create <from> <goal> <now> [to]', 'write down how work stands', ([from, goal, now, to]) =>
    post('/checkpoints', { fromHandle: from, toHandle: to || from, goal, now }),
  ),
  command('checkpoint-latest <handle>', 'the newest checkpoint', ([handle]) =>
    get(`/checkpoints/latest/${part(handle)}`),
  ),
  ...(['accept', 'reject'] as const).map(verb =>
    command(`checkpoint-${verb} <id>`, `${verb} a checkpoint`, ([id]) => post(`/checkpoints/${part(id)}/${verb}`)),
  ),
  command('swarms', 'list swarms', () => get('/swarms?includeAgents=true'), SWARMS),
  command('swarm-create <name> <max>', 'create a swarm', ([name, max]) =>
    post('/swarms', { name, maxAgents: Number(max) }),
  ),
  command('swarm-kill <id>', 'dismiss the agents of a swarm', ([id]) =>
    post(`/swarms/${part(id)}/kill`, { graceful: true }),
  ),
  command('spawn-queue', 'requests for members', () => get('/spawn-queue/status')),
  command('blackboard <swarm>', 'read a blackboard', ([swarm]) => get(`/blackboard/${part(swarm)}`), [
    ['ID', 'id'],
    ['SENDER', 'senderHandle'],
    ['TYPE', 'messageType'],
    ['PRIORITY', 'priority'],
  ]),
  command('blackboard-post <swarm> <sender> <type> <payload>', 'write on it', ([swarmId, sender, type, payload]) =>
    post('/blackboard', { swarmId, senderHandle: sender, messageType: type, payload: objectFrom(payload ?? '') }),
  ),
]

/** A payload is JSON there; other text is one with a text. */
function objectFrom(text: string): object {
  try {
    const value: unknown = JSON.parse(text)
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value
  } catch {
    // It is plain text.
  }
  return { text }
}
