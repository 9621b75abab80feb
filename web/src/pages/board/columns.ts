import type { Status } from '../../kit/words.ts'
import type { Mission, MissionFilter } from '../../live/mending.ts'

export interface Column {
  name: string
  statuses: readonly Status[]
  /** Sorted by the time they ended, if most ended missions are in this column. */
  order?: MissionFilter['order']
  compare?(one: Mission, other: Mission): number
  /** How something gets here. */
  teaches: string
}

/** In the order in which they start: by priority, then by age. */
export const inQueueOrder = (one: Mission, other: Mission): number =>
  other.priority - one.priority || (one.queued_at ?? '').localeCompare(other.queued_at ?? '')

const newestEndFirst = (one: Mission, other: Mission): number =>
  (other.ended_at ?? '').localeCompare(one.ended_at ?? '')

/** From left to right, in the order of a mission's life. */
export const COLUMNS: readonly Column[] = [
  { name: 'Draft', statuses: ['draft'], teaches: 'Described, but not started yet.' },
  {
    name: 'Queued',
    statuses: ['queued'],
    compare: inQueueOrder,
    teaches: 'Starts automatically when a slot is free and its dependencies are done.',
  },
  { name: 'Running', statuses: ['running', 'waiting'], teaches: 'An agent is working, or waits for its sub-missions.' },
  { name: 'Needs input', statuses: ['needs_input'], teaches: 'It has a question, or cannot continue.' },
  { name: 'Review', statuses: ['review'], teaches: 'Finished, and waits for your decision.' },
  { name: 'Landing', statuses: ['landing'], teaches: 'Being merged and checked.' },
  { name: 'Done', statuses: ['done'], order: 'ended', teaches: 'Landed, kept, or nothing to change.' },
  {
    name: 'Failed',
    statuses: ['failed'],
    compare: newestEndFirst,
    teaches: 'It could not be done. Retry starts over.',
  },
  { name: 'Cancelled', statuses: ['cancelled'], compare: newestEndFirst, teaches: 'Stopped; its work is kept.' },
]

export const columnOf = (status: Status): Column => COLUMNS.find(({ statuses }) => statuses.includes(status))!
