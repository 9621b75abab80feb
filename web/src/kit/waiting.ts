import { useMemo, useRef } from 'react'
import type { Output } from '../api/client.ts'
import { useAsk, useMissions } from '../live/data.ts'
import type { Mission } from '../live/mending.ts'

type Inbox = Output<'list_inbox'>

/** One thing that waits for a person. */
export type Entry =
  | { kind: 'question'; id: string; at: string; mission_id: string; question: Inbox['questions'][number] }
  | { kind: 'plan'; id: string; at: string; plan: Inbox['plans'][number] }
  /** Mail of a team: to this person, or held back until somebody releases it. */
  | { kind: 'mail'; id: string; at: string; mail: Inbox['mail'][number] }
  /** stuck: it cannot continue, because of a limit or files in the way. */
  | { kind: 'review' | 'conflict' | 'stuck' | 'failure'; id: string; at: string; mission: Mission }

export type EntryKind = Entry['kind']

/** Stopped agents come first, then what blocks others, then what can wait. */
const ORDER: readonly EntryKind[] = ['question', 'conflict', 'stuck', 'mail', 'plan', 'review', 'failure']
const MOST = 200

export function useWaiting() {
  const inbox = useAsk('list_inbox', { limit: MOST })
  const asking = useMissions({ status: 'needs_input', limit: MOST }).missions
  const entries = useMemo(() => entriesOf(inbox.data), [inbox.data])
  // Keeps the titles of missions whose questions were answered but are still on the page.
  const titles = useRef(new Map<string, string>()).current
  for (const { id, title } of asking) titles.set(id, title)
  return { entries, count: inbox.data?.count ?? 0, titles, inbox, isPending: inbox.isPending }
}

export function entriesOf(inbox: Inbox | undefined): Entry[] {
  const { questions = [], plans = [], missions = [], mail = [], failures = [] } = inbox ?? {}
  const entries: Entry[] = [
    ...questions.map(each => ({
      kind: 'question' as const,
      id: each.id,
      at: each.created_at,
      mission_id: each.mission_id,
      question: each,
    })),
    ...plans.map(plan => ({ kind: 'plan' as const, id: plan.id, at: plan.updated_at, plan })),
    ...missions.map(mission => ({ kind: kindOf(mission), id: mission.id, at: mission.updated_at, mission })),
    ...mail.map(each => ({ kind: 'mail' as const, id: each.id, at: each.created_at, mail: each })),
    ...failures.map(mission => ({
      kind: 'failure' as const,
      id: mission.id,
      at: mission.ended_at ?? mission.updated_at,
      mission,
    })),
  ]
  const rank = ({ kind }: Entry): number => ORDER.indexOf(kind)
  return entries.sort((one, other) => rank(one) - rank(other) || one.at.localeCompare(other.at))
}

function kindOf({ status, status_reason }: Mission): 'review' | 'conflict' | 'stuck' {
  if (status_reason?.code === 'conflict') return 'conflict'
  return status === 'review' ? 'review' : 'stuck'
}

/** The page that shows all of it. */
export function placeOf(entry: Entry): string {
  if (entry.kind === 'question') return `/missions/${entry.mission_id}`
  if (entry.kind === 'plan') return `/plans/${entry.id}`
  if (entry.kind === 'mail') return `/teams/${entry.mail.team_id}?thread=${entry.mail.thread}`
  return entry.kind === 'review' || entry.kind === 'conflict' ? `/review/${entry.id}` : `/missions/${entry.id}`
}

/** The project that an entry belongs to. */
export function projectOf(entry: Entry): string {
  if (entry.kind === 'question') return entry.question.project_id
  if (entry.kind === 'mail') return entry.mail.project_id
  return entry.kind === 'plan' ? entry.plan.project_id : entry.mission.project_id
}
