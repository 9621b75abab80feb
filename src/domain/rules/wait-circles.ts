import type { Member } from '../records/team.ts'

/** Somebody waits for the answer of somebody else. */
export interface Wait {
  /** Ids of members. */
  waits: string
  for: string
  /** The message that is not answered. */
  mail_id: string
}

/**
 * Members who wait for each other, so that none of them goes on by itself: each a group in which everybody waits, also
 * through others, for everybody else. Whoever only waits for such a group is not in it.
 */
export function circlesOf(waits: readonly Wait[]): Wait[][] {
  const onward = Map.groupBy(waits, ({ waits: who }) => who)
  const reached = new Map([...onward.keys()].map(id => [id, reachableFrom(id, onward)]))
  const isMutual = (one: string, other: string): boolean =>
    (reached.get(one)?.has(other) ?? false) && (reached.get(other)?.has(one) ?? false)
  const circles: Wait[][] = []
  const seen = new Set<string>()
  for (const id of [...onward.keys()].toSorted()) {
    if (seen.has(id) || !isMutual(id, id)) continue
    const group = new Set([...onward.keys()].filter(other => isMutual(id, other)))
    for (const each of group) seen.add(each)
    circles.push(waits.filter(wait => group.has(wait.waits) && group.has(wait.for)))
  }
  return circles
}

/** Everybody that somebody waits for, also through others. */
function reachableFrom(id: string, onward: ReadonlyMap<string, readonly Wait[]>): Set<string> {
  const found = new Set<string>()
  const left = [id]
  for (let next = left.pop(); next !== undefined; next = left.pop())
    for (const { for: other } of onward.get(next) ?? []) {
      if (found.has(other)) continue
      found.add(other)
      left.push(other)
    }
  return found
}

/** The members of a circle, each once. */
export const membersIn = (circle: readonly Wait[]): string[] => [...new Set(circle.map(({ waits }) => waits))]

/** Who is told of a circle: agents outside it that lead the team, or else its people. */
export function toldOfCircle(circle: readonly Wait[], present: readonly Member[]): Member[] {
  const inside = new Set(membersIn(circle))
  const leads = present.filter(({ id, person, role }) => person === null && role === 'team-lead' && !inside.has(id))
  return leads.length ? leads : present.filter(({ person }) => person !== null)
}
