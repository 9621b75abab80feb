import type { Status } from '../../kit/words.ts'
import type { Mission, MissionFilter } from '../../live/mending.ts'

export interface Column {
  name: string
  statuses: readonly Status[]
  /** Read by when they ended, where most of what ended is in this column. */
  order?: MissionFilter['order']
  compare?(one: Mission, other: Mission): number
  /** How something gets here. */
  teaches: string
}

/** In the order in which they start: priority, then age. */
export const inQueueOrder = (one: Mission, other: Mission): number =>
  other.priority - one.priority || (one.queued_at ?? '').localeCompare(other.queued_at ?? '')

const newestEndFirst = (one: Mission, other: Mission): number =>
  (other.ended_at ?? '').localeCompare(one.ended_at ?? '')

/** From left to right as a mission goes. */
export const COLUMNS: readonly Column[] = [
  { name: 'Draft', statuses: ['draft'], teaches: 'Described, and not asked for yet.' },
  {
    name: 'Queued',
    statuses: ['queued'],
    compare: inQueueOrder,
    teaches: 'Starts by itself when there is room and what it depends on is done.',
  },
  { name: 'Running', statuses: ['running', 'waiting'], teaches: 'An agent is at work, or waits for its sub-missions.' },
  { name: 'Needs you', statuses: ['needs_input'], teaches: 'It asks something, or cannot go on.' },
  { name: 'Review', statuses: ['review'], teaches: 'Finished, and waits for a person to decide.' },
  { name: 'Landing', statuses: ['landing'], teaches: 'Being merged and checked.' },
  { name: 'Done', statuses: ['done'], order: 'ended', teaches: 'Landed, kept, or nothing to change.' },
  {
    name: 'Failed',
    statuses: ['failed'],
    compare: newestEndFirst,
    teaches: 'It could not be done; retry starts over.',
  },
  { name: 'Cancelled', statuses: ['cancelled'], compare: newestEndFirst, teaches: 'Stopped; its work is kept.' },
]

export const columnOf = (status: Status): Column => COLUMNS.find(({ statuses }) => statuses.includes(status))!
