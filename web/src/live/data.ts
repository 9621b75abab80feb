import {
  keepPreviousData,
  QueryClient,
  type UseQueryResult,
  useInfiniteQuery,
  useQuery,
  useQueryClient,
} from '@tanstack/react-query'
import { useCallback, useMemo, useRef, useState, useSyncExternalStore } from 'react'
import { ask, getReady, type Input, type Name, newKey, type Output, Refused, Unreachable } from '../api/client.ts'
import { afterAMoment, complain } from '../kit/toasts.tsx'
import { type Connection, type FleetEvent, followFleet } from './fleet-events.ts'
import { lookWhoIAm, useMay } from './me.ts'
import { type MissionFilter, mendMissionLists } from './mending.ts'
import { STALE } from './stale.ts'

/** Events in quick succession lead to one refresh. */
const GATHER_MS = 150
const LONGEST_LOOK_MS = 2000
/** Two hundred agents spend money all the time, and nobody reads faster than this. */
const USAGE_MS = 2000
const RETRY_MS = 1500

const pause = (ms: number): Promise<void> => new Promise(resolve => setTimeout(resolve, ms))

export const queryClient = new QueryClient({
  defaultOptions: {
    queries: {
      // Nothing polls: an answer is valid until an event says otherwise.
      staleTime: Number.POSITIVE_INFINITY,
      gcTime: 5 * 60_000,
      refetchOnWindowFocus: false,
      refetchOnReconnect: false,
      retry: (_, error) => error instanceof Unreachable,
      retryDelay: RETRY_MS,
      networkMode: 'always',
    },
  },
})

let connection: Connection = 'connecting'
const watchers = new Set<() => void>()
const listeners = new Set<(events: FleetEvent[]) => void>()

export const useConnection = (): Connection =>
  useSyncExternalStore(
    watcher => {
      watchers.add(watcher)
      return () => watchers.delete(watcher)
    },
    () => connection,
  )

/** Calls the listener with new events, each once. */
export function onEvents(listener: (events: FleetEvent[]) => void): () => void {
  listeners.add(listener)
  return () => listeners.delete(listener)
}

/** Keeps the cache up to date by the event stream, while the page is open. */
export function startFollowing(from: string): () => void {
  let gathered: FleetEvent[] = []
  let isDue = false
  const lookSoon = (ms = GATHER_MS) => {
    if (!isDue) setTimeout(look, ms)
    isDue = true
  }
  let isDueLater = false
  const lookLater = () => {
    if (!isDueLater)
      setTimeout(() => {
        isDueLater = false
        lookSoon()
      }, USAGE_MS)
    isDueLater = true
  }
  const look = async () => {
    const events = gathered
    gathered = []
    const looked = refresh(events).catch(error => {
      // The server went away: refresh for these events when it is back.
      if (!(error instanceof Unreachable)) return queryClient.invalidateQueries({ queryKey: ['list_missions'] })
      gathered.unshift(...events)
      lookSoon(RETRY_MS)
    })
    // A refresh waits for the one before. If each one started over, a slow answer would never arrive.
    await Promise.race([looked, pause(LONGEST_LOOK_MS)])
    isDue = false
    if (gathered.length) lookSoon()
  }
  return followFleet(from, {
    events(events) {
      for (const listener of listeners) listener(events)
      gathered.push(...events)
      if (events.every(({ kind }) => kind === 'usage')) lookLater()
      else lookSoon()
    },
    missed: () => void queryClient.invalidateQueries(),
    connection(next) {
      // The server ends the stream when roles change, so this may be somebody with others.
      if (connection !== 'connecting' && (next === 'live' || next === 'no-role')) void lookWhoIAm(queryClient)
      connection = next
      for (const watcher of watchers) watcher()
    },
  })
}

async function refresh(events: FleetEvent[]): Promise<void> {
  const answers = queryClient.invalidateQueries({
    predicate: ({ queryKey: [name, input], state }) => {
      const touches = STALE[name as Name] as undefined | ((e: FleetEvent, input: unknown, answer: unknown) => boolean)
      return touches !== undefined && events.some(event => touches(event, input, state.data))
    },
  })
  await Promise.all([answers, mendMissionLists(queryClient, events)])
}

