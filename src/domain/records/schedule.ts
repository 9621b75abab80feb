import * as z from 'zod'
import { Id, Timestamp } from '../ids.ts'
import type { Mission, Status } from './mission.ts'

export const OVERLAPS = ['skip', 'queue', 'replace'] as const
export const CATCH_UPS = ['none', 'once'] as const

/** What a person may say about when a template is copied. */
export const ScheduleSettings = z.object({
  cron: z.string().min(1).max(200).describe('five fields such as "30 6 * * 1-5", or a name such as @daily'),
  time_zone: z.string().min(1).max(60).describe('such as Europe/Berlin'),
  enabled: z.boolean().default(true),
  overlap: z
    .enum(OVERLAPS)
    .default('skip')
    .describe('when the last one is still at work: skip this time, queue behind it, or replace it'),
  catch_up: z
    .enum(CATCH_UPS)
    .default('none')
    .describe('for times that passed while no server ran: none, or once for all of them'),
})
export type ScheduleSettings = z.infer<typeof ScheduleSettings>

/** What a rule can copy. */
export const TEMPLATES = ['mission', 'workflow'] as const

/** A rule that copies a mission or a workflow again and again. Its id is that of what it copies. */
export const Schedule = ScheduleSettings.extend({
  id: Id,
  of: z.enum(TEMPLATES).default('mission'),
  project_id: Id,
  next_at: Timestamp.nullable().describe('empty: never again'),
  waiting: z.array(Timestamp).describe('times whose copy is not made yet'),
  last: z.object({ slot: Timestamp, copy_id: Id }).nullable().default(null),
  made: z.number().int().default(0),
  skipped: z.number().int().default(0),
  problem: z.string().max(1000).nullable().default(null).describe('why it was switched off by itself'),
  created_at: Timestamp,
  updated_at: Timestamp,
})
export type Schedule = z.infer<typeof Schedule>

/** When a rule says it is time. */
export interface Slots {
  after(moment: string): string | null
  /** The newest that is not later than this. */
  upTo(moment: string): string | null
}

/** This late, a time still counts as kept: a server was restarted, a machine was busy. */
export const LATE_MS = 60_000
/** More than this many times in the queue would only ever grow. */
export const MOST_WAITING = 20

/** At work, or waiting to be: while the copy made last is one of these, the next overlaps with it. */
const AT_WORK: readonly Status[] = ['draft', 'queued', 'running', 'needs_input', 'waiting', 'landing']
export const isAtWork = (mission: Pick<Mission, 'status'>): boolean => AT_WORK.includes(mission.status)

export interface Tick {
  schedule: Schedule
  /** The time whose copy is to be made now. */
  make: string | null
  skipped: string | null
  /** Whether the copy made last is to make room. */
  cancelLast: boolean
}

/** What a moment means for a schedule. Its next time moves on in the same commit that makes the copy: each is made once. */
export function tick(schedule: Schedule, { now, slots, busy }: { now: string; slots: Slots; busy: boolean }): Tick {
  let { waiting, next_at } = schedule
  let skipped: string | null = null
  let cancelLast = false
  if (schedule.enabled && next_at && next_at <= now) {
    const slot = slots.upTo(now) ?? next_at
    const kept = Date.parse(now) - Date.parse(slot) < LATE_MS
    next_at = slots.after(now)
    if (!kept && schedule.catch_up === 'none') skipped = slot
    else if (!busy && waiting.length === 0) waiting = [slot]
    else if (schedule.overlap === 'replace') {
      waiting = [slot]
      cancelLast = busy
    } else if (schedule.overlap === 'queue' && waiting.length < MOST_WAITING) waiting = [...waiting, slot]
    else skipped = slot
  }
  const make = busy ? null : (waiting[0] ?? null)
  return {
    schedule: {
      ...schedule,
      next_at,
      waiting: make ? waiting.slice(1) : waiting,
      skipped: schedule.skipped + (skipped ? 1 : 0),
      updated_at: now,
    },
    make,
    skipped,
    cancelLast,
  }
}
