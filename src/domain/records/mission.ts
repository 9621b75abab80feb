import * as z from 'zod'
import { DECISIONS } from '../choices.ts'
import { Id, Timestamp } from '../ids.ts'
import { MAX_REASON_CHARS, StoredText } from '../text.ts'
import { ApprovalMode, ContextLimit, Engine, LandingPolicy, PreviewCommand, Sparse, ToolPreset } from './project.ts'
import { SessionReason } from './session.ts'
import { STAGE_STATUSES } from './stage-status.ts'
import { Images, Told } from './told.ts'

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

/** What a person may set on a mission. An empty value means the project's. */
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
    .describe('how much the model should think, such as low or high; see fleet agents'),
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
      'base: the base branch, with the kept work of its dependencies; branch: also their unlanded work, without waiting for it to land; clean: the base branch alone; share: the same worktree as its dependency',
    ),
  base_ref: z
    .string()
    .min(1)
    .max(250)
    .nullable()
    .default(null)
    .describe(
      'a branch, tag or commit to start from, as it stands now; empty: the base branch as it stands when the mission starts',
    ),
  check_kept: z
    .boolean()
    .default(false)
    .describe("for work that does not land: it is done only if the project's checks pass on it"),
  landing: LandingPolicy.nullable().default(null),
  approvals: ApprovalMode.nullable().default(null),
  answer_within_seconds: z
    .number()
    .int()
    .min(1)
    .max(604_800)
    .nullable()
    .default(null)
    .describe('after this many seconds a question is answered automatically'),
  otherwise: z.enum(DECISIONS).nullable().default(null).describe('the automatic answer; empty: deny'),
  preview_command: PreviewCommand,
  metadata: z
    .record(z.string(), z.unknown())
    .default({})
    .refine(fits, `must have at most ${MAX_METADATA_CHARS} characters as JSON`)
    .describe('anything a client wants to store with the mission'),
  subdirectory: z.string().max(1000).default('').describe('where in the repository the agent starts'),
  sparse: Sparse.nullable().default(null),
  images: Images.default([]).describe('what the agent is shown together with the prompt; see add_image'),
  context_mode: z
    .boolean()
    .default(false)
    .describe('attach the context-mode server, which keeps large outputs out of the conversation'),
})
export type MissionSettings = z.infer<typeof MissionSettings>

/** Why a mission has its status, for people and programs: a fixed code and a sentence. */
export const StatusReason = z.object({
  code: z.string().max(60),
  text: z.string().max(MAX_REASON_CHARS),
  try: z.string().max(400).optional(),
})
export type StatusReason = z.infer<typeof StatusReason>

/** The finished work of a mission as one commit: what a person is shown and approves. */
export const Candidate = z.object({
  commit: z.string(),
  session_id: Id.describe('the session that ended with it'),
  at: Timestamp,
})
export type Candidate = z.infer<typeof Candidate>

/**
 * A landing under way. It is stored before the base branch moves, so that after a crash it can be compared with the
 * branch.
 */
export const LandingCommit = z.object({
  commit: z.string(),
  onto: z.string(),
  branch: z.string().describe('the base branch'),
  checked: z.boolean(),
  past: z
    .string()
    .max(MAX_REASON_CHARS)
    .optional()
    .describe('the check that failed on it, if a person forced the landing'),
})
export type LandingCommit = z.infer<typeof LandingCommit>

const Approval = z.object({
  candidate: z.string(),
  by: z.string().max(120),
  at: Timestamp,
  past: z.string().max(MAX_REASON_CHARS).nullable().default(null).describe('the refusal that the person overrides'),
})

/** What landed, as which commit, and who approved it. */
export const Landing = z.object({
  candidate: z.string().nullable().describe('the candidate that was shown; empty: it landed before this was recorded'),
  commit: z.string().describe('the landing commit, made of the candidate on the base branch'),
  onto: z.string(),
  branch: z.string(),
  at: Timestamp,
  approved: Approval.pick({ by: true, at: true }).nullable().describe('who approved it; empty: its landing policy did'),
  files: z
    .number()
    .int()
    .nullable()
    .default(null)
    .describe('how many files it changed on the base branch; empty: not counted'),
  forced: z
    .object({ by: z.string().max(120), past: z.string() })
    .nullable()
    .default(null)
    .describe('who forced the landing, and the check or refusal they overrode'),
  evidence: z.array(Id).describe('the checks that ran on the landing commit'),
  includes: z
    .array(z.object({ mission_id: Id, title: z.string(), commit: z.string() }))
    .describe('missions whose unlanded work landed with it'),
  with: Id.nullable().describe('the mission whose landing included it'),
  undone: z
    .object({ commit: z.string(), at: Timestamp, by: z.string().nullable().default(null).describe('who asked for it') })
    .nullable()
    .describe('the commit that undid it'),
})
export type Landing = z.infer<typeof Landing>
export const MOST_PAST_LANDINGS = 20

