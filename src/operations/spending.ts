import * as z from 'zod'
import { Spending } from '../domain/records/fleet.ts'
import type { Project } from '../domain/records/project.ts'
import { NO_USAGE, plus, Usage } from '../domain/records/session.ts'
import { dayOf, type Spent, spentSince } from '../fleet/dispatch/holds.ts'
import type { Fleet } from '../fleet/fleet.ts'
import { lookUp, readable } from '../fleet/records.ts'
import { ProjectRef } from './inputs.ts'
import { query } from './operation.ts'

const MOST_PROJECTS = 1000
/** One answer adds up at most this many sessions. */
const MOST_SESSIONS = 3000
const DAY_MS = 24 * 3600 * 1000

const Budget = z.object({ usage: Usage, budget_usd: z.number().nullable().describe('for the day; empty: none') })
export const Budgets = Budget.extend({
  projects: z
    .array(Budget.extend({ project_id: z.string(), name: z.string() }))
    .describe('projects that used something today or have a budget, the most expensive first'),
})

export const spending = [
  query({
    name: 'list_spending',
    may: 'costs.read',
    mcp: 'history',
    summary: 'Show usage by day, project, agent and model, newest day first',
    http: 'GET /api/spending',
    input: z.object({ days: z.number().int().min(1).max(366).default(7), project_id: ProjectRef.optional() }),
    output: z.object({
      spending: z
        .array(Spending.omit({ id: true }))
        .describe('of sessions that have ended, and for today also of running ones; days are in UTC'),
      more: z.boolean().describe('the oldest entries are left out'),
    }),
    run: async ({ fleet }, { days, project_id }) => {
      const project = project_id && (await lookUp(fleet, 'projects', project_id)).value.id
      const { rows, more } = await spentSince(fleet, firstDay(fleet, days))
      return { spending: project ? rows.filter(each => each.project_id === project) : rows, more }
    },
  }),
  query({
    name: 'list_mission_costs',
    may: 'costs.read',
    mcp: 'history',
    summary: 'Show what missions cost in the last days, the most expensive first',
    http: 'GET /api/spending/missions',
    input: z.object({
      days: z.number().int().min(1).max(366).default(7),
      project_id: ProjectRef.optional(),
      limit: z.number().int().min(1).max(200).default(20),
    }),
    output: z.object({
      missions: z.array(
        z.object({
          mission_id: z.string(),
          title: z.string().describe('empty: the mission was deleted'),
          project_id: z.string(),
          sessions: z.number().int(),
          usage: Usage,
        }),
      ),
      more: z.boolean().describe('only the newest sessions were counted'),
    }),
    run: async ({ fleet }, { days, project_id, limit }) => {
      const project = project_id && (await lookUp(fleet, 'projects', project_id)).value.id
      return missionCosts(fleet, { from: firstDay(fleet, days), project, limit })
    },
  }),
  query({
    name: 'get_budgets',
    may: 'costs.read',
    mcp: 'history',
    summary: "Show today's budgets of the fleet and of projects with their usage, including running agents",
    http: 'GET /api/budgets',
    input: z.object({}),
    output: Budgets.extend({ day: z.iso.date().describe('in UTC, like budgets') }),
    run: async ({ fleet }) => ({ day: dayOf(fleet.now()), ...(await budgetsOf(fleet)) }),
  }),
]

const firstDay = (fleet: Fleet, days: number): string =>
  dayOf(new Date(Date.parse(fleet.now()) - (days - 1) * DAY_MS).toISOString())

/** Sums the sessions that began in this time, by mission. */
async function missionCosts(fleet: Fleet, { from, project, limit }: { from: string; project?: string; limit: number }) {
  const index = project ? { index: 'project', equals: [project] } : { index: 'created' }
  const sessions = await fleet.store.find('sessions', { ...index, from, newestFirst: true, limit: MOST_SESSIONS })
  const sums = new Map<string, { mission_id: string; project_id: string; sessions: number; usage: Usage }>()
  for (const { value } of sessions.items) {
    const { mission_id, project_id } = value
    const sum = sums.get(mission_id) ?? { mission_id, project_id, sessions: 0, usage: NO_USAGE }
    sums.set(mission_id, { ...sum, sessions: sum.sessions + 1, usage: plus(sum.usage, value.usage) })
  }
  const most = [...sums.values()].sort((a, b) => b.usage.cost_usd - a.usage.cost_usd).slice(0, limit)
  const missions = most.map(async each => {
    const mission = (await readable(fleet, 'missions', each.mission_id))?.value
    return { ...each, title: mission?.title ?? '' }
  })
  return { missions: await Promise.all(missions), more: sessions.cursor !== undefined }
}

/** The day's budgets with their usage. */
export async function budgetsOf(fleet: Fleet): Promise<z.infer<typeof Budgets>> {
  const { rows: spent } = await spentSince(fleet, dayOf(fleet.now()))
  return { usage: sumOf(spent), budget_usd: fleet.settings.dailyBudget, projects: await ofProjects(fleet, spent) }
}

const sumOf = (spent: readonly Spent[]): Usage => spent.reduce((sum, each) => plus(sum, each), NO_USAGE)

async function ofProjects(fleet: Fleet, spent: readonly Spent[]) {
  const { items } = await fleet.store.find('projects', { index: 'created', limit: MOST_PROJECTS })
  const used = Map.groupBy(spent, ({ project_id }) => project_id)
  const view = ({ id, name, daily_budget_usd }: Project) => ({
    project_id: id,
    name,
    usage: sumOf(used.get(id) ?? []),
    budget_usd: daily_budget_usd,
  })
  return items
    .filter(({ value }) => used.has(value.id) || value.daily_budget_usd !== null)
    .map(({ value }) => view(value))
    .toSorted((a, b) => b.usage.cost_usd - a.usage.cost_usd)
}
