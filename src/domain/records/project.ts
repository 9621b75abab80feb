import * as z from 'zod'
import { Id, Timestamp } from '../ids.ts'
import { ProjectServer } from './mcp-server.ts'

export const LANDING_POLICIES = ['auto', 'review', 'pull-request', 'never'] as const
export const LandingPolicy = z.enum(LANDING_POLICIES)
export type LandingPolicy = z.infer<typeof LandingPolicy>

export const TOOL_PRESETS = ['full', 'implement', 'review', 'test', 'explore', 'fix'] as const
export const ToolPreset = z.enum(TOOL_PRESETS)
export type ToolPreset = z.infer<typeof ToolPreset>

export const ENGINES = ['cli', 'sdk'] as const
export const Engine = z
  .enum(ENGINES)
  .describe('how Claude Code is driven: through its command line, or its SDK, which does not survive a restart')
export type Engine = z.infer<typeof Engine>

/** How people call an agent that is driven so. */
export const drivenName = (agent: string, engine: Engine): string => (engine === 'cli' ? agent : `${agent} (${engine})`)

export const APPROVAL_MODES = ['deny', 'ask'] as const
export const ApprovalMode = z
  .enum(APPROVAL_MODES)
  .describe('what becomes of what the preset does not allow: it is denied, or a person is asked')
export type ApprovalMode = z.infer<typeof ApprovalMode>

export const ContextLimit = z
  .number()
  .int()
  .min(1)
  .max(100)
  .describe(
    'how much of its context window an agent may fill before it goes on in a fresh conversation; 100: all of it',
  )

export const ISOLATIONS = ['private', 'linked'] as const
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

export const MAX_NAME_CHARS = 120

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
    'what becomes of finished work: auto: it lands; review: a person lands it; pull-request: it is pushed to the remote and a pull request opened through gh; never: it stays on its branch',
  ),
  checks: z.array(Check).max(20).default([]),
  setup_command: z
    .string()
    .max(4000)
    .nullable()
    .default(null)
    .describe('a shell line run in each new worktree before the agent'),
  preview_command: PreviewCommand,
  copy_files: z
    .array(z.string().min(1).max(400))
    .max(50)
    .default([])
    .describe('ignored files to copy into a worktree, such as .env'),
  instructions: z.string().max(20_000).default('').describe('said to every agent on this project'),
  max_concurrent: z.number().int().min(1).max(200).nullable().default(null),
  max_turns: z.number().int().min(1).max(10_000).nullable().default(null),
  max_budget_usd: z.number().positive().max(100_000).nullable().default(null),
  daily_budget_usd: z
    .number()
    .positive()
    .max(100_000)
    .nullable()
    .default(null)
    .describe('once this is spent in a day (of UTC), nothing new starts and what runs is stopped'),
  timeout_seconds: z.number().int().min(1).max(604_800).nullable().default(null),
  context_limit_percent: ContextLimit.nullable().default(null),
  max_retries: z.number().int().min(0).max(10).nullable().default(null),
  tool_preset: ToolPreset.nullable().default(null),
  approvals: ApprovalMode.nullable().default(null),
  environment: z
    .array(z.string().regex(/^[A-Za-z_][A-Za-z0-9_]*$/))
    .max(100)
    .default([])
    .describe('names of variables of the server that its agents may see'),
  allow_push: z.boolean().default(false),
  isolation: Isolation.default('private'),
  hooks: z
    .enum(['on', 'off'])
    .default('on')
    .describe("whether the repository's own git hooks run for what agents commit themselves; ours never run any"),
})
export type ProjectSettings = z.infer<typeof ProjectSettings>

/** The same for a project that is made: its name may be left to its folder, and how its work lands to the fleet. */
export const NewProject = ProjectSettings.extend({
  name: ProjectSettings.shape.name.optional().describe('empty: that of its folder, with a number if another has it'),
  landing: LandingPolicy.optional(),
})

export const Project = ProjectSettings.extend({
  id: Id,
  path: z.string(),
  worktree: z
    .enum(['git', 'none'])
    .describe('none: a folder that is no repository; one mission at a time, nothing lands'),
  base_branch: z.string(),
  mcp_servers: z.array(ProjectServer).max(30).default([]),
  paused: z.boolean().default(false),
  deleting: z.boolean().default(false),
  /** The newest commit of the base branch that we or a person's approval put there. */
  known_tip: z.string().nullable().default(null),
  loop_id: Id.nullable().default(null).describe('its newest loop'),
  created_at: Timestamp,
  updated_at: Timestamp,
})
export type Project = z.infer<typeof Project>