export const keyOf = <N extends Name>(name: N, input: Input<N>) => [name, input] as const

interface AskOptions {
  enabled?: boolean
  /** Show the last answer until the one for the new input is loaded. */
  keep?: boolean
  /** Ask again after this time while the page is visible, for what no event tells. */
  everyMs?: (answer: unknown) => number | false
}

/** Lists of missions are loaded page by page, with `useMissions`. */
type Askable = Exclude<Name, 'list_missions' | 'stream_events' | 'stream_session'>

/** An answer of the server, kept up to date by events. */
export function useAsk<N extends Askable>(
  name: N,
  input: Input<N>,
  { enabled = true, keep = false, everyMs }: AskOptions = {},
): UseQueryResult<Output<N>, Error> {
  // What one may not ask is not asked, anywhere on the page.
  const may = useMay(name)
  return useQuery<Output<N>, Error>({
    queryKey: keyOf(name, input),
    queryFn: ({ signal }) => ask(name, input, { signal }),
    enabled: enabled && may,
    ...(everyMs && { refetchInterval: ({ state }) => everyMs(state.data) }),
    ...(keep && { placeholderData: keepPreviousData as never }),
  })
}

/** Missions that match a filter, page by page, updated one by one. */
export function useMissions(filter: MissionFilter, { enabled = true } = {}) {
  const may = useMay('list_missions')
  const pages = useInfiniteQuery({
    queryKey: ['list_missions', filter],
    queryFn: ({ pageParam, signal }) => ask('list_missions', { ...filter, cursor: pageParam }, { signal }),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: page => page.cursor,
    enabled: enabled && may,
  })
  const missions = useMemo(() => pages.data?.pages.flatMap(page => page.missions) ?? [], [pages.data])
  return { ...pages, missions }
}

interface CommandOptions<N extends Name> {
  /** Answers that this changes without an event. */
  affects?: readonly Name[]
  done?(answer: Output<N>, input: Input<N>): void
  /** Returns whether it handled the refusal; otherwise a message shows it. */
  refused?(error: Refused): boolean
}

/**
 * A command of the person. `run` resolves to the answer, or to undefined if it was refused; then a message says why,
 * and what to do.
 */
export function useCommand<N extends Name>(name: N, options: CommandOptions<N> = {}) {
  const client = useQueryClient()
  const [underWay, setUnderWay] = useState(0)
  const latest = useRef(options)
  latest.current = options
  // After a lost answer the same key is used again, so that the server does not do it twice.
  const unanswered = useRef<{ said: string; key: string }>(undefined)
  const run = useCallback(
    async (input: Input<N>): Promise<Output<N> | undefined> => {
      setUnderWay(count => count + 1)
      const said = JSON.stringify(input)
      const key = unanswered.current?.said === said ? unanswered.current.key : newKey()
      unanswered.current = undefined
      try {
        const answer = await ask(name, input, { key }).catch(async error => {
          if (!(error instanceof Unreachable)) throw error
          await pause(RETRY_MS)
          return ask(name, input, { key })
        })
        const { affects = [], done } = latest.current
        for (const affected of affects) client.invalidateQueries({ queryKey: [affected] })
        done?.(answer, input)
        return answer
      } catch (error) {
        if (error instanceof Unreachable) unanswered.current = { said, key }
        if (!(error instanceof Refused && latest.current.refused?.(error))) complain(error)
        return undefined
      } finally {
        setUnderWay(count => count - 1)
      }
    },
    [name, client],
  )
  /** Runs once a message has closed or the page is left. Until then it can be undone. */
  const runLater = useCallback(
    async (text: string, input: Input<N>): Promise<void> => {
      await getReady(name, input)
      afterAMoment(text, () => void run(input))
    },
    [name, run],
  )
  return { run, runLater, busy: underWay > 0 }
}
