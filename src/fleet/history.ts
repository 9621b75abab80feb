import type { Event } from '../domain/records/event.ts'
import { isBy } from '../domain/rules/actors.ts'
import type { Fleet } from './fleet.ts'

/** One answer reads at most this many events, however few of them match. */
const MOST_LOOKED_AT = 5000
const PAGE = 500

export interface Wanted {
  project_id?: string
  mission_id?: string
  session_id?: string
  team_id?: string
  kinds?: readonly string[]
  /** See `isBy`. */
  actor?: string
}

interface Happened {
  events: Event[]
  /** Pass it as `before` to go further back. Absent if no event was read. */
  start?: string
  cursor: string
  more: boolean
  reset: boolean
}

const isWanted =
  ({ session_id, team_id, kinds, actor }: Wanted) =>
  (event: Event): boolean =>
    (session_id === undefined || event.session_id === session_id) &&
    (team_id === undefined || event.data.team === team_id) &&
    (kinds === undefined || kinds.includes(event.kind)) &&
    (actor === undefined || isBy(event, actor))

/** The newest events, or the newest before an event. Reads the newest first, returns the oldest first. */
export async function happenedBefore(
  { store }: Fleet,
  { project_id, mission_id, ...wanted }: Wanted,
  { before, limit }: { before?: string; limit: number },
): Promise<Happened> {
  const found: Event[] = []
  let start = before
  let end: string | undefined
  for (let looked = 0; looked < MOST_LOOKED_AT; looked += PAGE) {
    const page = await store.events({ before: start, newest: true, limit: PAGE, project_id, mission_id })
    end ??= page.cursor
    for (const event of page.events.toReversed()) {
      if (found.length === limit) return { events: found.reverse(), start, cursor: end, more: true, reset: false }
      if (isWanted(wanted)(event)) found.push(event)
      start = event.cursor
    }
    if (page.events.length < PAGE) return { events: found.reverse(), start, cursor: end, more: false, reset: false }
  }
  return { events: found.reverse(), start, cursor: end!, more: true, reset: false }
}

/** What happened after an event. */
export async function happenedAfter(
  { store }: Fleet,
  { project_id, mission_id, ...wanted }: Wanted,
  { after, limit }: { after: string; limit: number },
): Promise<Happened> {
  const found: Event[] = []
  let cursor = after
  let reset = false
  for (let looked = 0; looked < MOST_LOOKED_AT; looked += PAGE) {
    const page = await store.events({ after: cursor, limit: PAGE, project_id, mission_id })
    reset ||= page.reset
    for (const event of page.events) {
      if (found.length === limit) return { events: found, start: found[0]!.cursor, cursor, more: true, reset }
      if (isWanted(wanted)(event)) found.push(event)
      cursor = event.cursor
    }
    if (page.events.length < PAGE)
      return { events: found, start: found[0]?.cursor, cursor: page.cursor, more: false, reset }
  }
  return { events: found, start: found[0]?.cursor, cursor, more: true, reset }
}
