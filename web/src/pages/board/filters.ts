import { useMemo } from 'react'
import { useSearchParams } from 'wouter'
import { STATUSES, type Status } from '../../kit/words.ts'
import type { MissionFilter } from '../../live/mending.ts'

/** The parameters of the address that filter missions. */
export const NARROWING = ['project', 'agent', 'tag', 'state', 'since', 'q'] as const
export type Narrowing = (typeof NARROWING)[number]

export interface Filters {
  get(name: Narrowing): string
  set(name: Narrowing | 'view' | 'order', value: string | null): void
  clear(): void
  view: 'board' | 'list'
  order: 'created' | 'ended'
  state: Status | undefined
  /** For the server, without the status. */
  filter: MissionFilter
  isNarrowed: boolean
  /** Only the project is filtered, so the server knows the counts. */
  isCounted: boolean
  /** All of it as in the address. */
  search: string
}

export const SINCE = [
  ['1', 'Created today'],
  ['7', 'Last 7 days'],
  ['30', 'Last 30 days'],
  ['90', 'Last 90 days'],
] as const

/** The beginning of the day so many days ago, today included. It stays the same all day, and so does the list. */
function sinceDays(days: string): string | undefined {
  if (!SINCE.some(([value]) => value === days)) return undefined
  const day = new Date()
  day.setHours(0, 0, 0, 0)
  day.setDate(day.getDate() - Number(days) + 1)
  return day.toISOString()
}

/** All filters are in the address, so that a view can be linked, reloaded and found in the history. */
export function useFilters(): Filters {
  const [search, setSearch] = useSearchParams()
  return useMemo(() => {
    const get = (name: Narrowing): string => search.get(name) ?? ''
    const state = STATUSES.find(each => each === search.get('state'))
    const filter: MissionFilter = {
      project_id: get('project') || undefined,
      agent: get('agent') || undefined,
      tag: get('tag') || undefined,
      created_since: sinceDays(get('since')),
      text: get('q').trim().slice(0, 200) || undefined,
    }
    return {
      get,
      set: (name, value) =>
        setSearch(
          before => {
            const next = new URLSearchParams(before)
            if (value) next.set(name, value)
            else next.delete(name)
            return next
          },
          { replace: name === 'q' },
        ),
      clear: () =>
        setSearch(
          before => new URLSearchParams([...before].filter(([name]) => !NARROWING.some(each => each === name))),
        ),
      view: search.get('view') === 'list' ? 'list' : 'board',
      order: search.get('order') === 'ended' ? 'ended' : 'created',
      state,
      filter,
      isNarrowed: NARROWING.some(name => search.has(name)),
      isCounted: !filter.agent && !filter.tag && !filter.text && !filter.created_since,
      search: search.toString(),
    }
  }, [search, setSearch])
}
