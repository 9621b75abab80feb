import type { Mission, Status } from '../records/mission.ts'
import type { Session } from '../records/session.ts'

const OVER: readonly Status[] = ['done', 'failed', 'cancelled']
const NEEDS_SOMEBODY: readonly Status[] = ['needs_input', 'review', 'failed']

export const isOver = ({ status }: Pick<Mission, 'status'>): boolean => OVER.includes(status)
export const needsSomebody = ({ status }: Pick<Mission, 'status'>): boolean => NEEDS_SOMEBODY.includes(status)

/** Whether a mission waits, directly or through its siblings, for its parent. The parent must not wait for it. */
function waitsForParent(mission: Mission, parent: string, siblings: readonly Mission[]): boolean {
  const seen = new Set<string>()
  const leads = (id: string): boolean => {
    if (id === parent) return true
    if (seen.has(id)) return false
    seen.add(id)
    return siblings.find(each => each.id === id)?.depends_on.some(leads) ?? false
  }
  return mission.depends_on.some(leads)
}

/** Whether the parent can wait for it: it is under way and does not wait for the parent. */
export const isAwaitable = (child: Mission, parent: string, children: readonly Mission[]): boolean =>
  child.status !== 'draft' && !waitsForParent(child, parent, children)

type Awaits = NonNullable<Session['awaits']>

/**
 * The sub-missions that a mission would wait for now: those under way that do not wait for it. One that needs a person
 * wakes the parent first. The parent waits for it only after it was told.
 */
export function awaitsOf(parent: string, children: readonly Mission[], before: Session['awaits']): Awaits {
  const open = children.filter(child => !isOver(child) && isAwaitable(child, parent, children))
  const needing = open.filter(needsSomebody).map(({ id }) => id)
  const isNews = needing.some(id => !before?.told.includes(id))
  return { children: isNews ? [] : open.map(({ id }) => id), told: needing }
}

/**
 * Whether the parent continues: all sub-missions are over, or one needs a person and the parent was not told before it
 * began to wait. A sub-mission it was told about does not wake it again. Otherwise a mission and an unanswered question
 * could wake each other for ever.
 */
export function mayGoOn(awaits: Session['awaits'], children: readonly Mission[]): boolean {
  const awaited = children.filter(({ id }) => awaits?.children.includes(id))
  return awaited.every(isOver) || awaited.some(child => needsSomebody(child) && !awaits?.told.includes(child.id))
}
