import { NotAllowed } from '../errors.ts'
import type { Assignee, Mission, Status, TeamTask } from '../records/mission.ts'
import type { Told } from '../records/told.ts'
import { clipped, MAX_REASON_CHARS } from '../text.ts'
import type { By, Step } from './life.ts'
import { about, done, requeued, requireNotTaken, step } from './life.ts'
import { isMet } from './waiting.ts'

/** A mission that is a task of a team. */
export type Task = Mission & { task: TeamTask }

export const isTask = (mission: Mission): mission is Task => mission.task !== null

const OVER: readonly Status[] = ['done', 'cancelled']

type Standing = Pick<Mission, 'status' | 'task'>

export const isOpenTask = ({ task, status }: Standing): boolean => task !== null && !OVER.includes(status)

/** Queued, with every dependency met. A task that no agent has waits for a member, and for no slot. */
export const mayStart = ({ task, status, ready }: Standing & Pick<Mission, 'ready'>): boolean =>
  status === 'queued' && ready && (task === null || task.assignee?.is_agent === true)

/** Its member worked at it, and it is due to go on. */
export const isBegun = (mission: Standing & Pick<Mission, 'ready' | 'sessions'>): boolean =>
  mission.task !== null && mission.sessions > 0 && mayStart(mission)

/** What a lead sees at a glance, and the columns of a team's board. */
export const TASK_STATES = ['unassigned', 'blocked', 'waiting', 'working', 'needs_person', 'review', 'done'] as const
export type TaskState = (typeof TASK_STATES)[number]

/** `blockers`: the tasks it still waits for. */
export function taskState({ status, task }: Standing, blockers: readonly unknown[]): TaskState {
  if (status === 'done' || status === 'cancelled') return 'done'
  if (status === 'review' || status === 'landing') return 'review'
  if (status === 'needs_input' || status === 'failed') return 'needs_person'
  if (status === 'running') return 'working'
  if (blockers.length) return 'blocked'
  return task?.assignee ? 'waiting' : 'unassigned'
}

export function requireTask(mission: Mission): asserts mission is Task {
  if (!mission.task)
    throw new NotAllowed(`Mission ${mission.id} is no task of a team.`, { try: 'fleet team task list' })
}

function requireOpen(mission: Task): void {
  if (!isOpenTask(mission))
    throw new NotAllowed(`Task ${mission.id} is ${mission.status}.`, { try: `fleet mission show ${mission.id}` })
}

/** Somebody wants it to end. A session that is stopped so that another member goes on is no cancellation. */
const isBeingCancelled = ({ cancel_requested, task }: Task): boolean => cancel_requested && task.handing === null

/** Whoever was dismissed gives it back now. What a person has, or cancels, is looked at again after that. */
export const isReturned = (mission: Task): boolean =>
  isOpenTask(mission) && mission.taken_over === null && !isBeingCancelled(mission)

const hasSession = ({ status, asking }: Mission): boolean => status === 'running' || asking

/** The dependencies that are not done yet. */
export const blockersOf = (mission: Mission, dependencies: readonly Mission[]): Mission[] =>
  dependencies.filter(dependency => !isMet(mission, dependency))

const isSame = (one: Assignee | null, other: Assignee | null): boolean => one?.member_id === other?.member_id

/** Everybody who has it, or is about to have it. */
export const holdersOf = ({ task }: Standing): string[] => [
  ...new Set([task?.assignee, task?.handing?.to].flatMap(each => each?.member_id ?? [])),
]

/** Who has it, or will have it once its session has stopped. */
export const holderOf = ({ task: { assignee, handing } }: Task): Assignee | null => (handing ? handing.to : assignee)

/**
 * Gives a task to a member, or to nobody. A session at work is stopped first: its work is taken in, and the next member
 * goes on from there. Null: it is theirs already.
 */
export function assign(mission: Task, to: Assignee | null, by: By, settings: Partial<Mission> = {}): Step | null {
  requireOpen(mission)
  requireNotTaken(mission)
  if (isSame(holderOf(mission), to)) return null
  if (isBeingCancelled(mission)) throw new NotAllowed(`Task ${mission.id} is being cancelled.`)
  if (hasSession(mission)) {
    const { mission: next, events } = step(
      { ...mission, ...settings },
      { task: { ...mission.task, handing: { to } }, cancel_requested: true },
      by,
      'cancel_requested',
      { data: { handing_to: to?.handle ?? null } },
    )
    return { mission: next, events: [...events, aboutTask(mission, to, by)] }
  }
  const task = { ...mission.task, assignee: to, handing: null }
  return {
    mission: { ...mission, ...settings, task, updated_at: by.now },
    events: [aboutTask(mission, to, by)],
  }
}

