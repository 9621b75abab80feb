import { STATUS_WORDS } from '../../kit/words.ts'
import type { Mission } from '../../live/mending.ts'
import { type Column, columnOf } from './columns.ts'

export type MoveAct = 'dispatch_mission' | 'retry_mission' | 'land_mission' | 'cancel_mission'

export type Move =
  | { to: 'same' }
  | { to: 'act'; act: MoveAct; word: string }
  /** Why it cannot be put there, and what to do. */
  | { to: 'nowhere'; why: string }

const no = (why: string): Move => ({ to: 'nowhere', why })
const act = (name: MoveAct, word: string): Move => ({ to: 'act', act: name, word })

/** What putting a mission into a column means. Most columns are reached only by what happens. */
export function moveTo(mission: Pick<Mission, 'status' | 'result' | 'branch'>, column: Column): Move {
  const { status, result, branch } = mission
  const from = columnOf(status)
  if (from === column) return { to: 'same' }
  switch (column.name) {
    case 'Queued':
      if (status === 'draft') return act('dispatch_mission', 'Queue')
      if (['failed', 'cancelled', 'needs_input', 'review', 'waiting'].includes(status))
        return act('retry_mission', 'Retry')
      if (status === 'done') return no('Done work goes back only by reopening it, on its own page.')
      return no(`It is ${STATUS_WORDS[status].toLowerCase()} already.`)
    case 'Landing':
      if (status === 'needs_input' || status === 'review' || result === 'kept')
        return branch ? act('land_mission', 'Land') : no('It has no work to land.')
      return no('Only finished work lands: from Review, or what was kept.')
    case 'Cancelled':
      if (status === 'done' || status === 'failed') return no('It is over already.')
      return act('cancel_mission', 'Cancel')
    case 'Draft':
      return no('What was asked for is no draft any more. Cancel it to stop it.')
    case 'Running':
      return no('It runs when its turn comes. Put it into Queued, on top to be the next.')
    case 'Done':
      return no('Done is what landed or was kept. Put finished work into Landing.')
    default:
      return no('A mission gets here by itself.')
  }
}
