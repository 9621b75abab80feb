import * as z from 'zod'
import { Id, Timestamp } from '../ids.ts'
import { MAX_REASON_CHARS } from '../text.ts'

export const KEPT_KINDS = ['preview', 'remote'] as const
export type KeptKind = (typeof KEPT_KINDS)[number]

/** A program of a mission that a person keeps running in its worktree, beside any session. A mission has one of each kind. */
export const KeptProcess = z.object({
  id: Id.describe('follows from its mission and its kind'),
  mission_id: Id,
  project_id: Id,
  kind: z.enum(KEPT_KINDS),
  run: z.number().int().describe('which time it was started'),
  session_id: Id.describe('whose worktree it runs in'),
  worktree: z.string(),
  command: z.string().nullable().describe('the shell line of a preview'),
  status: z.enum(['starting', 'up', 'ended']),
  /** Why it is being ended: written down before the first signal, so that a crash does not forget the cause. */
  stopping: z.string().max(MAX_REASON_CHARS).nullable(),
  port: z.number().int().nullable(),
  url: z.string().nullable().describe('where it answers, or the link to follow'),
  process: z.object({ pid: z.number().int(), started: z.string(), boot: z.string() }).nullable(),
  exit_code: z.number().int().nullable(),
  reason: z.string().max(MAX_REASON_CHARS).nullable().describe('why it ended'),
  until: Timestamp.nullable().describe('when it is ended by itself'),
  created_at: Timestamp,
  up_at: Timestamp.nullable(),
  ended_at: Timestamp.nullable(),
})
export type KeptProcess = z.infer<typeof KeptProcess>

/** What people call it. */
export const KEPT_TITLES: Record<KeptKind, string> = { preview: 'preview', remote: 'remote control' }
