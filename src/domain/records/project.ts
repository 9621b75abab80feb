import * as z from 'zod'
import { APPROVAL_MODES, ENGINES, ISOLATIONS, LANDING_POLICIES, TOOL_PRESETS } from '../choices.ts'
import { Id, Timestamp } from '../ids.ts'
import { ProjectServer } from './mcp-server.ts'

export { APPROVAL_MODES, ENGINES, ISOLATIONS, LANDING_POLICIES, TOOL_PRESETS }

export const LandingPolicy = z.enum(LANDING_POLICIES)
export type LandingPolicy = z.infer<typeof LandingPolicy>

export const ToolPreset = z.enum(TOOL_PRESETS)
export type ToolPreset = z.infer<typeof ToolPreset>

export const Engine = z
  .enum(ENGINES)
  .describe('how Claude Code is driven: through its command line, or its SDK, which does not survive a restart')
export type Engine = z.infer<typeof Engine>

/** What people call an agent that is driven this way. */
export const drivenName = (agent: string, engine: Engine): string => (engine === 'cli' ? agent : `${agent} (${engine})`)

export const ApprovalMode = z
  .enum(APPROVAL_MODES)
  .describe('what happens when an agent wants more than its preset allows: deny it, or ask a person')
export type ApprovalMode = z.infer<typeof ApprovalMode>

export const ContextLimit = z
  .number()
  .int()
  .min(1)
  .max(100)
  .describe(
    'how much of its context window an agent may fill before it continues in a new conversation; 100: all of it',
  )

export const Isolation = z
  .enum(ISOLATIONS)
  .describe(
    'private: each mission works in a repository of its own; linked: in a linked worktree of yours, which shares refs, stash and configuration with it, and is refused where a preset needs the sandbox',
  )

export const Check = z.object({
  name: z.string().min(1).max(80),
  command: z.string().min(1).max(4000).describe('a shell line, run at the root of the merged tree'),
  timeout_seconds: z.number().int().min(1).max(86_400).default(1800),
})
export type Check = z.infer<typeof Check>

export const PreviewCommand = z
  .string()
  .max(4000)
  .nullable()
  .default(null)
  .describe('a shell line that shows the work in a browser; it must listen on the port in $PORT')

/** A path inside the repository. */
const InnerPath = z
  .string()
  .min(1)
  .max(400)
  .refine(
    path =>
      !path.startsWith('/') &&
      path.split('/').every(step => step !== '' && step !== '.' && step !== '..' && step.toLowerCase() !== '.git'),
    'must be a path inside the repository, such as packages/web',
  )

export const Sparse = z
  .array(InnerPath)
  .max(200)
  .describe(
    'folders to check out, besides the files above them, in a repository that is too large to check out whole; empty: everything',
  )

export const MAX_NAME_CHARS = 120
export const MOST_SERVERS = 30

