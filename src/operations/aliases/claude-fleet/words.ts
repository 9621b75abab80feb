import type { DELIVERY_STATES } from '../../../domain/records/team.ts'
import { type Member, type Team, uidOf } from './who.ts'

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

export const workerOf = (member: Member, { name }: Team, workingDir: string | null) => ({
  id: member.id,
  handle: member.handle,
  teamName: name,
  state: WORKER_STATES[member.state] ?? 'ready',
  health: member.state === 'failed' ? 'unhealthy' : member.state === 'needs_input' ? 'degraded' : 'healthy',
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
