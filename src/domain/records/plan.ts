import * as z from 'zod'
import { Id, Timestamp } from '../ids.ts'
import { MAX_REASON_CHARS, StoredText } from '../text.ts'
import { MissionType } from './mission.ts'

/** A mission and its event take two of the ninety items of a commit, and a plan is written by one commit. */
export const MAX_PLANNED = 40
/** How many times a planner is sent back with the problem of its answer. */
export const MAX_ANSWERS_REFUSED = 2

const lines = (value: unknown): unknown => (Array.isArray(value) ? value.join('\n') : value)
const Key = z
  .string()
  .regex(/^[A-Za-z0-9][A-Za-z0-9_.-]{0,59}$/, 'must be a short word of letters, digits, - and _, such as api')

/** A planned mission. Others of its plan depend on it by its key. */
export const PlannedMission = z.object({
  key: Key.describe('a short name for it within the plan'),
  title: z.string().min(1).max(300),
  prompt: z.string().max(100_000).describe('everything the agent is told; it knows nothing else about the plan'),
  acceptance_criteria: z.preprocess(lines, z.string().max(20_000)).default('').describe('how to tell that it is done'),
  mission_type: MissionType.default('implement'),
  depends_on: z.array(Key).max(MAX_PLANNED).default([]).describe('keys of the missions whose work it needs'),
  agent: z.string().min(1).max(40).nullable().default(null).describe("empty: the project's agent"),
  model: z.string().min(1).max(120).nullable().default(null),
  priority: z.number().int().min(-1000).max(1000).default(0),
  estimate_minutes: z.number().nonnegative().max(100_000).nullable().default(null),
  estimate_usd: z.number().nonnegative().max(100_000).nullable().default(null),
})
export type PlannedMission = z.infer<typeof PlannedMission>

/** What a planner answers with. */
export const PlanAnswer = z.object({
  summary: z.string().max(8000).default('').describe('what the plan does, in a few sentences'),
  missions: z.array(PlannedMission).max(MAX_PLANNED).default([]),
  complete: z.boolean().default(false).describe('the goal is reached and nothing is left to do'),
  reason: z.string().max(8000).default('').describe('how you know that it is complete, and what you checked'),
})
export type PlanAnswer = z.infer<typeof PlanAnswer>

export const PLAN_STATUSES = ['planning', 'proposed', 'approved', 'rejected', 'complete', 'failed'] as const

/** What a planner proposes, until a person has decided. */
export const Plan = z.object({
  id: Id,
  project_id: Id,
  mission_id: Id.describe('the mission whose agent makes it'),
  loop_id: Id.nullable().default(null).describe('the loop it belongs to'),
  goal: StoredText,
  status: z.enum(PLAN_STATUSES).describe('complete: the planner says that nothing is left to do'),
  /** Why it failed or was rejected, or how the planner knows that everything is done. */
  reason: z.string().max(MAX_REASON_CHARS).nullable().default(null),
  summary: z.string().max(8000).default(''),
  /** The missions as JSON. */
  missions: StoredText.nullable().default(null),
  auto_approve: z.boolean().default(false),
  scripts: z.boolean().default(false).describe('whether its missions may be scripts: a person has said so'),
  created_at: Timestamp,
  updated_at: Timestamp,
})
export type Plan = z.infer<typeof Plan>

/** The problem with an answer, as a sentence for the planner; null if there is none. */
export function problemWith(
  answer: PlanAnswer,
  { objection, mayBeComplete }: { objection: Objection; mayBeComplete: boolean },
): string | null {
  if (answer.complete && !mayBeComplete) return 'A plan was asked for: "complete" must be false.'
  if (answer.complete && answer.missions.length)
    return 'It says "complete" and names missions; only one of the two is possible.'
  if (answer.complete) return answer.reason.trim() ? null : 'It says "complete" without a "reason".'
  if (answer.missions.length === 0) return 'It names no missions.'
  return problemWithMissions(answer.missions, objection)
}

/** Why a mission of a plan may not name this agent; null if it may. */
export type Objection = (agent: string) => string | null

export function problemWithMissions(missions: readonly PlannedMission[], objection: Objection): string | null {
  const keys = new Set<string>()
  for (const { key, prompt, depends_on, agent } of missions) {
    if (keys.has(key)) return `Two missions have the key ${key}.`
    keys.add(key)
    if (!prompt.trim()) return `The prompt of ${key} is empty.`
    if (depends_on.includes(key)) return `${key} depends on itself.`
    const why = agent === null ? null : objection(agent)
    if (why) return `${key} names the agent ${JSON.stringify(agent)}, ${why}.`
  }
  for (const { key, depends_on } of missions) {
    const unknown = depends_on.find(each => !keys.has(each))
    if (unknown) return `${key} depends on ${unknown}, which is not a mission of this plan.`
  }
  const circle = circleIn(missions)
  return circle && `They depend on each other in a circle: ${circle.join(' → ')}.`
}

function circleIn(missions: readonly PlannedMission[]): string[] | null {
  const needs = new Map(missions.map(each => [each.key, each.depends_on]))
  const clear = new Set<string>()
  const follow = (key: string, path: string[]): string[] | null => {
    if (path.includes(key)) return [...path.slice(path.indexOf(key)), key]
    if (clear.has(key)) return null
    for (const next of needs.get(key) ?? []) {
      const circle = follow(next, [...path, key])
      if (circle) return circle
    }
    clear.add(key)
    return null
  }
  for (const { key } of missions) {
    const circle = follow(key, [])
    if (circle) return circle
  }
  return null
}

/** The missions in steps. Each needs only missions of earlier steps. They must not depend on each other in a circle. */
export function levelsOf<M extends Pick<PlannedMission, 'key' | 'depends_on'>>(missions: readonly M[]): M[][] {
  const depth = new Map<string, number>()
  const byKey = new Map(missions.map(each => [each.key, each]))
  const depthOf = (mission: M): number => {
    const known = depth.get(mission.key)
    if (known !== undefined) return known
    const found = Math.max(-1, ...mission.depends_on.map(key => depthOf(byKey.get(key)!))) + 1
    depth.set(mission.key, found)
    return found
  }
  const deepest = Math.max(-1, ...missions.map(depthOf))
  return Array.from({ length: deepest + 1 }, (_, level) => missions.filter(mission => depthOf(mission) === level))
}

export const PlanEstimate = z.object({
  missions: z.number().int(),
  minutes: z.number().nullable().describe('for all missions together'),
  longest_minutes: z.number().nullable().describe('if independent missions run at the same time'),
  usd: z.number().nullable(),
})

/** The sum of the planner's own estimates; empty where a mission has none. */
export function estimateOf(missions: readonly PlannedMission[]): z.infer<typeof PlanEstimate> {
  const sum = (values: (number | null)[]): number | null =>
    values.every(value => value !== null) ? values.reduce((total: number, value) => total + value!, 0) : null
  const minutes = sum(missions.map(each => each.estimate_minutes))
  const finished = new Map<string, number>()
  for (const level of levelsOf(missions))
    for (const { key, depends_on, estimate_minutes } of level)
      finished.set(key, Math.max(0, ...depends_on.map(each => finished.get(each)!)) + (estimate_minutes ?? 0))
  return {
    missions: missions.length,
    minutes,
    longest_minutes: minutes === null ? null : Math.max(0, ...finished.values()),
    usd: sum(missions.map(each => each.estimate_usd)),
  }
}
