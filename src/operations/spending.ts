import * as z from 'zod'
import { Spending } from '../domain/records/fleet.ts'
import type { Project } from '../domain/records/project.ts'
import { NO_USAGE, plus, Usage } from '../domain/records/session.ts'
import { dayOf, type Spent, spentSince } from '../fleet/dispatch/holds.ts'
import type { Fleet } from '../fleet/fleet.ts'
import { lookUp } from '../fleet/records.ts'
import { ProjectRef } from './inputs.ts'
import { query } from './operation.ts'

const MOST_PROJECTS = 1000
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
      const from = dayOf(new Date(Date.parse(fleet.now()) - (days - 1) * DAY_MS).toISOString())
      const { rows, more } = await spentSince(fleet, from)
      return { spending: project ? rows.filter(each => each.project_id === project) : rows, more }
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
