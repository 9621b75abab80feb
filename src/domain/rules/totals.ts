import type { Event } from '../records/event.ts'
import type { Totals } from '../records/fleet.ts'
import { NO_USAGE, OUTCOMES, plus, Usage } from '../records/session.ts'

export const NO_TOTALS: Totals = { sessions: {}, usage: {}, restarts: 0 }

/** Agents have the names that the home gives them. Beyond so many they count as one, because each is a series. */
const MOST_AGENTS = 40
export const OTHER_AGENT = 'other'

export interface EndedSession {
  agent: string
  outcome: string
  usage: Usage
}

/** The session that this event ends. An event of an earlier version has no agent: its session's record counts. */
export function endedIn({ kind, data }: Pick<Event, 'kind' | 'data'>): EndedSession | undefined {
  const { agent, outcome, usage } = data
  if (kind !== 'session_ended' || typeof agent !== 'string' || !OUTCOMES.includes(outcome as never)) return undefined
  return { agent, outcome: outcome as string, usage: Usage.safeParse(usage).data ?? NO_USAGE }
}

/** Adds it in place: a fold goes over many. */
export function addSession({ sessions, usage }: Totals, ended: EndedSession): void {
  const isKnown = Object.hasOwn(sessions, ended.agent)
  const agent = isKnown || Object.keys(sessions).length < MOST_AGENTS ? ended.agent : OTHER_AGENT
  sessions[agent] ??= {}
  sessions[agent][ended.outcome] = (sessions[agent][ended.outcome] ?? 0) + 1
  usage[agent] = plus(usage[agent] ?? NO_USAGE, ended.usage)
}

/** The larger of two counts, one by one: a total never decreases, even if its records are gone. */
export function atLeast(one: Totals, other: Totals): Totals {
  const result = structuredClone(one)
  result.restarts = Math.max(one.restarts, other.restarts)
  for (const [agent, outcomes] of Object.entries(other.sessions)) {
    result.sessions[agent] ??= {}
    const counts = result.sessions[agent]
    for (const [outcome, count] of Object.entries(outcomes)) counts[outcome] = Math.max(counts[outcome] ?? 0, count)
  }
  for (const [agent, used] of Object.entries(other.usage)) {
    const sum = { ...(result.usage[agent] ?? NO_USAGE) }
    for (const key of Object.keys(NO_USAGE) as (keyof Usage)[]) sum[key] = Math.max(sum[key], used[key])
    result.usage[agent] = sum
  }
  return result
}
