import type { Mission, MissionType } from './mission.ts'
import type { ApprovalMode, Engine, LandingPolicy, Project, ToolPreset } from './project.ts'

/** What holds for the whole fleet unless a project or mission says otherwise. */
export interface Defaults {
  agent: string
  model: string | null
  engine: Engine
  timeoutSeconds: number
  maxRetries: number
  contextLimit: number
}

export interface Effective {
  agent: string
  model: string | null
  engine: Engine
  maxTurns: number | null
  maxBudgetUsd: number | null
  timeoutSeconds: number
  maxRetries: number
  /** Percent of the window. */
  contextLimit: number
  preset: ToolPreset
  approvals: ApprovalMode
  landing: LandingPolicy
}

/** The values a session runs under: mission before project before fleet. */
export function effective(mission: Mission, project: Project, defaults: Defaults): Effective {
  return {
    agent: mission.agent ?? project.agent ?? defaults.agent,
    model: mission.model ?? project.model ?? defaults.model,
    engine: mission.engine ?? project.engine ?? defaults.engine,
    maxTurns: mission.max_turns ?? project.max_turns,
    maxBudgetUsd: mission.max_budget_usd ?? project.max_budget_usd,
    timeoutSeconds: mission.timeout_seconds ?? project.timeout_seconds ?? defaults.timeoutSeconds,
    maxRetries: mission.max_retries ?? project.max_retries ?? defaults.maxRetries,
    contextLimit: mission.context_limit_percent ?? project.context_limit_percent ?? defaults.contextLimit,
    preset: mission.tool_preset ?? project.tool_preset ?? 'full',
    approvals: mission.approvals ?? project.approvals ?? 'deny',
    landing: mission.landing ?? project.landing,
  }
}

/** Types of work that are complete without any change to the files. */
const READ_ONLY: readonly MissionType[] = ['review', 'explore', 'plan', 'test']
export const mayChangeNothing = (type: MissionType): boolean => READ_ONLY.includes(type)