/**
 * A landing by pull request. It is stored before anything is pushed, so that after a crash it can be compared with the
 * remote.
 */
/** A check that GitHub runs on a pull request. */
export const PullCheck = z.object({
  name: z.string().max(200),
  state: z.enum(['passed', 'failed', 'running']),
  url: z.string().max(500).nullable(),
})
export type PullCheck = z.infer<typeof PullCheck>

export const PullRequest = z.object({
  state: z.enum(['opening', 'open', 'merged', 'closed']),
  url: z.string().max(500).nullable(),
  number: z.number().int().nullable(),
  branch: z.string().describe('the branch on the remote'),
  commit: z.string().describe('the commit that is there, or is about to be pushed'),
  /** What we pushed there before. */
  pushed: z.string().nullable(),
  /** The end of the session that it was made from. */
  work: z.string(),
  merge_commit: z.string().nullable(),
  look_at: Timestamp.nullable().describe('when GitHub is asked about it next'),
  unanswered: z.number().int().describe('how often in a row GitHub could not be asked'),
  checks: z.array(PullCheck).default([]).describe('the checks that GitHub runs on it, as last seen'),
})
export type PullRequest = z.infer<typeof PullRequest>

/** What somebody wants a pull request to say. Absent: the title and the report of the mission say it. */
export const PullText = z.object({
  title: z.string().min(1).max(200).optional().describe('of the pull request; default: that of the mission'),
  body: z.string().min(1).max(10_000).optional().describe('of the pull request; default: from the report'),
})
export type PullText = z.infer<typeof PullText>

/** A candidate that a person pushed to a branch of the remote. */
export const Pushed = z.object({
  remote: z.string().describe('the name of the remote'),
  address: z.string(),
  branch: z.string(),
  commit: z.string(),
  url: z.string().nullable().describe('the page of the branch, at GitHub and GitLab'),
  at: Timestamp,
})

export const HAND_BACKS = ['resume', 'land', 'keep'] as const

/** A person continues the mission in their own terminal. */
export const TakenOver = z.object({
  by: z.string().max(120),
  since: Timestamp,
  /** The process that holds it. While it lives, nobody else takes the mission over or hands it back. */
  terminal: z.object({
    pid: z.number().int().positive(),
    started: z.string().max(60),
    boot: z.string().max(60),
    host: z.string().max(60).nullable().default(null).describe('empty: the host of its home'),
  }),
  /** The terminal is in a page, and that process is the server which holds it. */
  page: z.boolean().default(false),
  /** The status to return to if nothing was added. */
  was: z.object({ status: Status, result: Result.nullable(), ended_at: Timestamp.nullable() }),
  session_id: Id.nullable().describe('the session of the take-over, once the agent has stopped'),
  gone: z.boolean().describe('the terminal was closed or killed'),
  /** What happens now that the person has left. */
  next: z.enum(HAND_BACKS).nullable(),
  message: Told.nullable(),
})
export type TakenOver = z.infer<typeof TakenOver>

/** Who has a task of a team. An agent works at it; a person says when it is done. */
export const Assignee = z.object({ member_id: Id, handle: z.string().max(40), is_agent: z.boolean() })
export type Assignee = z.infer<typeof Assignee>

/** What makes a mission a task of a team. */
export const TeamTask = z.object({
  team_id: Id,
  assignee: Assignee.nullable().default(null).describe('empty: nobody has taken it'),
  handing: z
    .object({ to: Assignee.nullable() })
    .nullable()
    .default(null)
    .describe('its session is being stopped, and this member goes on; empty `to`: nobody'),
  blocked: z
    .string()
    .max(MAX_REASON_CHARS)
    .nullable()
    .default(null)
    .describe('said by the session at work: it goes on once its dependencies are done'),
})
export type TeamTask = z.infer<typeof TeamTask>

