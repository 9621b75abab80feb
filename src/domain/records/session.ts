import * as z from 'zod'
import { Id, Timestamp } from '../ids.ts'
import { Retrying } from '../rules/retrying.ts'
import { MAX_REASON_CHARS, StoredText } from '../text.ts'
import { Engine, ToolPreset } from './project.ts'

export const OUTCOMES = [
  'completed',
  'blocked',
  'limited',
  'handed_over',
  'rate_limited',
  'stalled',
  'lost',
  'failed',
  'parked',
  'cancelled',
] as const
export const Outcome = z.enum(OUTCOMES)
export type Outcome = z.infer<typeof Outcome>

export const Usage = z.object({
  input_tokens: z.number().default(0),
  output_tokens: z.number().default(0),
  reasoning_tokens: z.number().default(0).describe('what of the output was thought, where the client tells'),
  cache_read_tokens: z.number().default(0),
  cache_write_tokens: z.number().default(0),
  turns: z.number().default(0),
  cost_usd: z.number().default(0).describe('as the agent says, or by the table of prices where it tells tokens only'),
  untold_answers: z
    .number()
    .default(0)
    .describe('how many answers of the model are not in these figures, because the client was stopped before it told'),
})
export type Usage = z.infer<typeof Usage>
export const NO_USAGE: Usage = Usage.parse({})

/** Both together; what one of them does not know of counts as nothing, and no figure an agent makes up breaks the sum. */
export function plus(usage: Usage, more: Partial<Usage>): Usage {
  const total = { ...usage }
  for (const key of Object.keys(NO_USAGE) as (keyof Usage)[])
    total[key] = Math.min((usage[key] ?? 0) + Math.max(0, more[key] ?? 0), Number.MAX_SAFE_INTEGER)
  return total
}

/** How full the model's context window is: what of the conversation it still has before its eyes. */
export const Context = z.object({
  used_tokens: z.number().describe('by the newest report'),
  peak_tokens: z.number(),
  window_tokens: z.number().nullable().describe('empty: neither the client nor the table of models tells'),
})
export type Context = z.infer<typeof Context>

/** Whether more than this share of the window is used; of a window that nobody knows, no share can be told. */
export const isFull = (context: Context | null, percent: number): boolean =>
  !!context?.window_tokens && context.used_tokens * 100 > percent * context.window_tokens

/** Why a session was started: decides its branch, its conversation and what its prompt says first. */
export const SESSION_REASONS = [
  'first',
  'retry',
  'resume',
  'conflict',
  'reopen',
  'fork',
  'hand_over',
  'takeover',
  'children',
] as const
export const SessionReason = z.enum(SESSION_REASONS)
export type SessionReason = z.infer<typeof SessionReason>

export const Session = z.object({
  id: Id,
  mission_id: Id,
  project_id: Id,
  node: z.string(),
  number: z.number().int().describe('1 for the first session of its mission'),
  reason: SessionReason,
  agent: z.string(),
  model: z.string().nullable(),
  used_model: z.string().nullable().default(null).describe('the one at work, as its client names it'),
  engine: Engine.default('cli'),
  tool_preset: ToolPreset.nullable().default(null).describe('what it is held to, whatever is set later'),
  status: z.enum(['starting', 'running', 'ended']),
  outcome: Outcome.nullable().default(null),
  /** One sentence for a person: why it ended so. */
  outcome_reason: z.string().max(MAX_REASON_CHARS).nullable().default(null),
  exit_code: z.number().int().nullable().default(null),
  worktree: z.string().nullable().default(null),
  branch: z.string().nullable().default(null),
  start_commit: z.string().nullable().default(null).describe('what its work is compared with'),
  /** Where the branch is made, if it is not there: for work taken up again after it was cleaned away, its last commit. */
  branch_from: z.string().nullable().default(null),
  /** The tip of the branch once what was left uncommitted is committed. */
  end_commit: z.string().nullable().default(null),
  base_tip: z.string().nullable().default(null).describe('where the base branch stood at the start'),
  guard_mark: z
    .record(z.string(), z.string())
    .nullable()
    .default(null)
    .describe('digests of the shared git configuration and hooks at the start'),
  /** The commit the branch goes on from without a merge: while the base is there, nothing needs merging. */
  descends_from: z.string().nullable().default(null),
  /** Its one commit was made by us with the words of a landing, so it can itself be the landing. */
  landable: z.boolean().default(false),
  conversation: z.string().nullable().default(null).describe("the client's own id of the conversation, for resume"),
  resumes: z.string().nullable().default(null).describe('the conversation this session continues'),
  pid: z.number().int().nullable().default(null),
  process_started: z.string().nullable().default(null),
  instructions: StoredText.nullable().default(null).describe('what a person added for this session'),
  usage: Usage.default(NO_USAGE),
  context: Context.nullable().default(null),
  retrying: Retrying.nullable().default(null).describe('its client tries again against its provider'),
  prompt: StoredText.nullable().default(null),
  /** Why we are stopping it: written down before the first signal, so that a crash does not forget the cause. */
  stopping: z
    .object({
      outcome: Outcome,
      reason: z.string(),
      try: z.string().optional(),
      until: z.string().optional(),
      uncounted: z.boolean().optional(),
    })
    .nullable()
    .default(null),
  /** What it says of its own work, as JSON: kept the moment it is said, so that nothing that fails later loses it. */
  claim: StoredText.nullable().default(null),
  /** The sub-missions it waits for once its turn is over, and those it was told need somebody. */
  awaits: z
    .object({ children: z.array(Id), told: z.array(Id) })
    .nullable()
    .default(null),
  worktree_kept: z.boolean().default(true),
  /** What of its work no commit holds: then its worktree is removed only when a person says so in so many words. */
  left_behind: z.string().max(MAX_REASON_CHARS).nullable().default(null),
  kept_refs: z
    .array(z.string())
    .default([])
    .describe(
      'refs of the repository that hold what it left besides its branch: stashes, branches, tags, what was only staged',
    ),
  created_at: Timestamp,
  started_at: Timestamp.nullable().default(null),
  ended_at: Timestamp.nullable().default(null),
})
export type Session = z.infer<typeof Session>

/** Also where its client never got so far as to take it up; a copy is there only once it was made. */
export const conversationOf = ({ conversation, resumes, reason }: Session): string | null =>
  conversation ?? (reason === 'fork' ? null : resumes)

const MOST_KEPT_REFS = 100

/** What it is noted to have left besides its branch, and what was found now. */
export const keptRefs = ({ kept_refs }: Session, found: readonly string[] = []): string[] =>
  [...new Set([...kept_refs, ...found])].slice(0, MOST_KEPT_REFS)
