import { type Counts, MISSION_COUNTS } from '../domain/records/fleet.ts'
import type { Fleet } from './fleet.ts'
import { put } from './records.ts'

const PAGE = 500
/** How many events a reader may have to fold itself before the holder writes the sum down. */
const SAVE_AFTER = 400

type ByStatus = Record<string, number>

interface Sum extends Pick<Counts, 'counts' | 'projects' | 'cursor'> {
  folded: number
  stored: number | 'absent'
}

async function sum(fleet: Fleet): Promise<Sum> {
  const saved = await fleet.store.get('counts', MISSION_COUNTS)
  const { counts, projects, cursor } = structuredClone(saved?.value) ?? { counts: {}, projects: {}, cursor: null }
  const result: Sum = { counts, projects, cursor, folded: 0, stored: saved?.version ?? 'absent' }
  for (;;) {
    const page = await fleet.store.events({ after: result.cursor ?? undefined, limit: PAGE })
    for (const { data, mission_id, project_id } of page.events) {
      // Other news have a status too, such as what an agent says of its work.
      if (!mission_id || !project_id || !('was' in data)) continue
      result.projects[project_id] ??= {}
      const ofProject = result.projects[project_id]
      for (const tally of [result.counts, ofProject]) {
        if (typeof data.was === 'string') add(tally, data.was, -1)
        if (typeof data.status === 'string') add(tally, data.status, 1)
      }
      // One that has none any more takes no room in the record.
      if (Object.keys(ofProject).length === 0) delete result.projects[project_id]
    }
    result.cursor = page.cursor
    result.folded += page.events.length
    if (page.events.length < PAGE) return result
  }
}

function add(tally: ByStatus, status: string, by: number): void {
  const count = (tally[status] ?? 0) + by
  if (count === 0) delete tally[status]
  else tally[status] = count
}

/** Missions by status, now, in all and of each project; the cost does not grow with how many there ever were. */
export async function missionCounts(fleet: Fleet): Promise<{ counts: ByStatus; projects: Record<string, ByStatus> }> {
  const { counts, projects } = await sum(fleet)
  return { counts, projects }
}

/** Keeps the fold short; only the holder does this. */
export async function saveCounts(fleet: Fleet): Promise<void> {
  const { counts, projects, cursor, folded, stored } = await sum(fleet)
  if (folded < SAVE_AFTER) return
  const value: Counts = { id: MISSION_COUNTS, cursor, counts, projects }
  await fleet.commit('commit.counts', { changes: [put('counts', value, stored)] })
}
