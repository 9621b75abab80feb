import type { Loop, Round, Standing } from '../../domain/records/loop.ts'
import type { Mission } from '../../domain/records/mission.ts'
import type { Plan } from '../../domain/records/plan.ts'
import { describeReport } from '../../domain/rules/prompt.ts'
import { clipped } from '../../domain/text.ts'
import type { Fleet } from '../fleet.ts'
import { missionIdOf, plannedIn } from '../planning/plans.ts'
import { all, childrenOf, costsOf, newestReport } from '../records.ts'

/** How many of the last rounds a planner gets in detail. */
const TOLD_ROUNDS = 3
const REPORT_CHARS = 2000
const OUTPUT_CHARS = 3000

/** Everything a loop decides by, as it is now. */
export async function standingOf(fleet: Fleet, loop: Loop): Promise<Standing> {
  const round = loop.rounds.at(-1)
  const { plan, planner, missions } = await inRound(fleet, round)
  const before = loop.rounds.reduce((sum, { cost_usd }) => sum + cost_usd, 0)
  const now = round && !round.outcome ? await costOf(fleet, [...missions, ...(planner ? [planner] : [])]) : 0
  // Sub-missions are their parents' to finish, but none may outlive the loop.
  const concerned = loop.status === 'stopping' ? await withParts(fleet, missions) : missions
  return { plan, planner, missions: concerned, spentUsd: before + now }
}

async function withParts(fleet: Fleet, missions: readonly Mission[]): Promise<Mission[]> {
  const parts = await Promise.all(missions.map(async ({ id }) => withParts(fleet, await childrenOf(fleet, id))))
  return [...missions, ...parts.flat()]
}

async function inRound(fleet: Fleet, round: Round | undefined): Promise<Omit<Standing, 'spentUsd'>> {
  const plan = round && (await fleet.store.get('plans', round.plan_id))?.value
  const planner = plan && (await fleet.store.get('missions', plan.mission_id))?.value
  return { plan, planner, missions: plan?.status === 'approved' ? await missionsOf(fleet, plan) : [] }
}

async function missionsOf(fleet: Fleet, plan: Plan): Promise<Mission[]> {
  const keys = (await plannedIn(fleet, plan)).map(each => each.key)
  const found = await Promise.all(keys.map(key => fleet.store.get('missions', missionIdOf(plan.id, key))))
  return found.flatMap(stored => (stored ? [stored.value] : []))
}

/** What missions and their sub-missions have cost so far. */
export async function costOf(fleet: Fleet, missions: readonly Mission[]): Promise<number> {
  let sum = 0
  for (const { id } of missions) {
    const { ended, live } = await costsOf(fleet, id)
    sum += ended + live + (await costOf(fleet, await childrenOf(fleet, id)))
  }
  return sum
}

/** What the earlier rounds came to, for the planner of the next one. */
export async function historyOf(fleet: Fleet, { rounds }: Loop): Promise<string> {
  if (rounds.length === 0) return 'Nothing was done for it yet.'
  const told = rounds.map(async (round, index) => {
    const head = `### Round ${round.number}: ${round.outcome}\n\n${round.text}`
    return index < rounds.length - TOLD_ROUNDS ? head : [head, ...(await detailsOf(fleet, round))].join('\n\n')
  })
  return (await Promise.all(told)).join('\n\n')
}

async function detailsOf(fleet: Fleet, round: Round): Promise<string[]> {
  const { plan, missions } = await inRound(fleet, round)
  if (round.outcome === 'checks_failed' && plan) return failedChecks(fleet, plan)
  return Promise.all(missions.map(mission => storyOf(fleet, mission)))
}

async function failedChecks(fleet: Fleet, plan: Plan): Promise<string[]> {
  const evidence = await Array.fromAsync(all(fleet, 'evidence', 'mission', [plan.mission_id]))
  const failed = evidence.filter(({ value }) => !value.passed)
  return Promise.all(
    failed.map(async ({ value }) => {
      const output = await fleet.blobs.read(value.output)
      return `The check ${value.name} (${value.command}) failed on ${value.commit}:\n\n${output.slice(-OUTPUT_CHARS)}`
    }),
  )
}

async function storyOf(fleet: Fleet, mission: Mission): Promise<string> {
  const report = await newestReport(fleet, mission.id)
  const how = [mission.result ?? mission.status, mission.status_reason?.text].filter(Boolean).join(': ')
  return clipped(`#### ${mission.title} (${how})\n\n${report ? describeReport(report) : ''}`, REPORT_CHARS)
}
