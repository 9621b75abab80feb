import * as z from 'zod'
import { Id, Timestamp } from '../ids.ts'
import type { Mission, Status } from './mission.ts'

export const OVERLAPS = ['skip', 'queue', 'replace'] as const
export const CATCH_UPS = ['none', 'once'] as const

/** When a schedule makes a copy, as a person sets it. */
export const ScheduleSettings = z.object({
  cron: z.string().min(1).max(200).describe('five fields such as "30 6 * * 1-5", or a name such as @daily'),
  time_zone: z.string().min(1).max(60).describe('such as Europe/Berlin'),
  enabled: z.boolean().default(true),
  overlap: z
    .enum(OVERLAPS)
    .default('skip')
    .describe('if the last copy is still running: skip this time, queue behind it, or replace it'),
  catch_up: z
    .enum(CATCH_UPS)
    .default('none')
    .describe('for times that passed while no server ran: none, or once for all of them'),
})
export type ScheduleSettings = z.infer<typeof ScheduleSettings>

/** What a schedule can copy. */
export const TEMPLATES = ['mission', 'workflow'] as const

/** A copy that was made, and for which time. */
const Copied = z.object({ cron_time: Timestamp, copy_id: Id })
/** More are found among the missions. */
const MOST_RECENT = 20

/** A schedule copies a mission or a workflow again and again. It has the same id. */
export const Schedule = ScheduleSettings.extend({
  id: Id,
  of: z.enum(TEMPLATES).default('mission'),
  project_id: Id,
  next_at: Timestamp.nullable().describe('empty: never again'),
  waiting: z.array(Timestamp).describe('cron times whose copy is not made yet'),
  last: Copied.nullable().default(null),
  recent: z.array(Copied).default([]).describe('the newest copies, the last one first'),
  made: z.number().int().default(0),
  skipped: z.number().int().default(0),
  problem: z.string().max(1000).nullable().default(null).describe('why the fleet switched it off'),
  created_at: Timestamp,
  updated_at: Timestamp,
})
export type Schedule = z.infer<typeof Schedule>

/** The schedule once this copy is made. */
export const withCopy = (schedule: Schedule, copy: z.infer<typeof Copied>): Schedule => ({
  ...schedule,
  last: copy,
  recent: [copy, ...schedule.recent.filter(({ copy_id }) => copy_id !== copy.copy_id)].slice(0, MOST_RECENT),
  made: schedule.made + 1,
})

/** The times that a cron rule gives. */
export interface CronTimes {
  after(moment: string): string | null
  /** The newest time that is not later than this. */
  upTo(moment: string): string | null
}

/** A time that is this late still counts: a server was restarted, or a machine was busy. */
export const LATE_MS = 60_000
/** A longer queue would only grow. */
export const MOST_WAITING = 20

/** The statuses in which a copy is at work or waits to be. The next copy overlaps with it. */
const AT_WORK: readonly Status[] = ['draft', 'queued', 'running', 'needs_input', 'waiting', 'landing']
export const isAtWork = (mission: Pick<Mission, 'status'>): boolean => AT_WORK.includes(mission.status)

export interface Tick {
  schedule: Schedule
  /** The cron time whose copy is made now. */
  make: string | null
  skipped: string | null
  /** Whether the last copy is cancelled for the new one. */
  cancelLast: boolean
}

/**
 * What the current time means for a schedule. Its next time changes in the commit that makes the copy, so each is made
 * once.
 */
export function tick(schedule: Schedule, { now, times, busy }: { now: string; times: CronTimes; busy: boolean }): Tick {
  let { waiting, next_at } = schedule
  let skipped: string | null = null
  let cancelLast = false
  if (schedule.enabled && next_at && next_at <= now) {
    const due = times.upTo(now) ?? next_at
    const kept = Date.parse(now) - Date.parse(due) < LATE_MS
    next_at = times.after(now)
    if (!kept && schedule.catch_up === 'none') skipped = due
    else if (!busy && waiting.length === 0) waiting = [due]
    else if (schedule.overlap === 'replace') {
      waiting = [due]
      cancelLast = busy
    } else if (schedule.overlap === 'queue' && waiting.length < MOST_WAITING) waiting = [...waiting, due]
    else skipped = due
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
