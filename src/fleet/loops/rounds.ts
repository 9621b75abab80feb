import { NotFound } from '../../domain/errors.ts'
import type { Loop, Round } from '../../domain/records/loop.ts'
import type { Evidence, Mission } from '../../domain/records/mission.ts'
import type { Plan, PlannedMission } from '../../domain/records/plan.ts'
import type { Fleet } from '../fleet.ts'
import { missionIdOf, plannedIn } from '../planning/plans.ts'
import { all, readable } from '../records.ts'
import { costOf } from './standing.ts'

export interface RoundDetail {
  round: Round
  /** Undefined: it was deleted. */
  plan: Plan | undefined
  planner: { mission: Mission; costUsd: number } | undefined
  missions: { planned: PlannedMission; mission: Mission | undefined; costUsd: number }[]
  /** The checks that decided whether the goal is reached. */
  checks: Evidence[]
}

/** What one round of a loop planned, and what became of it. A damaged mission counts as absent. */
export async function roundOf(fleet: Fleet, loop: Loop, number: number | undefined): Promise<RoundDetail> {
  const round = number === undefined ? loop.rounds.at(-1) : loop.rounds.find(each => each.number === number)
  if (!round) throw new NotFound('round', String(number ?? 1))
  const plan = (await readable(fleet, 'plans', round.plan_id))?.value
  if (!plan) return { round, plan, planner: undefined, missions: [], checks: [] }
  const missionOf = async (id: string) => (await readable(fleet, 'missions', id))?.value
  const planner = await missionOf(plan.mission_id)
  const planned = await plannedIn(fleet, plan)
  const missions = await Promise.all(
    planned.map(async each => {
      const mission = await missionOf(missionIdOf(plan.id, each.key))
      return { planned: each, mission, costUsd: mission ? await costOf(fleet, [mission]) : 0 }
    }),
  )
  const evidence = await Array.fromAsync(all(fleet, 'evidence', 'mission', [plan.mission_id]))
  return {
    round,
    plan,
    planner: planner && { mission: planner, costUsd: await costOf(fleet, [planner]) },
    missions,
    checks: evidence.map(({ value }) => value).filter(({ purpose }) => purpose === 'goal'),
  }
}
