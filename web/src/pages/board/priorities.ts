import type { Mission } from '../../live/mending.ts'
import { inQueueOrder } from './columns.ts'

export type Queued = Pick<Mission, 'id' | 'priority' | 'queued_at'>

const HIGHEST = 1000
const LOWEST = -1000

/**
 * The priorities that move one mission to another position in the queue, with as few changes as possible: its own, and
 * those of missions above that would come after it. Undefined: no valid priority does it.
 */
export function prioritiesFor(queue: readonly Queued[], id: string, place: number): Map<string, number> | undefined {
  const moved = queue.find(each => each.id === id)
  if (!moved) return undefined
  const rest = queue.filter(each => each.id !== id)
  const [above, below] = [rest.slice(0, place), rest.slice(place)]
  const changes = new Map<string, number>()
  let next = set(moved, fitting(moved, above.at(-1), below[0]))
  for (const each of above.toReversed()) {
    if (isBefore(each, next)) break
    next = set(each, before(each, next))
  }
  return [...changes.values()].every(priority => priority >= LOWEST && priority <= HIGHEST) ? changes : undefined

  function set(mission: Queued, priority: number): Queued {
    if (priority !== mission.priority) changes.set(mission.id, priority)
    return { ...mission, priority }
  }
}

const isBefore = (one: Queued, other: Queued): boolean => inQueueOrder(one as Mission, other as Mission) < 0
const isOlder = (one: Queued, other: Queued): boolean => (one.queued_at ?? '') < (other.queued_at ?? '')

/** The lowest priority that puts one before the other. */
const before = (one: Queued, other: Queued): number => (isOlder(one, other) ? other.priority : other.priority + 1)

function fitting(moved: Queued, above: Queued | undefined, below: Queued | undefined): number {
  const fits = (!above || isBefore(above, moved)) && (!below || isBefore(moved, below))
  if (fits) return moved.priority
  if (below) return before(moved, below)
  return above && isOlder(above, moved) ? above.priority : (above?.priority ?? 0) - 1
}
