import { STATUS_WORDS } from '../../kit/words.ts'
import type { Mission } from '../../live/mending.ts'
import { type Column, columnOf } from './columns.ts'

export type MoveAct = 'dispatch_mission' | 'retry_mission' | 'land_mission' | 'cancel_mission'

export type Move =
  | { to: 'same' }
  | { to: 'act'; act: MoveAct; word: string }
  /** Why it cannot be moved there, and what to do. */
  | { to: 'nowhere'; why: string }

const no = (why: string): Move => ({ to: 'nowhere', why })
const act = (name: MoveAct, word: string): Move => ({ to: 'act', act: name, word })

/** What it means to move a mission to a column. Most columns cannot be reached by hand. */
export function moveTo(mission: Pick<Mission, 'status' | 'result' | 'branch'>, column: Column): Move {
  const { status, result, branch } = mission
  const from = columnOf(status)
  if (from === column) return { to: 'same' }
  switch (column.name) {
    case 'Queued':
      if (status === 'draft') return act('dispatch_mission', 'Queue')
      if (['failed', 'cancelled', 'needs_input', 'review', 'waiting'].includes(status))
        return act('retry_mission', 'Retry')
      if (status === 'done') return no('To continue done work, reopen it on its own page.')
      return no(`It is already ${STATUS_WORDS[status].toLowerCase()}.`)
    case 'Landing':
      if (status === 'needs_input' || status === 'review' || result === 'kept')
        return branch ? act('land_mission', 'Land') : no('It has no work to land.')
      return no('Only finished work can land: work in review, or work that was kept.')
    case 'Cancelled':
      if (status === 'done' || status === 'failed') return no('It is already over.')
      return act('cancel_mission', 'Cancel')
    case 'Draft':
      return no('It cannot become a draft again. Cancel it to stop it.')
    case 'Running':
      return no('Queued missions start automatically. To run it next, drop it at the top of Queued.')
    case 'Done':
      return no('Done is for work that landed or was kept. Drop finished work on Landing.')
    default:
      return no('Missions move here automatically.')
  }
}
