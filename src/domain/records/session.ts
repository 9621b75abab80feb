import * as z from 'zod'
import { Id, Timestamp } from '../ids.ts'
import { MAX_REASON_CHARS, StoredText } from '../text.ts'
import { Quiet } from './health.ts'
import { Engine, ToolPreset } from './project.ts'
import { Retrying } from './retrying.ts'
import { Told } from './told.ts'

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
  reasoning_tokens: z.number().default(0).describe('the part of the output that was thinking, if the client says'),
  cache_read_tokens: z.number().default(0),
  cache_write_tokens: z.number().default(0),
  turns: z.number().default(0),
  cost_usd: z.number().default(0).describe('as the client says, or from the table of prices if it reports tokens only'),
  untold_answers: z
    .number()
    .default(0)
    .describe(
      'how many answers of the model are missing in these figures, because the client was stopped before it reported them',
    ),
})
export type Usage = z.infer<typeof Usage>
export const NO_USAGE: Usage = Usage.parse({})

/** The sum of both. A missing figure counts as zero, and an absurd one cannot break the sum. */
export function plus(usage: Usage, more: Partial<Usage>): Usage {
  const total = { ...usage }
  for (const key of Object.keys(NO_USAGE) as (keyof Usage)[])
    total[key] = Math.min((usage[key] ?? 0) + Math.max(0, more[key] ?? 0), Number.MAX_SAFE_INTEGER)
  return total
}

/** How full the model's context window is. */
export const Context = z.object({
  used_tokens: z.number().describe('by the newest report'),
  peak_tokens: z.number(),
  window_tokens: z.number().nullable().describe('empty: neither the client nor the table of models knows'),
})
export type Context = z.infer<typeof Context>

/** Whether more than this share of the window is used. Without a known window there is no share. */
export const isFull = (context: Context | null, percent: number): boolean =>
  !!context?.window_tokens && context.used_tokens * 100 > percent * context.window_tokens

/** Why a session was started. It decides its branch, its conversation and what its prompt says first. */
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
  'mail',
  'terminal',
  'outside',
] as const
export const SessionReason = z.enum(SESSION_REASONS)
export type SessionReason = z.infer<typeof SessionReason>

export const Session = z.object({
  id: Id,
  mission_id: Id,
  project_id: Id,
  host: z
    .string()
    .nullable()
    .default(null)
    .describe(
      'the machine that has its processes and files; empty: the session is from before hosts were recorded, and belongs to the host of its home',
    ),
  generation: z
    .number()
    .int()
    .default(1)
    .describe('grows when another host claims the session; the earlier host may not write any more'),
  tokens_from: z
    .number()
    .int()
    .default(0)
    .describe('tokens of an earlier generation are refused, because the session was started again since'),
  member_id: Id.nullable().default(null).describe('the team member it is a session of'),
  number: z.number().int().describe('1 for the first session of its mission'),
  reason: SessionReason,
  agent: z.string(),
  model: z.string().nullable(),
  used_model: z.string().nullable().default(null).describe('the model at work, by the name its client uses'),
  engine: Engine.default('cli'),
  tool_preset: ToolPreset.nullable()
    .default(null)
    .describe('the preset it runs under, even if the mission changes later'),
  status: z.enum(['starting', 'running', 'ended']),
  outcome: Outcome.nullable().default(null),
  /** One sentence that says why it ended. */
  outcome_reason: z.string().max(MAX_REASON_CHARS).nullable().default(null),
  exit_code: z.number().int().nullable().default(null),
  worktree: z.string().nullable().default(null),
  branch: z.string().nullable().default(null),
  start_commit: z.string().nullable().default(null).describe('what its work is compared with'),
  /** Where the branch is made if it does not exist: the last commit of work whose branch was cleaned away. */
  branch_from: z.string().nullable().default(null),
  /** The tip of the branch after its uncommitted files were committed. */
  end_commit: z.string().nullable().default(null),
  base_tip: z.string().nullable().default(null).describe('where the base branch stood at the start'),
  guard_mark: z
    .record(z.string(), z.string())
    .nullable()
    .default(null)
    .describe('digests of the shared git configuration and hooks at the start'),
  /** The commit that the branch continues without a merge. While the base is there, nothing needs merging. */
  descends_from: z.string().nullable().default(null),
  /** We made its only commit with the message of a landing, so that commit can be the landing. */
  landable: z.boolean().default(false),
  conversation: z.string().nullable().default(null).describe("the client's own id of the conversation, for resume"),
  resumes: z.string().nullable().default(null).describe('the conversation this session continues'),
  copies: z.boolean().default(false).describe('it continues a copy of that conversation, which stays as it is'),
  pid: z.number().int().nullable().default(null),
  process_started: z.string().nullable().default(null),
  instructions: Told.nullable().default(null).describe('what a person added for this session'),
  usage: Usage.default(NO_USAGE),
  context: Context.nullable().default(null),
  retrying: Retrying.nullable().default(null).describe('its client tries again against its provider'),
  prompt: StoredText.nullable().default(null),
  /** Why we are stopping it. Written down before the first signal, so that a crash does not forget it. */
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
  /**
   * What it says about its own work, as JSON. Stored as soon as it is said, so that a later failure does not lose it.
   */
  claim: StoredText.nullable().default(null),
  /** The newest messages to it. Lists from the store may lag behind. */
  messages: z.array(Id).default([]),
  /** The sub-missions it waits for after its turn, and those it was told need a person. */
  awaits: z
    .object({ children: z.array(Id), told: z.array(Id) })
    .nullable()
    .default(null),
  worktree_kept: z.boolean().default(true),
  setup_skipped: z.boolean().default(false).describe('what the setup command makes was there already'),
  /** The part of its work that is in no commit. Its worktree is then removed only when a person discards it. */
  left_behind: z.string().max(MAX_REASON_CHARS).nullable().default(null),
  kept_refs: z
    .array(z.string())
    .default([])
    .describe('refs that keep what it left besides its branch: stashes, branches, tags, staged files'),
  worked_seconds: z
    .number()
    .default(0)
    .describe('how long it has worked while a server watched; its time limit counts this'),
  quiet: Quiet.nullable().default(null).describe('of a member: whether it shows signs of life, once that was in doubt'),
  longest_pause: z
    .number()
    .default(0)
    .describe('of a member: the longest time without a sign of life from which it came back by itself, in seconds'),
  created_at: Timestamp,
  started_at: Timestamp.nullable().default(null),
  ended_at: Timestamp.nullable().default(null),
})
export type Session = z.infer<typeof Session>

/** A person is beside it, in a terminal: nothing here starts, reads or stops a client for it. */
export const isInTerminal = ({ reason }: Pick<Session, 'reason'>): boolean =>
  reason === 'takeover' || isOfMember({ reason })

/** It stands for a member in a terminal, and lasts as long as that. */
export const isOfMember = ({ reason }: Pick<Session, 'reason'>): boolean =>
  reason === 'terminal' || reason === 'outside'

/** The conversation, even if its client never resumed it. The copy for a fork exists only once the client made it. */
export const conversationOf = ({ conversation, resumes, reason, copies }: Session): string | null =>
  conversation ?? (reason === 'fork' || copies ? null : resumes)

const MOST_KEPT_REFS = 100

/** The refs it is known to have left besides its branch, and those found now. */
export const keptRefs = ({ kept_refs }: Session, found: readonly string[] = []): string[] =>
  [...new Set([...kept_refs, ...found])].slice(0, MOST_KEPT_REFS)
