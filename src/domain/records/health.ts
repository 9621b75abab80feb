import * as z from 'zod'
import { Id, Timestamp } from '../ids.ts'
import { MAX_REASON_CHARS } from '../text.ts'

export const HEALTH_STATES = ['healthy', 'degraded', 'unhealthy'] as const
export type HealthState = (typeof HEALTH_STATES)[number]

/** What is done about a member that is not well, the mildest first. */
export const HEALTH_ACTS = ['nudge', 'interrupt', 'restart', 'lead', 'people'] as const
export type HealthAct = (typeof HEALTH_ACTS)[number]

export const HEALTH_CAUSES = ['quiet', 'crash', 'failed', 'unanswered'] as const
export type HealthCause = (typeof HEALTH_CAUSES)[number]

/** The pauses of so many sessions say what is usual for a member. */
export const PAUSES_KEPT = 10

/** How a member is. What was done about it stays until it shows signs of life again: that is one episode. */
export const Health = z.object({
  state: z.enum(HEALTH_STATES).default('healthy'),
  since: Timestamp.nullable().default(null),
  cause: z
    .enum(HEALTH_CAUSES)
    .nullable()
    .default(null)
    .describe(
      'quiet: no sign of life; crash: its session ended badly and is started again; failed: it is not started again; unanswered: it has not answered mail',
    ),
  reason: z.string().max(MAX_REASON_CHARS).nullable().default(null),
  sign: z.string().nullable().default(null).describe('the newest sign of trouble that was acted on'),
  done: z
    .array(z.object({ act: z.enum(HEALTH_ACTS), at: Timestamp, text: z.string().max(MAX_REASON_CHARS) }))
    .max(HEALTH_ACTS.length)
    .default([])
    .describe('what was done about it in this episode, each at most once'),
  due_at: Timestamp.nullable().default(null).describe('when the next step is due, if no sign brings it'),
  restarts: z.number().int().default(0).describe('how often it was started again after a bad end'),
  restarted: Id.nullable().default(null).describe('the newest session that was such a restart'),
  pauses: z
    .array(z.number())
    .max(PAUSES_KEPT)
    .default([])
    .describe('the longest pauses of its newest sessions, in seconds'),
  paused: Id.nullable().default(null).describe('the newest session whose pause is among them'),
})
export type Health = z.infer<typeof Health>
export const HEALTHY: Health = Health.parse({})

const QuietSeconds = z
  .number()
  .int()
  .min(1)
  .max(604_800)
  .nullable()
  .default(null)
  .describe('how long it may show no sign of life; empty: as its own rhythm says')

/** Whether the members of a team are watched. */
export const TeamMonitor = z.object({
  on: z.boolean().default(true),
  quiet_seconds: QuietSeconds,
  since: Timestamp.nullable().default(null).describe('when somebody switched it on or off last'),
  by: z.string().max(120).nullable().default(null),
})
export type TeamMonitor = z.infer<typeof TeamMonitor>

/** The same for one member. */
export const MemberMonitor = z.object({
  on: z.boolean().nullable().default(null).describe('empty: as for its team'),
  quiet_seconds: QuietSeconds,
})
export type MemberMonitor = z.infer<typeof MemberMonitor>

/** What a session at work shows about its life, as far as it was written down. */
export const Quiet = z.object({
  state: z.enum(['quiet', 'lively']),
  since: Timestamp,
  signs: z.number().int().describe('how often it was quiet for as long as it may be'),
  text: z.string().max(MAX_REASON_CHARS),
})
export type Quiet = z.infer<typeof Quiet>
