import type { Mission } from '../../domain/records/mission.ts'
import type { Project } from '../../domain/records/project.ts'
import type { Session } from '../../domain/records/session.ts'
import { isOver } from '../../domain/rules/delegation.ts'
import { effective } from '../../domain/rules/effective.ts'
import type { Fleet } from '../fleet.ts'
import { childrenOf } from '../missions/missions.ts'
import { all } from '../records.ts'
import { defaultsOf } from './capacity.ts'
import { budgetsToday } from './holds.ts'

/** Money that a session may spend, out of a larger sum. */
export interface Budget {
  limitUsd: number
  /** By others, and by earlier sessions of the same mission. */
  usedUsd: number
  /** null: the mission's own; otherwise whose the day's budget is. */
  daysOf: string | null
  /** How to get more of it. */
  try: string
}

const cost = (sessions: readonly Session[]): number => sessions.reduce((sum, { usage }) => sum + usage.cost_usd, 0)

/**
 * What is left of a mission's budget beside what its live session spends; null: it has none. The budget is for all its
 * sessions together, until a person raises it, and its sub-missions draw on it: those at work by what they were given,
 * those that are over by what they spent.
 */
export async function budgetLeft(fleet: Fleet, mission: Mission, project: Project): Promise<number | null> {
  const own = await ownBudget(fleet, mission, project)
  return own && leftOf(own)
}

export async function ownBudget(fleet: Fleet, mission: Mission, project: Project): Promise<Budget | null> {
  const { maxBudgetUsd: limitUsd } = effective(mission, project, defaultsOf(fleet))
  if (limitUsd === null) return null
  const shares = await Promise.all((await childrenOf(fleet, mission.id)).map(child => shareOf(fleet, child)))
  const earlier = cost((await sessionsOf(fleet, mission.id)).filter(({ status }) => status === 'ended'))
  const usedUsd = shares.reduce((total, share) => total + share, earlier)
  return { limitUsd, usedUsd, daysOf: null, try: raiseOwn(mission) }
}

/** Everything that a session of this mission draws on. */
export async function budgetsOf(fleet: Fleet, mission: Mission, project: Project): Promise<Budget[]> {
  const own = await ownBudget(fleet, mission, project)
  const days = (await budgetsToday(fleet, project, mission.session_id)).map(
    (each): Budget => ({ ...each, try: `${each.try}, then fleet mission resume ${mission.id}` }),
  )
  return own ? [own, ...days] : days
}

export const leftOf = ({ limitUsd, usedUsd }: Budget): number => Math.max(0, limitUsd - usedUsd)

const raiseOwn = ({ id }: Mission): string =>
  `Raise its budget with fleet mission edit ${id} --budget <usd>, then fleet mission resume ${id}`

/** The one that is used up first. */
export const tightest = (budgets: readonly Budget[]): Budget | null =>
  budgets.reduce<Budget | null>((least, each) => (least && leftOf(least) <= leftOf(each) ? least : each), null)

const money = (dollars: number): string => `$${dollars.toFixed(dollars < 1 ? 4 : 2)}`
const sum = (dollars: number): string => `$${Number(dollars.toFixed(4))}`

/** Why nothing more may be spent, after a session that has spent so much. */
export function overBudget({ limitUsd, usedUsd, daysOf }: Budget, spentUsd: number): string {
  const all = usedUsd + spentUsd
  const over = all - limitUsd < 0.00005 ? '.' : `, ${money(all - limitUsd)} over.`
  return daysOf === null
    ? `It reached its budget of ${sum(limitUsd)}: ${money(all)} spent${over}`
    : `Today's budget of ${daysOf}, ${sum(limitUsd)}, is spent: ${money(all)} used today${over}`
}

const shareOf = async (fleet: Fleet, child: Mission): Promise<number> =>
  isOver(child) ? spentBy(fleet, child) : (child.max_budget_usd ?? 0)

async function spentBy(fleet: Fleet, mission: Mission): Promise<number> {
  const children = await Promise.all((await childrenOf(fleet, mission.id)).map(child => shareOf(fleet, child)))
  return cost(await sessionsOf(fleet, mission.id)) + children.reduce((total, share) => total + share, 0)
}

const sessionsOf = async (fleet: Fleet, missionId: string): Promise<Session[]> =>
  (await Array.fromAsync(all(fleet, 'sessions', 'mission', [missionId]))).map(({ value }) => value)
