import * as z from 'zod'
import { Id, Timestamp } from '../ids.ts'
import { MAX_REASON_CHARS } from '../text.ts'

export const SIDE_KINDS = ['preview', 'remote'] as const
export type SideKind = (typeof SIDE_KINDS)[number]

/**
 * A program that a person keeps running in the worktree of a mission, beside any session. A mission has one of each
 * kind.
 */
export const SideProcess = z.object({
  id: Id.describe('derived from its mission and kind'),
  mission_id: Id,
  project_id: Id,
  kind: z.enum(SIDE_KINDS),
  run: z.number().int().describe('counts its starts'),
  session_id: Id.describe('the session whose worktree it runs in'),
  worktree: z.string(),
  command: z.string().nullable().describe('the shell line of a preview'),
  host: z.string().nullable().default(null).describe('the machine it runs on; empty: the host of its home'),
  status: z.enum(['starting', 'up', 'ended']),
  /** Why it is being ended. Written down before the first signal, so that a crash does not forget it. */
  stopping: z.string().max(MAX_REASON_CHARS).nullable(),
  port: z.number().int().nullable(),
  url: z.string().nullable().describe('its address, or the link to open'),
  process: z.object({ pid: z.number().int(), started: z.string(), boot: z.string() }).nullable(),
  exit_code: z.number().int().nullable(),
  reason: z.string().max(MAX_REASON_CHARS).nullable().describe('why it ended'),
  until: Timestamp.nullable().describe('when it is stopped automatically'),
  created_at: Timestamp,
  up_at: Timestamp.nullable(),
  ended_at: Timestamp.nullable(),
})
export type SideProcess = z.infer<typeof SideProcess>

/** The name that people see. */
export const SIDE_TITLES: Record<SideKind, string> = { preview: 'preview', remote: 'remote control' }
