import type { Status } from '../../../domain/records/mission.ts'
import type { DELIVERY_STATES } from '../../../domain/records/team.ts'
import { type Member, type Team, uidOf } from './who.ts'

/** The status of a mission in the words of a task. */
export const TASK_STATUSES: Readonly<Record<Status, 'open' | 'in_progress' | 'resolved' | 'blocked'>> = {
  draft: 'open',
  queued: 'open',
  running: 'in_progress',
  waiting: 'in_progress',
  landing: 'in_progress',
  review: 'in_progress',
  needs_input: 'blocked',
  failed: 'blocked',
  done: 'resolved',
  // There is no word for work that nobody wants any more, and nothing waits for it.
  cancelled: 'resolved',
}

/** Records of ours in the words and shapes that clients of claude-fleet read. */
export const agentOf = (member: Member, { name }: Team) => ({
  uid: uidOf(member),
  handle: member.handle,
  teamName: name,
  agentType: member.role,
  createdAt: member.created_at,
  lastSeen: member.updated_at,
})

const WORKER_STATES: Record<string, string> = {
  idle: 'ready',
  working: 'working',
  waiting: 'starting',
  needs_input: 'working',
  paused: 'ready',
  failed: 'stopped',
  dismissed: 'stopped',
}

/** One that waits for a person does not go on either. */
const healthOf = ({ state, health }: Member): string => {
  if (state === 'failed') return 'unhealthy'
  return state === 'needs_input' && health.state === 'healthy' ? 'degraded' : health.state
}

export const workerOf = (member: Member, { name }: Team, workingDir: string | null) => ({
  id: member.id,
  handle: member.handle,
  teamName: name,
  state: WORKER_STATES[member.state] ?? 'ready',
  health: healthOf(member),
  workingDir,
  sessionId: member.session_id,
  spawnedAt: Date.parse(member.created_at),
  swarmId: member.swarm_id,
})

export interface Letter {
  id: string
  from: { member_id: string | null; handle: string }
  subject: string
  body: string
  reply_to: string | null
  created_at: string
  deliveries: { member_id: string; to: string; state: (typeof DELIVERY_STATES)[number]; heard_at: string | null }[]
}

export const isUnread = (state: string): boolean => state === 'queued' || state === 'handed'

/** A message of a chat. There a handle of a message has a prefix. */
export function messageOf({ id, from, body, created_at, deliveries }: Letter, chatId: string, { members }: Team) {
  const author = members.find(each => each.id === from.member_id)
  return {
    id,
    chatId,
    fromHandle: `collab:${from.handle}`,
    fromUid: author ? uidOf(author) : from.member_id,
    text: body,
    timestamp: created_at,
    status: deliveries.some(({ state }) => isUnread(state)) ? 'pending' : 'processed',
    metadata: {},
  }
}

const millis = (time: string | null): number | null => (time === null ? null : Date.parse(time))

/** A letter as one recipient has it. */
export function mailOf({ id, from, subject, body, created_at, deliveries }: Letter, toHandle: string) {
  const mine = deliveries.find(({ to }) => to.toLowerCase() === toHandle.toLowerCase())
  return {
    id,
    fromHandle: from.handle,
    toHandle,
    subject: subject || null,
    body,
    readAt: mine && !isUnread(mine.state) ? millis(mine.heard_at ?? created_at) : null,
    createdAt: millis(created_at),
  }
}

export interface Swarm {
  id: string
  name: string
  description: string
  max_agents: number
  state: string
  members: string[]
  created_at: string
}

export const swarmOf = ({ id, name, description, max_agents, created_at }: Swarm) => ({
  ...{ id, name, description, maxAgents: max_agents, createdAt: millis(created_at) },
})

export const agentsIn = ({ members: names }: Swarm, { members }: Team) =>
  members
    .filter(({ handle }) => names.includes(handle))
    .map(member => ({ id: member.id, handle: member.handle, state: WORKER_STATES[member.state] ?? 'ready' }))

export interface Post {
  id: string
  swarm_id: string | null
  from: { handle: string }
  message_type: string
  payload: unknown
  target: { handle: string } | null
  priority: string
  read: boolean
  created_at: string
  archived_at: string | null
}

/** Of those who read a post, only the reader is told. */
export const postOf = (post: Post, reader: string) => ({
  id: post.id,
  swarmId: post.swarm_id,
  senderHandle: post.from.handle,
  messageType: post.message_type,
  targetHandle: post.target?.handle ?? null,
  priority: post.priority,
  payload: typeof post.payload === 'string' ? { text: post.payload } : post.payload,
  readBy: post.read ? [reader] : [],
  createdAt: millis(post.created_at),
  archivedAt: millis(post.archived_at),
})

export interface Checkpoint {
  id: string
  from: { handle: string }
  to: { handle: string }
  goal: string
  now: string
  test: string
  done_this_session: { task: string; files: string[] }[]
  worked: string[]
  failed: string[]
  blockers: string[]
  questions: string[]
  next: string[]
  commit: string | null
  no_commit: string | null
  state: 'open' | 'accepted' | 'rejected'
  outcome: string | null
  decided_at: string | null
  created_at: string
}

