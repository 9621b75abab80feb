import type { Output } from '../../api/client.ts'
import { useAsk } from '../../live/data.ts'
import type { Mission } from '../../live/mending.ts'

export type Review = Output<'get_review'>

/** The most that are ranked at once. Nobody gets through more in a day. */
const MOST = 100

export const useQueue = (project_id?: string) => useAsk('list_reviews', { project_id, limit: MOST })

export type GroupName = 'conflicts' | 'failed' | 'ready'

export const GROUPS: Record<GroupName, string> = {
  conflicts: 'In conflict',
  failed: 'Checks failed',
  ready: 'Ready to decide',
}

export const isConflict = ({ mission }: Pick<Review, 'mission'>): boolean => mission.status_reason?.code === 'conflict'
const hasFailed = ({ mission, checks }: Review): boolean =>
  checks.failed.length > 0 || mission.status_reason?.code === 'checks_failed'

export const groupOf = (review: Review): GroupName =>
  isConflict(review) ? 'conflicts' : hasFailed(review) ? 'failed' : 'ready'

/** The other missions that its reasons name. */
export const namedIn = ({ overlaps, includes }: Review): Set<string> =>
  new Set([...overlaps, ...includes].map(({ mission_id }) => mission_id))

/** Whether it waits for a decision, or can still get one. */
export const isOpen = ({
  status,
  status_reason,
  result,
}: Pick<Mission, 'status' | 'status_reason' | 'result'>): boolean =>
  status === 'review' ||
  (status === 'needs_input' && ['conflict', 'in_the_way'].includes(status_reason?.code ?? '')) ||
  (status === 'done' && result === 'kept')

/** From top to bottom: first what can be decided, then what needs more than a decision. */
const ORDER: readonly GroupName[] = ['ready', 'failed', 'conflicts']

export function grouped(reviews: readonly Review[]): [GroupName, Review[]][] {
  return ORDER.map((name): [GroupName, Review[]] => [name, reviews.filter(each => groupOf(each) === name)]).filter(
    ([, those]) => those.length > 0,
  )
}

export const inOrder = (reviews: readonly Review[]): Review[] => grouped(reviews).flatMap(([, those]) => those)

/** The next mission to review: further down, or from the top again; undefined: there is no other. */
export function neighbour(reviews: readonly Review[], missionId: string, step: 1 | -1): string | undefined {
  const ids = inOrder(reviews).map(({ mission }) => mission.id)
  const at = ids.indexOf(missionId)
  const next = at === -1 ? ids.at(step === 1 ? 0 : -1) : ids.at((at + step) % ids.length)
  return next === missionId ? undefined : next
}
