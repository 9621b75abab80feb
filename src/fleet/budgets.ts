import { isOver } from '../domain/delegating.ts'
import { effective } from '../domain/effective.ts'
import type { Mission } from '../domain/mission.ts'
import type { Project } from '../domain/project.ts'
import type { Session } from '../domain/session.ts'
import { defaultsOf } from './capacity.ts'
import type { Fleet } from './fleet.ts'
import { childrenOf } from './missions.ts'
import { all } from './records.ts'

const cost = (sessions: readonly Session[]): number => sessions.reduce((sum, { usage }) => sum + usage.cost_usd, 0)

/**
 * What is left of a mission's budget beside what its live session spends; null: it has none. A budget is for one run,
 * with the times it was put aside in between; its sub-missions draw on it: those at work by what they were given, those
 * that are over by what they spent.
 */
export async function budgetLeft(fleet: Fleet, mission: Mission, project: Project): Promise<number | null> {
  const { maxBudgetUsd } = effective(mission, project, defaultsOf(fleet))
  if (maxBudgetUsd === null) return null
  const run = thisRun(await sessionsOf(fleet, mission.id))
  const began = run[0]?.created_at ?? mission.created_at
  const children = (await childrenOf(fleet, mission.id)).filter(({ created_at }) => created_at >= began)
  const shares = await Promise.all(children.map(child => shareOf(fleet, child)))
  const earlier = cost(run.filter(({ status }) => status === 'ended'))
  return Math.max(0, maxBudgetUsd - earlier - shares.reduce((sum, share) => sum + share, 0))
}

const shareOf = async (fleet: Fleet, child: Mission): Promise<number> =>
  isOver(child) ? spentBy(fleet, child) : (child.max_budget_usd ?? 0)

async function spentBy(fleet: Fleet, mission: Mission): Promise<number> {
  const children = await Promise.all((await childrenOf(fleet, mission.id)).map(child => shareOf(fleet, child)))
  return cost(await sessionsOf(fleet, mission.id)) + children.reduce((sum, share) => sum + share, 0)
}

const sessionsOf = async (fleet: Fleet, missionId: string): Promise<Session[]> =>
  (await Array.fromAsync(all(fleet, 'sessions', 'mission', [missionId]))).map(({ value }) => value)

/** The newest sessions, oldest first, each of which was put aside for the next. */
function thisRun(sessions: readonly Session[]): readonly Session[] {
  const last = sessions.findLastIndex(({ status, outcome }) => status === 'ended' && outcome !== 'parked')
  return sessions.slice(last + 1)
}
