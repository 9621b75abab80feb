import type { Spending } from '../domain/fleet.ts'
import type { Project } from '../domain/project.ts'
import { NO_USAGE, plus, type Session, Usage } from '../domain/session.ts'
import type { Reason } from '../domain/waiting.ts'
import type { Change } from '../store/index.ts'
import { liveSessions } from './capacity.ts'
import type { Fleet } from './fleet.ts'
import { all, derivedId, put } from './records.ts'
import { fullWindow } from './windows.ts'

/** Why nothing of this agent may start on this project now, other than a lack of slots. */
export async function holdOn(fleet: Fleet, agentName: string, project: Project): Promise<Reason | null> {
  return (await rateLimit(fleet, agentName)) ?? (await spentBudget(fleet, project))
}

async function rateLimit(fleet: Fleet, agentName: string): Promise<Reason | null> {
  const { provider } = fleet.agents.named(agentName)
  const known = (await fleet.store.get('providers', provider))?.value
  if (!known) return null
  if (known.held_until && known.held_until > fleet.now())
    return {
      kind: 'rate_limit',
      until: known.held_until,
      text: `the rate limit of ${provider} lasts until ${known.held_until}`,
    }
  return fullWindow(known, fleet.settings.windowLimit, fleet.now())
}

interface DaysBudget {
  whose: string
  limit: number
  spent: number
}

/** The budgets for today that a session on this project draws on, with what all others have spent by now. */
async function budgetsToday(fleet: Fleet, project: Project, beside: string | null = null): Promise<DaysBudget[]> {
  const limits = [
    { whose: 'the fleet', limit: fleet.settings.dailyBudget, counts: () => true },
    {
      whose: `project ${project.name}`,
      limit: project.daily_budget_usd,
      counts: ({ project_id }: Spent) => project_id === project.id,
    },
  ]
  if (limits.every(({ limit }) => limit === null)) return []
  const today = await spentToday(fleet, beside)
  const cost = (counts: (spent: Spent) => boolean): number =>
    today.filter(counts).reduce((sum, { usage }) => sum + usage.cost_usd, 0)
  return limits.flatMap(({ whose, limit, counts }) => (limit === null ? [] : [{ whose, limit, spent: cost(counts) }]))
}

export interface Spent {
  project_id: string
  usage: Usage
}

/** What was used today, as budgets count it: by sessions that ended today, and by those at work, but one. */
export async function spentToday(fleet: Fleet, beside: string | null = null): Promise<Spent[]> {
  const ended = await Array.fromAsync(all(fleet, 'spending', 'day', [dayOf(fleet.now())]))
  const live = (await liveSessions(fleet)).filter(({ id }) => id !== beside)
  return [
    ...ended.map(({ value }) => ({ project_id: value.project_id, usage: Usage.parse(value) })),
    ...live.map(({ project_id, usage }) => ({ project_id, usage })),
  ]
}

async function spentBudget(fleet: Fleet, project: Project): Promise<Reason | null> {
  const empty = (await budgetsToday(fleet, project)).find(({ limit, spent }) => spent >= limit)
  if (!empty) return null
  const tomorrow = new Date(Date.parse(dayOf(fleet.now())) + DAY_MS).toISOString()
  return { kind: 'budget', until: tomorrow, text: `today's budget of ${empty.whose} is spent: $${empty.limit}` }
}

export const hasDaysBudget = ({ settings }: Fleet, project: Project): boolean =>
  settings.dailyBudget !== null || project.daily_budget_usd !== null

/** How much this session on this project may spend today in all; null: as much as it likes. */
export async function leftToday(fleet: Fleet, project: Project, session: string | null): Promise<number | null> {
  const lefts = (await budgetsToday(fleet, project, session)).map(({ limit, spent }) => Math.max(0, limit - spent))
  return lefts.length ? Math.min(...lefts) : null
}

const DAY_MS = 24 * 3600 * 1000
/** The day that budgets count, of UTC. */
export const dayOf = (time: string): string => time.slice(0, 10)

/** What a finished session adds to its day. Part of the commit that ends it, so that nothing is counted twice. */
export async function spent(fleet: Fleet, session: Session): Promise<Change[]> {
  const { usage, agent, project_id } = session
  const model = session.used_model ?? session.model
  if (Object.values(usage).every(count => count === 0)) return []
  const day = dayOf(session.ended_at ?? fleet.now())
  const id = derivedId('spending', day, project_id, agent, ...(model === null ? [] : [model]))
  const before = await fleet.store.get('spending', id)
  const value: Spending = {
    id,
    day,
    project_id,
    agent,
    model,
    sessions: (before?.value.sessions ?? 0) + 1,
    ...plus(before ? Usage.parse(before.value) : NO_USAGE, usage),
  }
  return [put('spending', value, before?.version ?? 'absent')]
}
