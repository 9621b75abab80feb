import { useMemo } from 'react'
import type { Output } from '../../api/client.ts'
import { useAsk } from '../../live/data.ts'
import type { Mail, Team } from './words.ts'

/** The same questions are asked by the tabs, for their numbers, and by what they show. */
type Of = Pick<Team, 'id'>

export type Running = Output<'list_running'>['tasks'][number]

const MOST = 100
/** No event tells what an agent prints. */
const LOOK_MS = 3000
const whileRunning = (answer: unknown): number | false =>
  (answer as Output<'list_running'> | undefined)?.tasks.length ? LOOK_MS : false

/** What each member at work does now, by its session. */
export function useNow({ id }: Of): ReadonlyMap<string, Running> {
  const running = useAsk('list_running', { team_id: id, limit: MOST }, { everyMs: whileRunning }).data
  return useMemo(() => new Map(running?.tasks.map(task => [task.session_id, task])), [running])
}

export const useOpenTasks = ({ id }: Of) => useAsk('team_tasks', { team_id: id, limit: MOST })
export const useSwarms = ({ id }: Of) => useAsk('swarm_list', { team_id: id })
export const useReservations = ({ id }: Of) => useAsk('team_reservations', { team_id: id })
export const useRequests = ({ id }: Of) => useAsk('spawn_status', { team_id: id, limit: MOST })
export const useUnread = ({ id }: Of) => useAsk('blackboard_read', { team_id: id, unread_only: true, limit: MOST })
export const useOpenCheckpoints = ({ id }: Of) => useAsk('checkpoint_list', { team_id: id, state: 'open', limit: MOST })

export const FIRST_MAIL = 50
export const useMail = ({ id }: Of, limit = FIRST_MAIL) => useAsk('list_mail', { team_id: id, limit }, { keep: true })

/** The messages to a member that the limits of talk hold back. */
export const heldFrom = (messages: readonly Mail[], memberId: string): Mail[] =>
  messages.filter(({ deliveries }) =>
    deliveries.some(each => each.member_id === memberId && each.state === 'queued' && each.held !== null),
  )
