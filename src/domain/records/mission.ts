import * as z from 'zod'
import { Id, Timestamp } from '../ids.ts'
import { DECISIONS } from '../rules/decisions.ts'
import { MAX_REASON_CHARS, StoredText } from '../text.ts'
import { ApprovalMode, ContextLimit, Engine, LandingPolicy, PreviewCommand, ToolPreset } from './project.ts'
import { SessionReason } from './session.ts'
import { STAGE_STATUSES } from './stage-status.ts'

export const STATUSES = [
  'draft',
  'queued',
  'running',
  'needs_input',
  'waiting',
  'landing',
  'review',
  'done',
  'failed',
  'cancelled',
] as const
export const Status = z.enum(STATUSES)
export type Status = z.infer<typeof Status>

export const RESULTS = ['landed', 'kept', 'no_changes'] as const
export const Result = z.enum(RESULTS)

export const MISSION_TYPES = ['implement', 'fix', 'test', 'review', 'explore', 'plan'] as const
export const MissionType = z.enum(MISSION_TYPES)
export type MissionType = z.infer<typeof MissionType>

const MAX_METADATA_CHARS = 4000
const fits = (value: object): boolean => JSON.stringify(value).length <= MAX_METADATA_CHARS
/** Where the work of a mission begins. */
const START_POINTS = ['base', 'branch', 'clean', 'share'] as const

/** What a person may set on a mission; an empty value means "as the project says". */
export const MissionSettings = z.object({
  title: z.string().min(1).max(300),
  acceptance_criteria: z.string().max(20_000).default(''),
  mission_type: MissionType.default('implement'),
  agent: z.string().min(1).max(40).nullable().default(null),
  model: z.string().min(1).max(120).nullable().default(null),
  effort: z
    .string()
    .regex(/^[a-z]{1,20}$/)
    .nullable()
    .default(null)
    .describe('how hard it is to think, such as low or high; see fleet agents'),
  engine: Engine.nullable().default(null),
  max_turns: z.number().int().min(1).max(10_000).nullable().default(null),
  max_budget_usd: z.number().positive().max(100_000).nullable().default(null),
  timeout_seconds: z.number().int().min(1).max(604_800).nullable().default(null),
  context_limit_percent: ContextLimit.nullable().default(null),
  max_retries: z.number().int().min(0).max(10).nullable().default(null),
  tool_preset: ToolPreset.nullable().default(null),
  allowed_tools: z.array(z.string().min(1).max(200)).max(100).nullable().default(null),
  append_system_prompt: z.string().max(20_000).default(''),
  priority: z.number().int().min(-1000).max(1000).default(0).describe('higher starts first'),
  tags: z.array(z.string().min(1).max(60)).max(20).default([]),
  parent_mission_id: Id.nullable().default(null),
  depends_on: z.array(Id).max(60).default([]),
  start_from: z
    .enum(START_POINTS)
    .default('base')
    .describe(
      'base: the base branch, and work it depends on that was kept; branch: also unlanded work, without waiting for it to land; clean: the base branch alone; share: the very worktree of what it depends on',
    ),
  base_ref: z
    .string()
    .min(1)
    .max(250)
    .nullable()
    .default(null)
    .describe('a branch, tag or commit to start from, taken as it is now; empty: the base branch, when it starts'),
  check_kept: z
    .boolean()
    .default(false)
    .describe("where it does not land: it is done only if the project's checks pass on its own work"),
  landing: LandingPolicy.nullable().default(null),
  approvals: ApprovalMode.nullable().default(null),
  answer_within_seconds: z
    .number()
    .int()
    .min(1)
    .max(604_800)
    .nullable()
    .default(null)
    .describe('after that a question is answered by itself'),
  otherwise: z.enum(DECISIONS).nullable().default(null).describe('… with this; empty: deny'),
  preview_command: PreviewCommand,
  metadata: z
    .record(z.string(), z.unknown())
    .default({})
    .refine(fits, `must have at most ${MAX_METADATA_CHARS} characters as JSON`)
    .describe('whatever a client wants to find here again'),
  subdirectory: z.string().max(1000).default('').describe('where in the repository the agent starts'),
  context_mode: z
    .boolean()
    .default(false)
    .describe('attach the context-mode server, which keeps large outputs out of the conversation'),
})
export type MissionSettings = z.infer<typeof MissionSettings>

/** Why a mission is where it is, for people and programs: a fixed code and a sentence. */
export const StatusReason = z.object({
  code: z.string().max(60),
  text: z.string().max(MAX_REASON_CHARS),
  try: z.string().max(400).optional(),
})
export type StatusReason = z.infer<typeof StatusReason>

