import type { InfiniteData, QueryClient } from '@tanstack/react-query'
import { ask, type Input, type Output } from '../api/client.ts'
import type { FleetEvent } from './fleet-events.ts'

export type Mission = Output<'list_missions'>['missions'][number]
export type MissionFilter = Omit<Input<'list_missions'>, 'cursor'>
export type MissionPages = InfiniteData<Output<'list_missions'>, string | undefined>

const BATCH = 200

/**
 * Brings lists of missions up to date with what happened: only the missions that events name are asked for, however
 * long the lists are.
 */
export async function mendMissionLists(client: QueryClient, events: FleetEvent[]): Promise<void> {
  const lists = client.getQueriesData<MissionPages>({ queryKey: ['list_missions'] })
  const touched = [...new Set(events.filter(event => event.kind !== 'usage').map(event => event.mission_id))]
  const ids = touched.filter(id => id !== null)
  if (lists.length === 0 || ids.length === 0) return
  const fresh = new Map<string, Mission>()
  for (let at = 0; at < ids.length; at += BATCH) {
    const batch = ids.slice(at, at + BATCH)
    const { missions } = await ask('list_missions', { ids: batch, limit: BATCH })
    for (const mission of missions) fresh.set(mission.id, mission)
  }
  // Those that are no longer there were deleted.
  const gone = new Set(ids.filter(id => !fresh.has(id)))
  for (const [queryKey] of lists) {
    const filter = queryKey[1] as MissionFilter
    client.setQueryData<MissionPages>(queryKey, pages => pages && mended(pages, filter, fresh, gone))
  }
}

/** The pages of one list with the missions put where they belong now. */
export function mended(
  { pages, pageParams }: MissionPages,
  filter: MissionFilter,
  fresh: ReadonlyMap<string, Mission>,
  gone: ReadonlySet<string>,
): MissionPages {
  const seen = new Set<string>()
  const next = pages.map(page => ({
    ...page,
    missions: page.missions.flatMap(old => {
      const mission = fresh.get(old.id) ?? old
      seen.add(old.id)
      return gone.has(old.id) || !fits(mission, filter) ? [] : [mission]
    }),
  }))
  const isWhole = next.at(-1)?.cursor === undefined
  const oldest = next.at(-1)?.missions.at(-1)?.created_at
  // One that is older than all that was read so far comes when its page is read.
  const isWithin = ({ created_at }: Mission) => isWhole || oldest === undefined || created_at >= oldest
  const added = [...fresh.values()].filter(each => !seen.has(each.id) && fits(each, filter) && isWithin(each))
  const first = next[0]
  if (first && added.length)
    first.missions = [...added, ...first.missions].sort((a, b) => b.created_at.localeCompare(a.created_at))
  return { pages: next, pageParams }
}

const includes = (text: string | null | undefined, part: string): boolean => !!text?.toLowerCase().includes(part)

/** The same question as the server's, so that a mission can be put in or taken out without asking for the list. */
export function fits(mission: Mission, filter: MissionFilter): boolean {
  const { project_id, status, tag, agent, text, parent_mission_id, ids } = filter
  const part = text?.trim().toLowerCase()
  return (
    (!ids || ids.includes(mission.id)) &&
    (!project_id || mission.project_id.startsWith(project_id)) &&
    (!status || [status].flat().includes(mission.status)) &&
    (!tag || mission.tags.includes(tag)) &&
    (!agent || mission.agent === agent) &&
    (!parent_mission_id || mission.parent_mission_id === parent_mission_id) &&
    (!part || includes(mission.title, part) || includes(mission.detailed_prompt, part) || mission.id.startsWith(part))
  )
}
