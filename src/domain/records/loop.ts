import * as z from 'zod'
import { Id, Timestamp } from '../ids.ts'
import { isOver } from '../rules/delegation.ts'
import { MAX_REASON_CHARS, StoredText } from '../text.ts'
import type { Mission } from './mission.ts'
import type { Plan } from './plan.ts'

export const LoopSettings = z.object({
  agent: z.string().min(1).max(40).nullable().default(null).describe("who plans; empty: the project's agent"),
  model: z.string().min(1).max(120).nullable().default(null),
  max_rounds: z.number().int().min(1).max(50).default(10),
  max_budget_usd: z.number().positive().max(100_000).nullable().default(null).describe('for all its agents together'),
  max_failures: z.number().int().min(1).max(20).default(3).describe('stop after this many failed rounds in a row'),
  unchecked: z
    .boolean()
    .default(false)
    .describe('if the project has no checks, trust the planner when it says that everything is done'),
  scripts: z.boolean().default(false).describe('its plans may contain scripts (agent shell)'),
})
export type LoopSettings = z.infer<typeof LoopSettings>

export const ROUND_OUTCOMES = ['progress', 'complete', 'nothing_done', 'planning_failed', 'checks_failed'] as const
const FAILURES: readonly string[] = ['nothing_done', 'planning_failed', 'checks_failed']

export const Round = z.object({
  number: z.number().int(),
  plan_id: Id,
  outcome: z.enum(ROUND_OUTCOMES).nullable().default(null).describe('empty: the round is not over'),
  text: z.string().max(300).default(''),
  cost_usd: z.number().default(0),
  started_at: Timestamp,
  ended_at: Timestamp.nullable().default(null),
})
export type Round = z.infer<typeof Round>

export const LOOP_ENDS = ['complete', 'limit', 'stopped', 'failed'] as const
export const LoopEnd = z.object({
  status: z.enum(LOOP_ENDS),
  code: z.string().max(60),
  text: z.string().max(MAX_REASON_CHARS),
})
export type LoopEnd = z.infer<typeof LoopEnd>

/** A goal on a project, approached in rounds of a plan and its missions. */
export const Loop = LoopSettings.extend({
  id: Id,
  project_id: Id,
  goal: StoredText,
  status: z
    .enum(['running', 'paused', 'stopping', ...LOOP_ENDS])
    .describe('stopping: it has ended, and its agents are being stopped'),
  ending: LoopEnd.nullable().default(null),
  rounds: z.array(Round).max(50).default([]),
  created_at: Timestamp,
  updated_at: Timestamp,
  ended_at: Timestamp.nullable().default(null),
})
export type Loop = z.infer<typeof Loop>

export const isLoopOver = ({ status }: Pick<Loop, 'status'>): boolean =>
  (LOOP_ENDS as readonly string[]).includes(status)

/** The part of its budget that its finished rounds did not spend. */
export const budgetLeft = ({ max_budget_usd, rounds }: Loop): number | null =>
  max_budget_usd === null
    ? null
    : Math.max(0.01, max_budget_usd - rounds.reduce((sum, round) => sum + round.cost_usd, 0))

/** What a loop knows of its current round. A plan or mission that was deleted is missing. */
export interface Standing {
  plan: Plan | undefined
  planner: Mission | undefined
  missions: readonly Mission[]
  /** The whole loop, including the current round. */
  spentUsd: number
}

/** What a loop does next. */
export type Move =
  | { do: 'wait'; for: string }
  | { do: 'plan' }
  | { do: 'approve' }
  | { do: 'check' }
  | { do: 'reject' }
  | { do: 'cancel'; missions: string[] }
  | { do: 'end round'; outcome: NonNullable<Round['outcome']>; text: string }
  | { do: 'end'; end: LoopEnd }
  | { do: 'close' }

export function nextMove(loop: Loop, standing: Standing): Move {
  const round = loop.rounds.at(-1)
  if (loop.status === 'stopping') return close(standing)
  if (round?.outcome === 'complete')
    return { do: 'end', end: { status: 'complete', code: 'complete', text: round.text } }
  const limit = limitReached(loop, standing)
  if (limit) return { do: 'end', end: limit }
  if (loop.status === 'paused') return { do: 'wait', for: 'it is paused' }
  if (!round || round.outcome) return { do: 'plan' }
  return inRound(standing)
}

