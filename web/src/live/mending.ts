import type { InfiniteData, Query, QueryClient } from '@tanstack/react-query'
import { ask, type Input, type Output } from '../api/client.ts'
import type { FleetEvent } from './fleet-events.ts'

export type Mission = Output<'list_missions'>['missions'][number]
export type MissionFilter = Omit<Input<'list_missions'>, 'cursor'>
type MissionPage = Output<'list_missions'>
export type MissionPages = InfiniteData<MissionPage, string | undefined>

/** The current state of the missions that events named. */
export interface News {
  fresh: ReadonlyMap<string, Mission>
  /** Missions that were deleted. */
  gone: ReadonlySet<string>
  /** The agent of a mission also depends on its project and the settings, so the server is asked. */
  isOf(mission: Mission, agent: string): boolean
}

const BATCH = 200
const OVER: readonly Mission['status'][] = ['done', 'failed', 'cancelled']
/** A shorter text is more likely part of a word than the beginning of an id. */
const ID_PREFIX = /^[0-9a-z]{4,12}$/

/**
 * Updates lists of missions after events. Only the missions that events name are loaded, however long the lists are.
 */
export async function mendMissionLists(client: QueryClient, events: readonly FleetEvent[]): Promise<void> {
  const lists = client.getQueryCache().findAll({ queryKey: ['list_missions'] })
  const touched = new Set(events.filter(event => event.kind !== 'usage').map(event => event.mission_id))
  touched.delete(null)
  const ids = [...touched] as string[]
  if (lists.length === 0 || ids.length === 0) return
  const agents = new Set(lists.flatMap(({ queryKey }) => (queryKey[1] as MissionFilter).agent ?? []))
  const news = await newsOf(ids, [...agents])
  await Promise.all(lists.map(list => mend(client, list as Query<MissionPages>, news)))
}

async function newsOf(ids: readonly string[], agents: readonly string[]): Promise<News> {
  const fresh = await named(ids)
  const ofAgents = new Map<string, ReadonlyMap<string, Mission>>()
  for (const agent of agents) ofAgents.set(agent, await named(ids, agent))
  return {
    fresh,
    gone: new Set(ids.filter(id => !fresh.has(id))),
    isOf: ({ id }, agent) => ofAgents.get(agent)?.has(id) ?? false,
  }
}

async function named(ids: readonly string[], agent?: string): Promise<Map<string, Mission>> {
  const found = new Map<string, Mission>()
  for (let at = 0; at < ids.length; at += BATCH) {
    const { missions } = await ask('list_missions', { ids: ids.slice(at, at + BATCH), agent, limit: BATCH })
    for (const mission of missions) found.set(mission.id, mission)
  }
  return found
}

async function mend(client: QueryClient, list: Query<MissionPages>, news: News): Promise<void> {
  // A page that is still loading may be older than these events, and would overwrite the update.
  if (list.state.fetchStatus === 'fetching') await list.promise?.catch(() => {})
  const filter = list.queryKey[1] as MissionFilter
  client.setQueryData<MissionPages>(list.queryKey, pages => pages && mended(pages, filter, news))
}

/** The pages of one list with the missions in their right places. Pages without a change stay the same. */
export function mended({ pages, pageParams }: MissionPages, filter: MissionFilter, news: News): MissionPages {
  const { fresh, gone } = news
  const timeOf = (mission: Mission): string => (byEnd(filter) ? mission.ended_at : mission.created_at) ?? ''
  const kept = new Set<string>()
  const stays = (old: Mission): boolean => {
    const now = fresh.get(old.id) ?? old
    if (gone.has(old.id) || (now !== old && (!fits(now, filter, news) || timeOf(now) !== timeOf(old)))) return false
    kept.add(old.id)
    return true
  }
  const next = pages.map((page): MissionPage => {
    if (!page.missions.some(({ id }) => fresh.has(id) || gone.has(id))) return page
    return { ...page, missions: page.missions.filter(stays).map(old => fresh.get(old.id) ?? old) }
  })
  const isWhole = next.at(-1)?.cursor === undefined
  const last = next.findLast(({ missions }) => missions.length)?.missions.at(-1)
  // A mission that is older than all loaded pages comes with its own page.
  const isWithin = (mission: Mission) => isWhole || (last !== undefined && timeOf(mission) >= timeOf(last))
  const added = [...fresh.values()].filter(each => !kept.has(each.id) && fits(each, filter, news) && isWithin(each))
  for (const mission of added) insert(next, mission, timeOf)
  return { pages: next, pageParams }
}

/** Inserts a mission by its time, newest first. */
function insert(pages: MissionPage[], mission: Mission, timeOf: (mission: Mission) => string): void {
  const comesBefore = (other: Mission) => timeOf(mission) >= timeOf(other)
  const found = pages.findIndex(({ missions }) => missions.some(comesBefore))
  const at = found < 0 ? pages.length - 1 : found
  const page = pages[at]!
  const index = page.missions.findIndex(comesBefore)
  pages[at] = { ...page, missions: page.missions.toSpliced(index < 0 ? page.missions.length : index, 0, mission) }
}

const byEnd = ({ order, ended_since }: MissionFilter): boolean => order === 'ended' || ended_since !== undefined
const includes = (text: string, part: string): boolean => text.toLowerCase().includes(part)

/** The same filter as on the server, so that a mission can be added or removed without loading the list. */
export function fits(mission: Mission, filter: MissionFilter, { isOf }: Pick<News, 'isOf'>): boolean {
  const { project_id, status, tag, agent, text, ids, parent_mission_id, result, ended_since, created_since } = filter
  const part = text?.toLowerCase()
  return (
    (!project_id || mission.project_id.startsWith(project_id)) &&
    (!status || [status].flat().includes(mission.status)) &&
    (!tag || mission.tags.includes(tag)) &&
    (!agent || isOf(mission, agent)) &&
    (!ids || ids.includes(mission.id)) &&
    (!parent_mission_id || mission.parent_mission_id === parent_mission_id) &&
    (!result || mission.result === result) &&
    (!byEnd(filter) || (OVER.includes(mission.status) && mission.ended_at !== null)) &&
    (!ended_since || (mission.ended_at !== null && mission.ended_at >= ended_since)) &&
    (!created_since || mission.created_at >= created_since) &&
    (!part ||
      includes(mission.title, part) ||
      includes(mission.detailed_prompt, part) ||
      (ID_PREFIX.test(part) && mission.id.startsWith(part)))
  )
}