/** What a person may set on a project. */
export const ProjectSettings = z.object({
  name: z.string().min(1).max(MAX_NAME_CHARS),
  description: z.string().max(4000).default(''),
  agent: z
    .string()
    .min(1)
    .max(40)
    .nullable()
    .default(null)
    .describe(
      'the coding agent of missions that name none; empty: the default of the fleet, or else the first that is installed, decided when the project is made or first used',
    ),
  model: z.string().min(1).max(120).nullable().default(null),
  engine: Engine.nullable().default(null),
  base_branch: z
    .string()
    .min(1)
    .max(250)
    .nullable()
    .default(null)
    .describe('empty: the branch checked out when the project was made'),
  landing: LandingPolicy.default('review').describe(
    'what happens to finished work. auto: it lands; review: a person lands it; pull-request: it is pushed to the remote, and gh opens a pull request; never: it stays on its branch',
  ),
  checks: z.array(Check).max(20).default([]),
  setup_command: z
    .string()
    .max(4000)
    .nullable()
    .default(null)
    .describe('a shell line run in each new worktree before the agent'),
  setup_inputs: z
    .array(InnerPath)
    .max(100)
    .default([])
    .describe(
      'files that decide what the setup command makes; while they and the command are the same, it does not run where its caches were kept; empty: the lock files of package managers',
    ),
  warm: z
    .array(InnerPath)
    .max(20)
    .default([])
    .describe(
      'folders that the setup command makes and that are kept for the next mission, such as node_modules; only as setup left them, and while its inputs are the same',
    ),
  sparse: Sparse.default([]),
  preview_command: PreviewCommand,
  copy_files: z
    .array(z.string().min(1).max(400))
    .max(50)
    .default([])
    .describe('ignored files to copy into a worktree, such as .env'),
  instructions: z.string().max(20_000).default('').describe('given to every agent on this project'),
  max_concurrent: z.number().int().min(1).max(200).nullable().default(null),
  max_turns: z.number().int().min(1).max(10_000).nullable().default(null),
  max_budget_usd: z.number().positive().max(100_000).nullable().default(null),
  daily_budget_usd: z
    .number()
    .positive()
    .max(100_000)
    .nullable()
    .default(null)
    .describe('once this is spent in a day (UTC), nothing new starts and running agents are stopped'),
  disk_limit_gb: z
    .number()
    .positive()
    .max(1_000_000)
    .nullable()
    .default(null)
    .describe("gigabytes that its worktrees may use; beyond that, new missions wait; empty: the fleet's limit"),
  keep_worktrees_days: z
    .number()
    .min(0)
    .max(36_500)
    .nullable()
    .default(null)
    .describe(
      'days after which the worktrees of failed and cancelled missions are removed, never what no commit holds; empty: as the fleet says',
    ),
  timeout_seconds: z.number().int().min(1).max(604_800).nullable().default(null),
  context_limit_percent: ContextLimit.nullable().default(null),
  max_retries: z.number().int().min(0).max(10).nullable().default(null),
  tool_preset: ToolPreset.nullable().default(null),
  approvals: ApprovalMode.nullable().default(null),
  environment: z
    .array(z.string().regex(/^[A-Za-z_][A-Za-z0-9_]*$/))
    .max(100)
    .default([])
    .describe("names of the server's environment variables that its agents may see"),
  allow_push: z.boolean().default(false),
  agents_may_land: z
    .boolean()
    .default(false)
    .describe('whether an agent with a JWT whose role lands may land although `landing` is not auto'),
  isolation: Isolation.default('private'),
  hooks: z
    .enum(['on', 'off'])
    .default('on')
    .describe("whether the repository's git hooks run when agents commit; they never run for commits of Flotilla"),
})
export type ProjectSettings = z.infer<typeof ProjectSettings>

/** The settings of a new project. The folder may give its name, and the fleet its landing policy. */
export const NewProject = ProjectSettings.extend({
  name: ProjectSettings.shape.name
    .optional()
    .describe('empty: the name of its folder, with a number if that name is taken'),
  landing: LandingPolicy.optional(),
})

export const Project = ProjectSettings.extend({
  id: Id,
  path: z.string(),
  worktree: z
    .enum(['git', 'none'])
    .describe('none: a plain folder without git; one mission at a time, and nothing lands'),
  base_branch: z.string(),
  mcp_servers: z.array(ProjectServer).max(MOST_SERVERS).default([]),
  paused: z.boolean().default(false),
  sample: z
    .union([z.boolean(), z.literal('team')])
    .default(false)
    .describe(
      'a sample project, or the one with a team: Flotilla made its repository, and removes it with the project',
    ),
  deleting: z.boolean().default(false),
  /** The newest commit of the base branch that we, or a person's approval, put there. */
  known_tip: z.string().nullable().default(null),
  loop_id: Id.nullable().default(null).describe('its newest loop'),
  created_at: Timestamp,
  updated_at: Timestamp,
})
export type Project = z.infer<typeof Project>
