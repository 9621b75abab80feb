import type { Output } from '../../api/client.ts'
import type { Tone } from '../../kit/words.ts'
import type { May } from '../../live/rights.ts'

export type Task = Output<'team_tasks'>['tasks'][number]

interface Column {
  name: string
  states: readonly Task['state'][]
  /** What belongs here. */
  teaches: string
  compare(one: Task, other: Task): number
}

const urgent = (one: Task, other: Task): number =>
  other.priority - one.priority || one.created_at.localeCompare(other.created_at)
const newestEnd = (one: Task, other: Task): number =>
  (other.ended_at ?? other.updated_at).localeCompare(one.ended_at ?? one.updated_at)

export const COLUMNS: readonly Column[] = [
  {
    name: 'Open',
    states: ['unassigned'],
    teaches: 'Tasks that nobody has. A member takes one, or you assign it.',
    compare: urgent,
  },
  {
    name: 'Waiting',
    states: ['blocked', 'waiting'],
    teaches: 'Tasks that wait for others, or for their member to be free.',
    compare: urgent,
  },
  {
    name: 'In work',
    states: ['working', 'needs_person'],
    teaches: 'Tasks that a member works at now.',
    compare: urgent,
  },
  { name: 'In review', states: ['review'], teaches: 'Work that you land or reject.', compare: urgent },
  { name: 'Done', states: ['done'], teaches: 'Tasks that are over.', compare: newestEnd },
]

/** What stands out on a card. What its column says already does not. */
export function badgeOf({ state, status, handing_to }: Task): { word: string; tone: Tone } | undefined {
  if (handing_to) return { word: `Going to ${handing_to}`, tone: 'gray' }
  if (status === 'failed') return { word: 'Failed', tone: 'red' }
  if (state === 'needs_person') return { word: 'Needs input', tone: 'amber' }
  if (state === 'blocked') return { word: 'Blocked', tone: 'amber' }
  if (status === 'landing') return { word: 'Landing', tone: 'blue' }
  if (status === 'cancelled') return { word: 'Cancelled', tone: 'gray' }
  return undefined
}

export type TaskAct = 'take' | 'assign' | 'unassign' | 'block' | 'complete'

/** What somebody can do about a task, as the server would decide it. */
export function actsOn(task: Task, me: string | undefined, may: May): TaskAct[] {
  const { project_id, state, assignee, blockers, candidate } = task
  if (state === 'done' || task.handing_to) return []
  const steers = may('missions.run', project_id)
  const acts = may('tasks.work', project_id) && (steers || (me !== undefined && assignee?.member_id === me))
  const isFinished = state === 'review'
  const isIdle = state !== 'working' && !isFinished && !candidate && task.status !== 'needs_input'
  const possible: Record<TaskAct, boolean> = {
    take: !assignee && may('team_take', project_id),
    assign: may('team_assign', project_id),
    unassign: !!assignee && acts,
    block: acts && !isFinished,
    complete: acts && isIdle && !blockers.length,
  }
  return (Object.keys(possible) as TaskAct[]).filter(act => possible[act])
}
