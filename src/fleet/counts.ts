import type { Event } from '../domain/records/event.ts'
import { type Counts, MISSION_COUNTS, type Totals } from '../domain/records/fleet.ts'
import { addSession, atLeast, endedIn, NO_TOTALS } from '../domain/rules/totals.ts'
import type { Version } from '../store/index.ts'
import type { Fleet } from './fleet.ts'
import { all, ownRecord, put } from './records.ts'

const PAGE = 500
/** A reader folds up to this many events itself before the daemon saves the sum. */
const SAVE_AFTER = 400

type ByStatus = Record<string, number>

interface Sum extends Pick<Counts, 'counts' | 'projects' | 'cursor' | 'totals'> {
  /** How many events are not in the record yet. */
  folded: number
  stored: Version | 'absent'
}

/** Whoever wants totals gets them, also where an earlier version counted missions only. */
async function sum(fleet: Fleet, { wantsTotals = false } = {}): Promise<Sum> {
  const { value, expects: stored } = await ownRecord(fleet.store, 'counts', MISSION_COUNTS)
  const before = value ?? { counts: {}, projects: {}, cursor: null, totals: null }
  const again = async (): Promise<Sum> => {
    const { totals, ...counted } = await recount(fleet)
    return { ...counted, totals: before.totals ? atLeast(totals, before.totals) : totals, stored }
  }
  const isDamaged = !value && stored !== 'absent'
  if (isDamaged) return again()
  const first = wantsTotals && !before.totals ? await countSessions(fleet) : undefined
  const result: Sum = { ...structuredClone(before), ...(first && { totals: first.totals }), folded: 0, stored }
  for (;;) {
    const page = await fleet.store.events({ after: result.cursor ?? undefined, limit: PAGE })
    if (page.reset) return again()
    for (const event of page.events) {
      for (const { project_id, was, status } of moved(event)) {
        if (was !== null) add(result, project_id, was, -1)
        if (status !== null) add(result, project_id, status, 1)
      }
      if (result.totals) addEnded(result.totals, event, first?.counted)
    }
    result.cursor = page.cursor
    result.folded += page.events.length
    if (page.events.length < PAGE) {
      // A home of an earlier version may have many sessions: they are counted once. A new home has few.
      return first && value ? { ...result, folded: Number.POSITIVE_INFINITY } : result
    }
  }
}

/** Sessions that ended so far, from their records: an earlier version did not write into events what totals need. */
async function countSessions(fleet: Fleet): Promise<{ totals: Totals; counted: Set<string> }> {
  const totals = structuredClone(NO_TOTALS)
  const counted = new Set<string>()
  for await (const { value } of all(fleet, 'sessions', 'created')) {
    const { id, status, agent, outcome, usage } = value
    if (status !== 'ended') continue
    counted.add(id)
    addSession(totals, { agent, outcome: outcome ?? 'lost', usage })
  }
  return { totals, counted }
}

function addEnded(totals: Totals, event: Event, counted: Set<string> = new Set()): void {
  if (event.kind === 'member_restarted') totals.restarts++
  const ended = event.session_id && !counted.has(event.session_id) ? endedIn(event) : undefined
  if (ended) addSession(totals, ended)
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
 * Counts the missions and sessions themselves, because older events are gone. The lists may lag behind, or show changes
 * made during the count, so the newest events and those that follow decide about what they concern.
 */
async function recount(fleet: Fleet): Promise<Omit<Sum, 'stored'> & { totals: Totals }> {
  const now = new Map<string, { project_id: string; status: string }>()
  let page = await fleet.store.events({ newest: true, limit: PAGE })
  for await (const { value } of all(fleet, 'missions', 'created')) {
    const { id, project_id, status } = value
    now.set(id, { project_id, status })
  }
  const { totals, counted } = await countSessions(fleet)
  for (;;) {
    for (const event of page.events) {
      for (const { mission_id, project_id, status } of moved(event)) {
        if (status === null) now.delete(mission_id)
        else now.set(mission_id, { project_id, status })
      }
      addEnded(totals, event, counted)
      if (event.kind === 'session_ended' && event.session_id) counted.add(event.session_id)
    }
    const { cursor } = page
    page = await fleet.store.events({ after: cursor, limit: PAGE })
    if (!page.events.length) {
      const result = { counts: {}, projects: {}, cursor, folded: Number.POSITIVE_INFINITY, totals }
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

/** Missions by status now, and what all sessions that ever ended add up to. */
export async function countsAndTotals(fleet: Fleet): Promise<{ counts: ByStatus; totals: Totals }> {
  const { counts, totals } = await sum(fleet, { wantsTotals: true })
  return { counts, totals: totals ?? NO_TOTALS }
}

/** Keeps the fold short; only the daemon does this. */
export async function saveCounts(fleet: Fleet): Promise<void> {
  const { counts, projects, cursor, totals, folded, stored } = await sum(fleet, { wantsTotals: true })
  if (folded < SAVE_AFTER) return
  const value: Counts = { id: MISSION_COUNTS, cursor, counts, projects, totals }
  await fleet.commit('commit.counts', { changes: [put('counts', value, stored)] })
}
