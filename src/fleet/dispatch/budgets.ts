import type { Mission } from '../../domain/records/mission.ts'
import type { Project } from '../../domain/records/project.ts'
import { isOver } from '../../domain/rules/delegation.ts'
import { effective } from '../../domain/rules/effective.ts'
import { spentInWords } from '../../domain/rules/spent.ts'
import type { Fleet } from '../fleet.ts'
import { childrenOf, costsOf } from '../records.ts'
import { defaultsOf } from './capacity.ts'
import { budgetsToday, THE_FLEET } from './holds.ts'

/** Money that a session may spend, as part of a larger sum. */
export interface Budget {
  limitUsd: number
  /** What others spent, and earlier sessions of the same mission. */
  usedUsd: number
  /** Null for the mission's own budget, otherwise whose daily budget it is. */
  daysOf: string | null
  /** How to get more of it. */
  try: string
}

/**
 * What is left of a mission's budget, not counting what its live session spends. Null: it has none. The budget is for
 * all its sessions until a person raises it. Sub-missions draw on it: live ones by what they were given, ended ones by
 * what they spent.
 */
export async function budgetLeft(fleet: Fleet, mission: Mission, project: Project): Promise<number | null> {
  const own = await ownBudget(fleet, mission, project)
  return own && leftOf(own)
}

export async function ownBudget(fleet: Fleet, mission: Mission, project: Project): Promise<Budget | null> {
  const { maxBudgetUsd: limitUsd } = effective(mission, project, defaultsOf(fleet))
  if (limitUsd === null) return null
  const shares = await Promise.all((await childrenOf(fleet, mission.id)).map(child => shareOf(fleet, child)))
  const { ended: earlier } = await costsOf(fleet, mission.id)
  const usedUsd = shares.reduce((total, share) => total + share, earlier)
  return { limitUsd, usedUsd, daysOf: null, try: raiseOwn(mission) }
}

/** Every budget that a session of this mission draws on. */
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

/** The budget that is used up first. */
export const tightest = (budgets: readonly Budget[]): Budget | null =>
  budgets.reduce<Budget | null>((least, each) => (least && leftOf(least) <= leftOf(each) ? least : each), null)

const sum = (dollars: number): string => `$${Number(dollars.toFixed(4))}`

/** Why nothing more may be spent, after a session that has spent this much. */
export function overBudget({ limitUsd, usedUsd, daysOf }: Budget, spentUsd: number): string {
  // People of one project read it, and the sum would tell them what the others spent.
  if (daysOf === THE_FLEET) return `Today's budget of the fleet, ${sum(limitUsd)}, is spent.`
  const all = usedUsd + spentUsd
  return daysOf === null
    ? `It reached its budget of ${sum(limitUsd)}${spentInWords(all, limitUsd, 'spent')}`
    : `Today's budget of ${daysOf}, ${sum(limitUsd)}, is spent${spentInWords(all, limitUsd, 'used today')}`
}

const shareOf = async (fleet: Fleet, child: Mission): Promise<number> =>
  isOver(child) ? spentBy(fleet, child) : (child.max_budget_usd ?? 0)

async function spentBy(fleet: Fleet, mission: Mission): Promise<number> {
  const children = await Promise.all((await childrenOf(fleet, mission.id)).map(child => shareOf(fleet, child)))
  const { ended, live } = await costsOf(fleet, mission.id)
  return children.reduce((total, share) => total + share, ended + live)
}
