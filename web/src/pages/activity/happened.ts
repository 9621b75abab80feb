import { useInfiniteQuery, useQueryClient } from '@tanstack/react-query'
import { useEffect, useMemo, useState } from 'react'
import { isBy } from '../../../../src/domain/rules/actors.ts'
import { ask, type Input } from '../../api/client.ts'
import { onEvents } from '../../live/data.ts'
import type { FleetEvent } from '../../live/fleet-events.ts'

type Filter = Pick<Input<'list_events'>, 'project_id' | 'mission_id' | 'kinds' | 'actor'>

const PAGE = 100
/** More than anybody reads. If the page is open all day, it starts again from the newest events. */
const MOST_SINCE = 500

/** Events, newest first: those before the page was opened, and those since. */
export function useHappened(filter: Filter) {
  const key = JSON.stringify(filter)
  const [since, setSince] = useState<{ key: string; events: FleetEvent[] }>({ key, events: [] })
  useEffect(
    () =>
      onEvents(events => {
        const fitting = events.filter(event => fits(event, JSON.parse(key) as Filter))
        if (fitting.length)
          setSince(before => ({ key, events: [...(before.key === key ? before.events : []), ...fitting] }))
      }),
    [key],
  )
  const client = useQueryClient()
  const isFull = since.events.length > MOST_SINCE
  useEffect(() => {
    if (!isFull) return
    client.resetQueries({ queryKey: ['list_events'] })
    setSince({ key, events: [] })
  }, [client, isFull, key])
  const pages = useInfiniteQuery({
    queryKey: ['list_events', filter],
    queryFn: ({ pageParam, signal }) => ask('list_events', { ...filter, limit: PAGE, before: pageParam }, { signal }),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: page => (page.more ? page.start : undefined),
  })
  const events = useMemo(() => {
    const all = new Map<string, FleetEvent>()
    const read = pages.data?.pages.toReversed().flatMap(page => page.events) ?? []
    for (const event of [...read, ...(since.key === key ? since.events : [])]) all.set(event.cursor, event)
    return [...all.values()].reverse()
  }, [pages.data, since, key])
  return {
    events,
    isPending: pages.isPending,
    error: pages.error,
    refetch: () => void pages.refetch(),
    older: pages.hasNextPage ? { busy: pages.isFetchingNextPage, read: () => void pages.fetchNextPage() } : undefined,
  }
}

/** The same filter as on the server. */
function fits(event: FleetEvent, { project_id, mission_id, kinds, actor }: Filter): boolean {
  return (
    (!project_id || event.project_id === project_id) &&
    (!mission_id || event.mission_id === mission_id) &&
    (!kinds || [kinds].flat().includes(event.kind)) &&
    (!actor || isBy(event, actor))
  )
}
