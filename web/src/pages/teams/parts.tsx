import { type ComponentType, lazy } from 'react'
import { useOpenCheckpoints, useOpenTasks, useRequests, useReservations, useSwarms, useUnread } from './asks.ts'
import { Letters } from './letters.tsx'
import { Rail } from './members.tsx'
import type { PartProps } from './part.ts'
import type { Team } from './words.ts'

interface PartOf {
  title: string
  view: ComponentType<PartProps>
}

/** What a team has, each part in a tab. All but the mail is loaded when it is looked at. */
export const PARTS = {
  mail: { title: 'Mail', view: Letters },
  members: { title: 'Members', view: Rail },
  tasks: { title: 'Tasks', view: lazy(() => import('./tasks.tsx')) },
  blackboard: { title: 'Blackboard', view: lazy(() => import('./blackboard.tsx')) },
  checkpoints: { title: 'Checkpoints', view: lazy(() => import('./checkpoints.tsx')) },
  swarms: { title: 'Swarms', view: lazy(() => import('./swarms.tsx')) },
  files: { title: 'Files', view: lazy(() => import('./files.tsx')) },
  requests: { title: 'Requests', view: lazy(() => import('./requests.tsx')) },
} satisfies Record<string, PartOf>
export type Part = keyof typeof PARTS

/** How much is open in each part. */
export function useCounts(team: Team): Partial<Record<Part, number>> {
  const requests = useRequests(team).data?.requests
  return {
    members: team.agents,
    tasks: useOpenTasks(team).data?.tasks.length,
    blackboard: useUnread(team).data?.posts.filter(({ read }) => !read).length,
    checkpoints: useOpenCheckpoints(team).data?.checkpoints.length,
    swarms: useSwarms(team).data?.swarms.filter(({ ended_at }) => !ended_at).length,
    files: useReservations(team).data?.reservations.length,
    requests: requests?.filter(({ state }) => state === 'requested' || state === 'waiting').length,
  }
}