/** The finished work of a mission as one commit: what a person is shown, and what they let land. */
export const Candidate = z.object({
  commit: z.string(),
  session_id: Id.describe('the session that ended with it'),
  at: Timestamp,
})
export type Candidate = z.infer<typeof Candidate>

/** A landing under way: written down before the base branch moves, so that a crash can be compared with the world. */
export const LandingCommit = z.object({
  commit: z.string(),
  onto: z.string(),
  branch: z.string().describe('the base branch'),
  checked: z.boolean(),
  past: z.string().max(MAX_REASON_CHARS).optional().describe('the check that failed on it, where that was forced'),
})
export type LandingCommit = z.infer<typeof LandingCommit>

const Approval = z.object({
  candidate: z.string(),
  by: z.string().max(120),
  at: Timestamp,
  past: z.string().max(MAX_REASON_CHARS).nullable().default(null).describe('the refusal that it sets aside'),
})

/** What landed, as what, and who let it: kept for whoever asks later. */
export const Landing = z.object({
  candidate: z.string().nullable().describe('what was shown; empty: it landed before that was written down'),
  commit: z.string().describe('the landing commit, made of the candidate on the base branch'),
  onto: z.string(),
  branch: z.string(),
  at: Timestamp,
  approved: Approval.pick({ by: true, at: true }).nullable().describe('who let it land; empty: its policy did'),
  files: z
    .number()
    .int()
    .nullable()
    .default(null)
    .describe('how many files it changed on what it landed on; empty: not counted'),
  forced: z
    .object({ by: z.string().max(120), past: z.string() })
    .nullable()
    .default(null)
    .describe('who let it land although a check failed or it had been refused, and which'),
  evidence: z.array(Id).describe('the checks that ran on the landing commit'),
  includes: z
    .array(z.object({ mission_id: Id, title: z.string(), commit: z.string() }))
    .describe('whose unlanded work came along'),
  with: Id.nullable().describe('the mission whose landing brought it'),
  undone: z.object({ commit: z.string(), at: Timestamp }).nullable().describe('by which commit it was taken back'),
})
export type Landing = z.infer<typeof Landing>
export const MOST_PAST_LANDINGS = 20

/** A landing that others decide about. Written down before anything is pushed, so that a crash can be compared with the world. */
export const PullRequest = z.object({
  state: z.enum(['opening', 'open', 'merged', 'closed']),
  url: z.string().max(500).nullable(),
  number: z.number().int().nullable(),
  branch: z.string().describe('where on the remote the work is'),
  commit: z.string().describe('what is there, or is about to be'),
  /** What was there before, put by us. */
  pushed: z.string().nullable(),
  /** The end of the session that it was made from. */
  work: z.string(),
  merge_commit: z.string().nullable(),
  look_at: Timestamp.nullable().describe('when GitHub is asked about it next'),
  unanswered: z.number().int().describe('how often in a row GitHub could not be asked'),
})
export type PullRequest = z.infer<typeof PullRequest>

export const HAND_BACKS = ['resume', 'land', 'keep'] as const

/** A person goes on with a mission in their own terminal. */
export const TakenOver = z.object({
  by: z.string().max(120),
  since: Timestamp,
  /** The process that holds it: while that lives nobody else takes it over or gives it back. */
  terminal: z.object({ pid: z.number().int().positive(), started: z.string().max(60), boot: z.string().max(60) }),
  /** To go back to when nothing was added to what was done. */
  was: z.object({ status: Status, result: Result.nullable(), ended_at: Timestamp.nullable() }),
  session_id: Id.nullable().describe('the session that stands for it, once the agent has been stopped'),
  gone: z.boolean().describe('the terminal was closed or killed'),
  /** What becomes of it now that the person has left. */
  next: z.enum(HAND_BACKS).nullable(),
  message: StoredText.nullable(),
})
export type TakenOver = z.infer<typeof TakenOver>

