import type { Mission } from '../../domain/records/mission.ts'
import type { Project } from '../../domain/records/project.ts'
import type { Member } from '../../domain/records/team.ts'
import { isOver } from '../../domain/rules/delegation.ts'
import { effective } from '../../domain/rules/effective.ts'
import { spentInWords } from '../../domain/rules/spent.ts'
import type { Fleet } from '../fleet.ts'
import { all, childrenOf, costsOf, current } from '../records.ts'
import { agentMemberOf } from '../teams/sessions.ts'
import { sessionsOfMember } from '../teams/teams.ts'
import { defaultsOf } from './capacity.ts'
import { budgetsToday, THE_FLEET } from './holds.ts'

/** Money that a session may spend, as part of a larger sum. */
export interface Budget {
  limitUsd: number
  /** What others spent, and earlier sessions of the same mission. */
  usedUsd: number
  /** Null for the mission's own budget, otherwise whose daily budget it is. */
  daysOf: string | null
  /** Of a member or a team, for all their sessions together. */
  sharedBy?: string
  /** How to get more of it. */
  try: string
}

/**
 * What is left of a mission's budget, not counting what its live session spends. Null: it has none. The budget is for
 * all its sessions until a person raises it. Sub-missions draw on it: live ones by what they were given, ended ones by
 * what they spent.
 */
export async function budgetLeft(fleet: Fleet, mission: Mission, project: Project): Promise<number | null> {
  const tight = tightest(await lastingBudgets(fleet, mission, project))
  return tight && leftOf(tight)
}

export async function ownBudget(fleet: Fleet, mission: Mission, project: Project): Promise<Budget | null> {
  const { maxBudgetUsd: limitUsd } = effective(mission, project, defaultsOf(fleet))
  if (limitUsd === null) return null
  // That of a member's own mission is for all its sessions, those of its tasks too.
  if (mission.member) {
    const { value: member } = await current(fleet, 'members', mission.member.id)
    return { limitUsd, usedUsd: await usedBy(fleet, member), daysOf: null, try: raiseOwn(mission) }
  }
  const { ended: earlier } = await costsOf(fleet, mission.id)
  const usedUsd = earlier + (await sharesOf(fleet, mission.id))
  return { limitUsd, usedUsd, daysOf: null, try: raiseOwn(mission) }
}

/** The budgets that no new day fills again: of the mission, and of the member and the team that it is for. */
export async function lastingBudgets(fleet: Fleet, mission: Mission, project: Project): Promise<Budget[]> {
  const own = await ownBudget(fleet, mission, project)
  const shared = await teamBudgets(fleet, mission)
  return own ? [own, ...shared] : shared
}

/** What the team of a member may spend, and for a task what its member may spend in mail and tasks together. */
async function teamBudgets(fleet: Fleet, mission: Mission): Promise<Budget[]> {
  const id = agentMemberOf(mission)
  if (!id) return []
  const { value: member } = await current(fleet, 'members', id)
  const { value: team } = await current(fleet, 'teams', member.team_id)
  const { value: standing } = await current(fleet, 'missions', member.mission_id!)
  const budgets: Budget[] = []
  if (mission.task && standing.max_budget_usd !== null)
    budgets.push({
      ...{ limitUsd: standing.max_budget_usd, usedUsd: await usedBy(fleet, member), daysOf: null },
      ...{ sharedBy: member.handle, try: raiseOwn(standing) },
    })
  if (team.max_budget_usd !== null) {
    const members = await Array.fromAsync(all(fleet, 'members', 'ever', [team.id]))
    const used = await Promise.all(members.map(({ value }) => usedBy(fleet, value, value.id !== id)))
    budgets.push({
      ...{ limitUsd: team.max_budget_usd, usedUsd: used.reduce((sum, each) => sum + each, 0), daysOf: null },
      ...{ sharedBy: `the team ${team.name}`, try: `Raise it with fleet team set ${team.name} --budget <usd>` },
    })
  }
  return budgets
}

/** What the sessions of a member spent, and the sub-missions they made; without its live session, unless that is asked. */
async function usedBy(fleet: Fleet, member: Member, withLive = false): Promise<number> {
  const sessions = await sessionsOfMember(fleet, member)
  const own = sessions.reduce(
    (sum, { status, usage }) => (status === 'ended' || withLive ? sum + usage.cost_usd : sum),
    0,
  )
  const missions = [...new Set(sessions.map(({ mission_id }) => mission_id))]
  const parts = await Promise.all(
    missions.map(async id => {
      const found = await fleet.store.get('missions', id)
      return found?.value.spawned ? sharesOf(fleet, id) : 0
    }),
  )
  return parts.reduce((sum, each) => sum + each, own)
}

async function sharesOf(fleet: Fleet, missionId: string): Promise<number> {
  const shares = await Promise.all((await childrenOf(fleet, missionId)).map(child => shareOf(fleet, child)))
  return shares.reduce((total, share) => total + share, 0)
}

/** Every budget that a session of this mission draws on. */
export async function budgetsOf(fleet: Fleet, mission: Mission, project: Project): Promise<Budget[]> {
  const lasting = await lastingBudgets(fleet, mission, project)
  const days = (await budgetsToday(fleet, project, mission.session_id)).map(
    (each): Budget => ({ ...each, try: `${each.try}, then fleet mission resume ${mission.id}` }),
  )
  return [...lasting, ...days]
}

export const leftOf = ({ limitUsd, usedUsd }: Budget): number => Math.max(0, limitUsd - usedUsd)

const raiseOwn = ({ id }: Mission): string =>
  `Raise its budget with fleet mission edit ${id} --budget <usd>, then fleet mission resume ${id}`

/** The budget that is used up first. */
export const tightest = (budgets: readonly Budget[]): Budget | null =>
  budgets.reduce<Budget | null>((least, each) => (least && leftOf(least) <= leftOf(each) ? least : each), null)

const sum = (dollars: number): string => `$${Number(dollars.toFixed(4))}`

/** Why nothing more may be spent, after a session that has spent this much. */
export function overBudget({ limitUsd, usedUsd, daysOf, sharedBy }: Budget, spentUsd: number): string {
  // People of one project read it, and the sum would tell them what the others spent.
  if (daysOf === THE_FLEET) return `Today's budget of the fleet, ${sum(limitUsd)}, is spent.`
  const all = usedUsd + spentUsd
  if (sharedBy) return `The budget of ${sharedBy}, ${sum(limitUsd)}, is spent${spentInWords(all, limitUsd, 'spent')}`
  return daysOf === null
    ? `It reached its budget of ${sum(limitUsd)}${spentInWords(all, limitUsd, 'spent')}`
    : `Today's budget of ${daysOf}, ${sum(limitUsd)}, is spent${spentInWords(all, limitUsd, 'used today')}`
}

const shareOf = async (fleet: Fleet, child: Mission): Promise<number> =>
  isOver(child) ? spentBy(fleet, child) : (child.max_budget_usd ?? 0)

async function spentBy(fleet: Fleet, mission: Mission): Promise<number> {
  const { ended, live } = await costsOf(fleet, mission.id)
  return ended + live + (await sharesOf(fleet, mission.id))
}