const aboutTask = (mission: Task, to: Assignee | null, by: By) =>
  about(mission, 'task_assigned', by, {
    data: {
      team: mission.task.team_id,
      title: mission.title,
      member: to?.member_id ?? null,
      handle: to?.handle ?? null,
      was: mission.task.assignee?.handle ?? null,
    },
  })

/** A member takes a task that nobody has. Of many at once one wins; the others are told who. */
export function claim(mission: Task, to: Assignee, by: By, settings: Partial<Mission> = {}): Step | null {
  const holder = holderOf(mission)
  if (holder && !isSame(holder, to))
    throw new NotAllowed(`${holder.handle} has the task ${mission.id} already.`, {
      try: 'fleet team task list --unassigned',
      facts: { task_id: mission.id, assignee: holder.handle },
    })
  return assign(mission, to, by, settings)
}

/** Its session was stopped for somebody else: the work so far is the candidate they go on from. */
export function handedOn(mission: Task, by: By, instructions: Told | null): Step {
  const to = mission.task.handing?.to ?? null
  const task = { ...mission.task, assignee: to, handing: null, blocked: null }
  const text = to ? `${to.handle} goes on with it.` : 'It was given back. Nobody has it.'
  return requeued(
    { ...mission, task },
    { reason: 'resume', ready: true, instructions },
    { code: 'handed_on', text },
    by,
  )
}

/** Dependencies were added. A session at work ends first; the task goes on once they are done. */
export function block(mission: Task, { reason, ready, blockers }: Blocking, by: By): Step {
  requireOpen(mission)
  if (mission.status === 'review' || mission.status === 'landing')
    throw new NotAllowed(`Task ${mission.id} is finished: it is in ${mission.status}.`)
  const change: Partial<Mission> =
    mission.status === 'running'
      ? { task: { ...mission.task, blocked: clipped(reason, MAX_REASON_CHARS) } }
      : mission.status === 'queued'
        ? { ready }
        : {}
  const data = { team: mission.task.team_id, title: mission.title, blockers: [...blockers] }
  return step(mission, change, by, 'task_blocked', { cause: reason, data })
}

interface Blocking {
  reason: string
  /** Whether every dependency is met even so. */
  ready: boolean
  blockers: readonly string[]
}

/** The session that said what blocks it has ended. */
export const blocked = (mission: Task, by: By): Step =>
  requeued(
    { ...mission, task: { ...mission.task, blocked: null } },
    { reason: 'resume', ready: false },
    { code: BLOCKED, text: mission.task.blocked ?? 'It waits for other tasks.' },
    by,
  )
/** The dispatcher looks at such a mission at once: what it waits for may be done already. */
export const BLOCKED = 'blocked_by'

/** Refuses while something it depends on is not done. */
export function requireUnblocked(mission: Task, dependencies: readonly Mission[]): void {
  const open = blockersOf(mission, dependencies)
  if (!open.length) return
  const names = open.map(({ id, title, status }) => `${title} (${id}, ${status})`).join(', ')
  throw new NotAllowed(`Task ${mission.id} is blocked by ${names}.`, {
    try: `fleet team task complete ${open[0]!.id}`,
    facts: { blockers: open.map(({ id }) => id) },
  })
}

/** Somebody says that it is done, although no session of its own works at it. Null: it was done already. */
export function complete(mission: Task, by: By): Step | null {
  if (mission.status === 'done') return null
  requireOpen(mission)
  requireNotTaken(mission)
  const { id, task, candidate, status } = mission
  if (hasSession(mission))
    throw new NotAllowed(`${task.assignee?.handle ?? 'An agent'} is at work at the task ${id}, and completes it.`, {
      try: `fleet team task unassign ${id}, or fleet cancel ${id}`,
    })
  if (status === 'review' || status === 'landing' || (candidate && mission.branch))
    throw new NotAllowed(`Task ${id} has work that has not landed.`, {
      try: `fleet diff ${id}, then fleet land ${id} or fleet reject ${id}`,
    })
  return done({ ...mission, next: null, ready: false, task: { ...task, handing: null } }, 'no_changes', by)
}