export const Mission = MissionSettings.extend({
  id: Id,
  project_id: Id,
  prompt: StoredText,
  status: Status,
  status_reason: StatusReason.nullable().default(null),
  result: Result.nullable().default(null),
  /** Queued and nothing it depends on is missing. */
  ready: z.boolean().default(false),
  queued_at: Timestamp.nullable().default(null),
  not_before: Timestamp.nullable().default(null),
  /** How the next session begins; set whenever the mission is queued. */
  next: z.object({ reason: SessionReason, instructions: StoredText.nullable() }).nullable().default(null),
  session_id: Id.nullable().default(null).describe('the newest session'),
  fork_of: z
    .object({ mission_id: Id, session_id: Id, conversation: z.boolean() })
    .nullable()
    .default(null)
    .describe('whose work, and with `conversation` whose memory, it began with'),
  workflow: z
    .object({ id: Id, stage: z.number().int(), settled: z.enum(STAGE_STATUSES).nullable() })
    .nullable()
    .default(null)
    .describe('the workflow it is a stage of, which one, and how it went for those after it'),
  scheduled: z
    .object({ by: Id, slot: Timestamp })
    .nullable()
    .default(null)
    .describe('the schedule that made it, and for when'),
  planning: Id.nullable().default(null).describe('the plan it works out'),
  plan_id: Id.nullable().default(null).describe('the plan it is a part of'),
  follows: Id.nullable().default(null).describe('the mission whose next steps it takes up'),
  spawned: z.number().int().default(0).describe('how many sub-missions its agents have made'),
  sessions: z.number().int().default(0),
  failures: z.number().int().default(0).describe('failed sessions since a person last asked for it'),
  interruptions: z.number().int().default(0).describe('lost or stalled sessions in a row; not failures'),
  rate_limits: z.number().int().default(0).describe('how often in a row its provider refused it'),
  hand_overs: z
    .number()
    .int()
    .default(0)
    .describe('how often it went on in a fresh conversation, the last one being full'),
  conflicts: z.number().int().default(0).describe('how often the agent was sent back for a conflict or a failed check'),
  cancel_requested: z.boolean().default(false),
  /** Its live session waits for a person's answer; once that has ended, the answer starts the next one. */
  asking: z.boolean().default(false),
  taken_over: TakenOver.nullable().default(null),
  approval: Approval.nullable().default(null).describe('a person lets this candidate land, whatever sent it to review'),
  /** … and even though its checks fail. */
  forced: z.boolean().default(false),
  landing_at: Timestamp.nullable().default(null),
  candidate: Candidate.nullable().default(null),
  landing_commit: LandingCommit.nullable().default(null),
  /** How often in a row a landing stepped aside for something that passes by itself. */
  landing_looks: z.number().int().default(0),
  landed: Landing.nullable().default(null),
  past_landings: z.array(Landing).default([]).describe('taken back, or followed by another; the newest last'),
  pull_request: PullRequest.nullable().default(null),
  undo: z.object({ requested_at: Timestamp, landing_commit: LandingCommit.nullable() }).nullable().default(null),
  deleting: z.boolean().default(false),
  script: z
    .boolean()
    .default(false)
    .describe('its prompt is a script: whoever wrote it named an agent that runs scripts, such as shell'),
  /** What a script finds in its environment, as JSON by the names of the variables. */
  variables: StoredText.nullable().default(null),
  branch: z
    .string()
    .nullable()
    .default(null)
    .describe('where the work is: a branch, or a ref under refs/fleet once it was cleaned'),
  created_at: Timestamp,
  updated_at: Timestamp,
  started_at: Timestamp.nullable().default(null),
  ended_at: Timestamp.nullable().default(null),
})
export type Mission = z.infer<typeof Mission>

/** The result of one check at one commit: the claim "it works" with its proof. */
export const Evidence = z.object({
  id: Id,
  mission_id: Id,
  project_id: Id,
  commit: z.string().describe('exactly what was checked: the landing commit, where it is about a landing'),
  candidate: z.string().nullable().default(null).describe('what that was made of'),
  purpose: z.enum(['landing', 'undo', 'goal']).describe('goal: whether what a loop is for is reached'),
  name: z.string(),
  command: z.string(),
  exit_code: z.number().int().nullable().describe('empty: it was stopped at its time limit'),
  passed: z.boolean(),
  output: StoredText,
  created_at: Timestamp,
  seconds: z.number(),
})
export type Evidence = z.infer<typeof Evidence>

export const MAX_COMMENT_CHARS = 20_000

export const Comment = z.object({
  id: Id,
  mission_id: Id,
  project_id: Id,
  author: z.string().max(120),
  body: z.string().min(1).max(MAX_COMMENT_CHARS),
  path: z.string().max(1000).nullable().default(null),
  line: z.number().int().positive().nullable().default(null),
  side: z.enum(['old', 'new']).default('new').describe('which side of the diff the line is on'),
  session_id: Id.nullable().default(null).describe('the session whose work it is about'),
  candidate: z.string().nullable().default(null).describe('the commit it is about'),
  quote: z.string().max(500).nullable().default(null).describe('that line, as it was then'),
  sent_at: Timestamp.nullable().default(null).describe('when the agent was sent back with it'),
  created_at: Timestamp,
})
export type Comment = z.infer<typeof Comment>

/** What an agent remarked itself need not be told to it. */
export const isToSend = ({ author, sent_at }: Comment): boolean => sent_at === null && !author.startsWith('session:')
