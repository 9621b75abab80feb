import * as z from 'zod'
import { Id, Timestamp } from '../ids.ts'
import { MAX_REASON_CHARS } from '../text.ts'
import { Evidence } from './mission.ts'
import { Check } from './project.ts'

export const CheckResult = Evidence.pick({
  name: true,
  command: true,
  exit_code: true,
  passed: true,
  output: true,
  created_at: true,
  seconds: true,
})
export type CheckResult = z.infer<typeof CheckResult>

/** The checks of a project on the tip of its base branch, because somebody asked. A project has one at a time. */
export const CheckRun = z.object({
  id: Id.describe('derived from its project'),
  project_id: Id,
  number: z.number().int().describe('counts the runs of the project'),
  branch: z.string(),
  commit: z.string(),
  checks: z.array(Check).describe('as they were when it was requested'),
  status: z.enum(['waiting', 'running', 'ended']).describe('waiting: a landing of the project is at work'),
  outcome: z.enum(['passed', 'failed', 'stopped']).nullable(),
  /** Written down before the first signal, so that a crash does not forget it. */
  stopping: z.boolean(),
  reason: z.string().max(MAX_REASON_CHARS).nullable().describe('why it ended before its checks'),
  results: z.array(CheckResult),
  requested_by: z.string().max(120),
  created_at: Timestamp,
  started_at: Timestamp.nullable(),
  ended_at: Timestamp.nullable(),
})
export type CheckRun = z.infer<typeof CheckRun>
