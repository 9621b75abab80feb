import type { Event } from '../domain/records/event.ts'
import { type Counts, MISSION_COUNTS } from '../domain/records/fleet.ts'
import type { Version } from '../store/index.ts'
import type { Fleet } from './fleet.ts'
import { all, ownRecord, put } from './records.ts'

const PAGE = 500
/** A reader folds up to this many events itself before the daemon saves the sum. */
const SAVE_AFTER = 400

type ByStatus = Record<string, number>

interface Sum extends Pick<Counts, 'counts' | 'projects' | 'cursor'> {
  /** How many events are not in the record yet. */
  folded: number
  stored: Version | 'absent'
}

async function sum(fleet: Fleet): Promise<Sum> {
  const { value, expects: stored } = await ownRecord(fleet.store, 'counts', MISSION_COUNTS)
  const isDamaged = !value && stored !== 'absent'
  if (isDamaged) return { ...(await recount(fleet)), stored }
  const result: Sum = { ...(structuredClone(value) ?? { counts: {}, projects: {}, cursor: null }), folded: 0, stored }
  for (;;) {
    const page = await fleet.store.events({ after: result.cursor ?? undefined, limit: PAGE })
    if (page.reset) return { ...(await recount(fleet)), stored }
    for (const { project_id, was, status } of page.events.flatMap(moved)) {
      if (was !== null) add(result, project_id, was, -1)
      if (status !== null) add(result, project_id, status, 1)
    }
    result.cursor = page.cursor
    result.folded += page.events.length
    if (page.events.length < PAGE) return result
  }
}

interface Moved {
  mission_id: string
  project_id: string
  was: string | null
  status: string | null
}

/** Other events have a status too, such as an agent's report. Only a change of a mission's status has `was`. */
function moved({ mission_id, project_id, data }: Event): Moved[] {
  if (!mission_id || !project_id || !('was' in data)) return []
  const textOr = (given: unknown): string | null => (typeof given === 'string' ? given : null)
  return [{ mission_id, project_id, was: textOr(data.was), status: textOr(data.status) }]
}

/**
 * Counts the missions themselves, because older events are gone. The list may lag behind, or show changes made during
 * the count, so the newest events and those that follow decide about their missions.
 */
async function recount(fleet: Fleet): Promise<Omit<Sum, 'stored'>> {
  const now = new Map<string, { project_id: string; status: string }>()
  let page = await fleet.store.events({ newest: true, limit: PAGE })
  for await (const { value } of all(fleet, 'missions', 'created')) {
    const { id, project_id, status } = value
    now.set(id, { project_id, status })
  }
  for (;;) {
    for (const { mission_id, project_id, status } of page.events.flatMap(moved)) {
      if (status === null) now.delete(mission_id)
      else now.set(mission_id, { project_id, status })
    }
    const { cursor } = page
    page = await fleet.store.events({ after: cursor, limit: PAGE })
    if (!page.events.length) {
      const result = { counts: {}, projects: {}, cursor, folded: Number.POSITIVE_INFINITY }
      for (const { project_id, status } of now.values()) add(result, project_id, status, 1)
      return result
    }
  }
}

function add({ counts, projects }: Pick<Sum, 'counts' | 'projects'>, projectId: string, status: string, by: number) {
  projects[projectId] ??= {}
  const ofProject = projects[projectId]
  for (const tally of [counts, ofProject]) {
    const count = (tally[status] ?? 0) + by
    if (count === 0) delete tally[status]
    else tally[status] = count
  }
  // A project without missions takes no room in the record.
  if (Object.keys(ofProject).length === 0) delete projects[projectId]
}

/** Missions by status, in total and for each project. The cost does not grow with the number of missions. */
export async function missionCounts(fleet: Fleet): Promise<{ counts: ByStatus; projects: Record<string, ByStatus> }> {
  const { counts, projects } = await sum(fleet)
  return { counts, projects }
}

/** Keeps the fold short; only the daemon does this. */
export async function saveCounts(fleet: Fleet): Promise<void> {
  const { counts, projects, cursor, folded, stored } = await sum(fleet)
  if (folded < SAVE_AFTER) return
  const value: Counts = { id: MISSION_COUNTS, cursor, counts, projects }
  await fleet.commit('commit.counts', { changes: [put('counts', value, stored)] })
}