export const Mission = MissionSettings.extend({
  id: Id,
  project_id: Id,
  prompt: StoredText,
  status: Status,
  status_reason: StatusReason.nullable().default(null),
  result: Result.nullable().default(null),
  /** Queued, and no dependency is missing. */
  ready: z.boolean().default(false),
  queued_at: Timestamp.nullable().default(null),
  not_before: Timestamp.nullable().default(null),
  /** How the next session starts. Set whenever the mission is queued. */
  next: z.object({ reason: SessionReason, instructions: Told.nullable() }).nullable().default(null),
  session_id: Id.nullable().default(null).describe('the newest session'),
  fork_of: z
    .object({ mission_id: Id, session_id: Id, conversation: z.boolean() })
    .nullable()
    .default(null)
    .describe('the mission whose work it started from; with `conversation` also its conversation'),
  workflow: z
    .object({ id: Id, stage: z.number().int(), settled: z.enum(STAGE_STATUSES).nullable() })
    .nullable()
    .default(null)
    .describe('its workflow, the number of its stage, and the result for later stages'),
  scheduled: z
    .object({ by: Id, cron_time: Timestamp })
    .nullable()
    .default(null)
    .describe('the schedule that made it, and for which time'),
  planning: Id.nullable().default(null).describe('the plan that its agent makes'),
  member: z
    .object({ id: Id, team_id: Id })
    .nullable()
    .default(null)
    .describe('the team member whose sessions belong to it; such a mission waits for mail and never lands'),
  task: TeamTask.nullable().default(null).describe('the team whose task it is, and the member who has it'),
  plan_id: Id.nullable().default(null).describe('the plan it belongs to'),
  follows: Id.nullable().default(null).describe('the mission whose next steps it continues'),
  spawned: z.number().int().default(0).describe('how many sub-missions its agents have made'),
  sessions: z.number().int().default(0),
  failures: z.number().int().default(0).describe('failed sessions since a person last started it'),
  interruptions: z.number().int().default(0).describe('lost or stalled sessions in a row; not failures'),
  rate_limits: z.number().int().default(0).describe('how often in a row its provider refused it'),
  hand_overs: z
    .number()
    .int()
    .default(0)
    .describe('how often it continued in a fresh conversation because the last one was full'),
  conflicts: z.number().int().default(0).describe('how often the agent was sent back for a conflict or a failed check'),
  cancel_requested: z.boolean().default(false),
  /** Its live session waits for an answer. After the session has ended, the answer starts the next one. */
  asking: z.boolean().default(false),
  /** Its newest questions, sub-missions, sessions and dependents. Lists from the store may lag behind. */
  questions: z.array(Id).default([]),
  parts: z.array(Id).default([]),
  session_ids: z.array(Id).default([]),
  dependents: z.array(Id).default([]),
  taken_over: TakenOver.nullable().default(null),
  approval: Approval.nullable().default(null).describe('a person approved this candidate, whatever sent it to review'),
  /** Approved even though its checks fail. */
  forced: z.boolean().default(false),
  landing_at: Timestamp.nullable().default(null),
  candidate: Candidate.nullable().default(null),
  landing_commit: LandingCommit.nullable().default(null),
  /** How many times in a row the landing waited for something that clears by itself. */
  landing_looks: z.number().int().default(0),
  landed: Landing.nullable().default(null),
  past_landings: z
    .array(Landing)
    .default([])
    .describe('landings that were undone or followed by another; the newest last'),
  pull_request: PullRequest.nullable().default(null),
  pull_text: PullText.nullable().default(null),
  pushed: Pushed.nullable().default(null).describe('where its branch was pushed last, without a pull request'),
  undo: z
    .object({
      requested_at: Timestamp,
      by: z.string().nullable().default(null).describe('who asked for it'),
      landing_commit: LandingCommit.nullable(),
    })
    .nullable()
    .default(null),
  deleting: z.boolean().default(false),
  script: z
    .boolean()
    .default(false)
    .describe('its prompt is a script: whoever wrote it named an agent that runs scripts, such as shell'),
  /** The environment variables of a script, as JSON by name. */
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

/** Whether lists and counts include it. The mission of a team member is shown with its team, unless it needs a person. */
export const isListed = ({ member, status }: Pick<Mission, 'member' | 'status'>): boolean =>
  member === null || status === 'needs_input' || status === 'review' || status === 'failed'

/** The team that a mission is of: as a task, or as what the sessions of a member belong to. */
export const teamOfMission = ({ task, member }: Pick<Mission, 'task' | 'member'>): string | undefined =>
  task?.team_id ?? member?.team_id

/** The result of one check at one commit. */
export const Evidence = z.object({
  id: Id,
  mission_id: Id,
  project_id: Id,
  commit: z.string().describe('the commit that was checked; for a landing, the landing commit'),
  candidate: z.string().nullable().default(null).describe('the candidate that the landing commit was made from'),
  purpose: z.enum(['landing', 'undo', 'goal']).describe('goal: whether the goal of a loop is reached'),
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
  line: z.number().int().positive().nullable().default(null).describe('the last line it is about'),
  start_line: z
    .number()
    .int()
    .positive()
    .nullable()
    .default(null)
    .describe('the first line it is about; empty: only that one'),
  side: z.enum(['old', 'new']).default('new').describe('which side of the diff the line is on'),
  session_id: Id.nullable().default(null).describe('the session whose work it is about'),
  candidate: z.string().nullable().default(null).describe('the commit it is about'),
  quote: z.string().max(4000).nullable().default(null).describe('the text of those lines at the time'),
  applied: z.string().nullable().default(null).describe('the commit that applied its suggestion'),
  sent_at: Timestamp.nullable().default(null).describe('when it was sent to the agent'),
  created_at: Timestamp,
})
export type Comment = z.infer<typeof Comment>

/** An agent does not need to hear its own comments, nor a suggestion that is part of the work already. */
export const isToSend = ({ author, sent_at, applied }: Comment): boolean =>
  sent_at === null && !applied && !author.startsWith('session:')