export const checkpointOf = (made: Checkpoint) => ({
  id: made.id,
  fromHandle: made.from.handle,
  toHandle: made.to.handle,
  checkpoint: {
    ...{ goal: made.goal, now: made.now, test: made.test, doneThisSession: made.done_this_session },
    ...{ worked: made.worked, failed: made.failed, blockers: made.blockers },
    ...{ questions: made.questions, next: made.next, commit: made.commit },
  },
  status: made.state === 'open' ? 'pending' : made.state,
  outcome: made.outcome,
  createdAt: millis(made.created_at),
  acceptedAt: made.state === 'accepted' ? millis(made.decided_at) : null,
})

/** What a hand-over says is an object there, and a text here. */
export const handoffOf = (made: Checkpoint) => ({
  id: made.id,
  fromHandle: made.from.handle,
  toHandle: made.to.handle,
  context: objectIn(made.now) ?? { text: made.now },
  acceptedAt: made.state === 'accepted' ? millis(made.decided_at) : null,
  createdAt: millis(made.created_at),
})

function objectIn(text: string): object | undefined {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? value : undefined
  } catch {
    return undefined
  }
}

/** A task of a team, as our operations tell it. */
export interface Task {
  id: string
  team_id: string
  title: string
  description: string
  status: Status
  tags: string[]
  assignee: { member_id: string; handle: string } | null
  depends_on: string[]
  blockers: { id: string }[]
  branch: string | null
  session_id: string | null
  candidate: string | null
  landed: string | null
  created_at: string
  updated_at: string
}

const NOT_BEGUN: readonly Status[] = ['draft', 'queued']

export const taskStatus = ({ status, blockers }: Pick<Task, 'status' | 'blockers'>) =>
  NOT_BEGUN.includes(status) && blockers.length ? 'blocked' : TASK_STATUSES[status]

export function taskOf(task: Task, { name, members }: Team) {
  const owner = members.find(({ id }) => id === task.assignee?.member_id)
  return {
    id: task.id,
    teamName: name,
    subject: task.title,
    description: task.description || null,
    ownerHandle: task.assignee?.handle ?? null,
    ownerUid: owner ? uidOf(owner) : (task.assignee?.member_id ?? null),
    status: taskStatus(task),
    blockedBy: task.depends_on,
    createdAt: task.created_at,
    updatedAt: task.updated_at,
  }
}

const WORK_STATES = { open: 'pending', in_progress: 'in_progress', blocked: 'blocked', resolved: 'completed' } as const

/** The same task, as a work item. */
export const workItemOf = (task: Task, batchId: string | null) => ({
  id: task.id,
  title: task.title,
  description: task.description || null,
  status: task.status === 'cancelled' ? 'cancelled' : WORK_STATES[taskStatus(task)],
  assignedTo: task.assignee?.handle ?? null,
  batchId,
  createdAt: millis(task.created_at),
})

/** A batch is a task that waits for its work items. */
export const batchOf = (batch: Task, items: readonly Task[]) => ({
  id: batch.id,
  name: batch.title,
  status: batchStatus(batch, items),
  itemCount: items.length,
  createdAt: millis(batch.created_at),
})

function batchStatus({ status }: Task, items: readonly Task[]): 'open' | 'dispatched' | 'completed' | 'cancelled' {
  const isOver = (task: Pick<Task, 'status'>): boolean => task.status === 'done' || task.status === 'cancelled'
  if (status === 'cancelled') return 'cancelled'
  if (status === 'done' || (items.length && items.every(isOver))) return 'completed'
  return items.some(({ assignee }) => assignee) ? 'dispatched' : 'open'
}

/** A request for another member. */
export interface Spawn {
  id: string
  from: { handle: string }
  role: string
  task: string
  swarm_id: string | null
  priority: string
  depends_on: string[]
  state: 'requested' | 'waiting' | 'spawned' | 'refused' | 'cancelled'
  waits_for: string | null
  member_id: string | null
  before: number
  created_at: string
  updated_at: string
}

const SPAWN_STATES: Record<Spawn['state'], string> = {
  requested: 'pending',
  waiting: 'approved',
  spawned: 'spawned',
  refused: 'rejected',
  cancelled: 'rejected',
}

export const spawnStatus = ({ state }: Pick<Spawn, 'state'>): string => SPAWN_STATES[state]

export const spawnOf = (spawn: Spawn) => ({
  id: spawn.id,
  requesterHandle: spawn.from.handle,
  targetAgentType: spawn.role,
  swarmId: spawn.swarm_id,
  priority: spawn.priority,
  status: spawnStatus(spawn),
  payload: { task: spawn.task },
  dependsOn: spawn.depends_on,
  waitsFor: spawn.waits_for,
  createdAt: millis(spawn.created_at),
  processedAt: spawn.state === 'requested' || spawn.state === 'waiting' ? null : millis(spawn.updated_at),
  spawnedWorkerId: spawn.member_id,
})
