import type { Spending } from '../../domain/records/fleet.ts'
import type { Project } from '../../domain/records/project.ts'
import { NO_USAGE, plus, type Session, Usage } from '../../domain/records/session.ts'
import type { Reason } from '../../domain/rules/waiting.ts'
import type { Change } from '../../store/index.ts'
import type { Fleet } from '../fleet.ts'
import { derivedId, ownRecord, put } from '../records.ts'
import { liveSessions } from './capacity.ts'
import { fullWindow } from './windows.ts'

export const THE_FLEET = 'the fleet'

/** Why nothing of this agent may start on this project now, other than a lack of slots. */
export async function holdOn(fleet: Fleet, agentName: string, project: Project): Promise<Reason | null> {
  return (await rateLimit(fleet, agentName)) ?? (await spentBudget(fleet, project))
}

async function rateLimit(fleet: Fleet, agentName: string): Promise<Reason | null> {
  const { provider } = fleet.agents.named(agentName)
  const known = (await ownRecord(fleet.store, 'providers', provider)).value
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
  daysOf: string
  limitUsd: number
  usedUsd: number
  /** How a person gets more of it. */
  try: string
}

/** Today's budgets that a session on this project draws on, with what all others have spent so far. */
export async function budgetsToday(
  fleet: Fleet,
  project: Project,
  beside: string | null = null,
): Promise<DaysBudget[]> {
  const limits = [
    {
      daysOf: THE_FLEET,
      limit: fleet.settings.dailyBudget,
      counts: () => true,
      raise: 'daily_budget in fleet.toml, or FLEET_DAILY_BUDGET',
    },
    {
      daysOf: `project ${project.name}`,
      limit: project.daily_budget_usd,
      counts: ({ project_id }: Spent) => project_id === project.id,
      raise: `fleet project set ${project.id} --daily-budget <usd>`,
    },
  ]
  if (limits.every(({ limit }) => limit === null)) return []
  const { rows: today } = await spentSince(fleet, dayOf(fleet.now()), beside)
  const cost = (counts: (spent: Spent) => boolean): number =>
    today.filter(counts).reduce((sum, { cost_usd }) => sum + cost_usd, 0)
  return limits.flatMap(({ daysOf, limit, counts, raise }) =>
    limit === null
      ? []
      : [{ daysOf, limitUsd: limit, usedUsd: cost(counts), try: `Wait until tomorrow (UTC) or raise it (${raise})` }],
  )
}

/** What one session adds to its day. */
export type Spent = Omit<Spending, 'id'>

const MOST_ROWS = 5000

/**
 * What ended and live sessions used since a day, except one session. Budgets and costs are both counted from here.
 * Newest day first; `more` says that older days are left out.
 */
export async function spentSince(
  fleet: Fleet,
  from: string,
  beside: string | null = null,
): Promise<{ rows: Spent[]; more: boolean }> {
  const today = dayOf(fleet.now())
  // Live sessions are read first: one that ends in between is counted twice for a moment, but is never missing.
  const shown = (await Promise.all((await liveSessions(fleet)).map(({ id }) => fleet.store.get('sessions', id))))
    .flatMap(stored => stored?.value ?? [])
    .filter(session => session.id !== beside && hasUsed(session))
  const live = shown.filter(({ status }) => status !== 'ended')
  const justEnded = shown.filter(({ status }) => status === 'ended').map(session => rowOf(fleet, session))
  const ended = await fleet.store.find('spending', { index: 'day', from, newestFirst: true, limit: MOST_ROWS })
  const listed = ended.items.map(({ value }) => value)
  const old = fleet.store.listsLag ? listed.filter(({ day }) => day === today).map(({ id }) => id) : []
  const now = await Promise.all([...new Set([...justEnded, ...old])].map(id => fleet.store.get('spending', id)))
  const byId = new Map([...listed, ...now.flatMap(stored => stored?.value ?? [])].map(row => [row.id, row]))
  const rows = [...live.map(session => shareOf(session, today)), ...[...byId.values()].map(({ id, ...row }) => row)]
  return { rows, more: ended.cursor !== undefined }
}

/** The record that an ended session adds its usage to. */
function rowOf(fleet: Fleet, session: Session): string {
  const { day, project_id, agent, model } = shareOf(session, dayOf(session.ended_at ?? fleet.now()))
  return derivedId('spending', day, project_id, agent, ...(model === null ? [] : [model]))
}

const hasUsed = ({ usage }: Session): boolean => Object.values(usage).some(count => count !== 0)

const shareOf = ({ project_id, agent, model, used_model, usage }: Session, day: string): Spent => ({
  ...{ day, project_id, agent, model: used_model ?? model, sessions: 1 },
  ...usage,
})

async function spentBudget(fleet: Fleet, project: Project): Promise<Reason | null> {
  const empty = (await budgetsToday(fleet, project)).find(({ limitUsd, usedUsd }) => usedUsd >= limitUsd)
  if (!empty) return null
  const tomorrow = new Date(Date.parse(dayOf(fleet.now())) + DAY_MS).toISOString()
  return { kind: 'budget', until: tomorrow, text: `today's budget of ${empty.daysOf} is spent: $${empty.limitUsd}` }
}

export const hasDaysBudget = ({ settings }: Fleet, project: Project): boolean =>
  settings.dailyBudget !== null || project.daily_budget_usd !== null

const DAY_MS = 24 * 3600 * 1000
/** The day that budgets count, in UTC. */
export const dayOf = (time: string): string => time.slice(0, 10)

/** What an ended session adds to its day. It is part of the commit that ends the session, so nothing counts twice. */
export async function spent(fleet: Fleet, session: Session): Promise<Change[]> {
  if (!hasUsed(session)) return []
  const share = shareOf(session, dayOf(session.ended_at ?? fleet.now()))
  const id = rowOf(fleet, session)
  const before = await fleet.store.get('spending', id)
  const value: Spending = {
    ...share,
    id,
    sessions: (before?.value.sessions ?? 0) + 1,
    ...plus(before ? Usage.parse(before.value) : NO_USAGE, share),
  }
  return [put('spending', value, before?.version ?? 'absent')]
}
