import type { Event } from '../records/event.ts'
import type { Need } from '../records/notification.ts'
import type { Question } from '../records/talk.ts'

/** What an event says that a person is needed for. */
export interface Needed {
  need: Need
  /** A sentence without a name, such as the title of a notification. */
  words: string
  path: string
  question_id: string | null
  plan_id: string | null
}

/** The parts of an event that matter here. */
export type Happened = Pick<Event, 'kind' | 'mission_id' | 'data'>

/** These events stop a mission; others that do so, such as a take-over, are what a person just did. */
const STOPPING: Partial<Record<Event['kind'], string>> = {
  needs_input: 'Blocked',
  landing_waits: 'Blocked',
  conflict: 'Blocked by a conflict',
}

/** Undefined: nobody is needed, or not yet. A conflict, for example, is first given to the agent. */
export function neededBy({ kind, mission_id, data }: Happened): Needed | undefined {
  const plan_id = kind === 'plan_proposed' && typeof data.plan === 'string' ? data.plan : null
  const base = { path: `/missions/${mission_id}`, question_id: null, plan_id }
  if (plan_id) return { ...base, need: 'review', words: 'Plan to approve', path: `/plans/${plan_id}` }
  if (!mission_id) return undefined
  if (kind === 'asked') {
    const question_id = typeof data.question === 'string' ? data.question : null
    return { ...base, need: 'input', words: 'Needs input', question_id }
  }
  if (data.status === 'failed') return { ...base, need: 'failed', words: 'Failed' }
  if (data.status === 'review')
    return { ...base, need: 'review', words: 'Ready for review', path: `/review/${mission_id}` }
  if (data.status !== 'needs_input') return undefined
  if (kind === 'limit_reached') return { ...base, need: 'budget', words: 'Budget or limit reached' }
  const words = STOPPING[kind]
  if (!words) return undefined
  return { ...base, need: 'blocked', words, ...(kind === 'conflict' && { path: `/review/${mission_id}` }) }
}

/** What somebody must be allowed to do to be of use: one of these permissions, in the project. */
export function rightsFor(
  { need, plan_id }: { need: Need; plan_id: string | null },
  question: Question['kind'] | undefined,
): readonly string[] {
  if (plan_id) return ['plans.run']
  if (need === 'input') return [question === 'permission' ? 'approvals.decide' : 'questions.answer']
  if (need === 'review') return ['missions.land', 'missions.review']
  // A conflict can be resolved by whoever reviews.
  return need === 'blocked' ? ['missions.run', 'missions.review'] : ['missions.run']
}