/** Nothing of a loop may still be at work when it is over. */
function close({ plan, planner, missions }: Standing): Move {
  if (plan?.status === 'planning' || plan?.status === 'proposed') return { do: 'reject' }
  const planning = planner && planner.status !== 'review' ? [planner] : []
  const open = [...missions, ...planning].filter(mission => !isOver(mission))
  const asked = open.filter(mission => !mission.cancel_requested)
  if (asked.length) return { do: 'cancel', missions: asked.map(({ id }) => id) }
  return open.length ? { do: 'wait', for: 'the end of its agents' } : { do: 'close' }
}

function limitReached(
  { rounds, max_rounds, max_failures, max_budget_usd }: Loop,
  { spentUsd }: Standing,
): LoopEnd | null {
  const end = (code: string, text: string): LoopEnd => ({ status: 'limit', code, text })
  if (max_budget_usd !== null && spentUsd >= max_budget_usd)
    return end('money', `It reached its budget of $${max_budget_usd}: $${spentUsd.toFixed(2)} spent.`)
  if (rounds.length && !rounds.at(-1)!.outcome) return null
  const failed = rounds.length - 1 - rounds.findLastIndex(round => !FAILURES.includes(round.outcome ?? ''))
  if (failed >= max_failures)
    return end('failures', `${failed} rounds in a row failed. The last one: ${rounds.at(-1)!.text}`)
  if (rounds.length >= max_rounds) return end('rounds', `It reached its limit of ${max_rounds} rounds.`)
  return null
}

function inRound({ plan, planner, missions }: Standing): Move {
  const failed = (text: string): Move => ({ do: 'end round', outcome: 'planning_failed', text })
  switch (plan?.status) {
    case undefined:
      return failed('Its plan was deleted.')
    case 'planning':
      return { do: 'wait', for: planner && isForPerson(planner) ? `you: ${nameOf(planner)}` : 'the planner' }
    case 'proposed':
    case 'complete':
      // Something happened in the shared repository during planning that a person should see first.
      if (planner?.status === 'review') return { do: 'wait', for: `you: ${nameOf(planner)}` }
      return { do: plan.status === 'proposed' ? 'approve' : 'check' }
    case 'failed':
    case 'rejected':
      return failed(plan.reason ?? 'It was rejected.')
    case 'approved':
      return working(missions)
  }
}

const nameOf = ({ id, title }: Mission): string => `${title} (${id})`
const isForPerson = ({ status }: Mission): boolean => status === 'review' || status === 'needs_input'

function working(missions: readonly Mission[]): Move {
  const open = missions.filter(mission => !isOver(mission))
  if (open.length === 0) return roundOver(missions)
  const stuck = blocked(missions)
  // Missions that wait for a failed one would wait for ever. The next plan covers what is missing.
  if (stuck.length === open.length) return { do: 'cancel', missions: stuck }
  const forPerson = open.filter(isForPerson)
  if (forPerson.length + stuck.length === open.length)
    return { do: 'wait', for: `you: ${forPerson.map(nameOf).join(', ')}` }
  return { do: 'wait', for: `${open.length} missions` }
}

/** Queued missions that can never start, because something before them failed. */
function blocked(missions: readonly Mission[]): string[] {
  const dead = new Set(missions.filter(({ status }) => status === 'failed' || status === 'cancelled').map(m => m.id))
  const stuck: string[] = []
  for (let grew = true; grew; ) {
    grew = false
    for (const { id, status, depends_on } of missions) {
      if (dead.has(id) || status !== 'queued' || !depends_on.some(each => dead.has(each))) continue
      dead.add(id)
      stuck.push(id)
      grew = true
    }
  }
  return stuck
}

function roundOver(missions: readonly Mission[]): Move {
  const brought = missions.filter(({ status, result }) => status === 'done' && result !== 'no_changes')
  const failed = missions.filter(({ status }) => status === 'failed')
  const text = `${brought.length} of ${missions.length} missions brought something${failed.length ? `, ${failed.length} failed` : ''}.`
  return { do: 'end round', outcome: brought.length ? 'progress' : 'nothing_done', text }
}
