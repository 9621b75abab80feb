import { type Counts, MISSION_COUNTS } from '../domain/fleet.ts'
import type { Fleet } from './fleet.ts'
import { put } from './records.ts'

const PAGE = 500
/** How many events a reader may have to fold itself before the holder writes the sum down. */
const SAVE_AFTER = 400

interface Sum {
  counts: Record<string, number>
  cursor: string | null
  folded: number
  stored: number | 'absent'
}

async function sum(fleet: Fleet): Promise<Sum> {
  const saved = await fleet.store.get('counts', MISSION_COUNTS)
  const result: Sum = {
    counts: { ...saved?.value.counts },
    cursor: saved?.value.cursor ?? null,
    folded: 0,
    stored: saved?.version ?? 'absent',
  }
  for (;;) {
    const page = await fleet.store.events({ after: result.cursor ?? undefined, limit: PAGE })
    for (const { data } of page.events) {
      if (typeof data.was === 'string') result.counts[data.was] = (result.counts[data.was] ?? 0) - 1
      if (typeof data.status === 'string') result.counts[data.status] = (result.counts[data.status] ?? 0) + 1
    }
    result.cursor = page.cursor
    result.folded += page.events.length
    if (page.events.length < PAGE) return result
  }
}

/** Missions by status, now; the cost does not grow with how many there ever were. */
export async function missionCounts(fleet: Fleet): Promise<Record<string, number>> {
  return (await sum(fleet)).counts
}

/** Keeps the fold short; only the holder does this. */
export async function saveCounts(fleet: Fleet): Promise<void> {
  const { counts, cursor, folded, stored } = await sum(fleet)
  if (folded < SAVE_AFTER) return
  const value: Counts = { id: MISSION_COUNTS, cursor, counts }
  await fleet.commit('commit.counts', { changes: [put('counts', value, stored)] })
}
