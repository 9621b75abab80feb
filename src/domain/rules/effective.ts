import type { Mission, MissionSettings, MissionType } from '../records/mission.ts'
import type { ApprovalMode, Engine, LandingPolicy, Project, ToolPreset } from '../records/project.ts'

/** The values for the whole fleet, unless a project or mission sets its own. */
export interface Defaults {
  agent: string | null
  model: string | null
  engine: Engine
  timeoutSeconds: number
  maxRetries: number
  contextLimit: number
  /** Which of them were set for this run of the fleet. They come before the settings of projects. */
  insisted: ReadonlySet<keyof Omit<Defaults, 'insisted'>>
}

export interface Effective {
  /** null: neither mission, project nor fleet names one. */
  agent: string | null
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

/** The values a session runs under: mission before project before fleet, unless the fleet was started with others. */
export function effective(mission: MissionSettings, project: Project, defaults: Defaults): Effective {
  const { agent, model, engine, timeoutSeconds, maxRetries, contextLimit } = forProject(project, defaults)
  return {
    agent: mission.agent ?? agent,
    model: mission.model ?? model,
    engine: mission.engine ?? engine,
    maxTurns: mission.max_turns ?? project.max_turns,
    maxBudgetUsd: mission.max_budget_usd ?? project.max_budget_usd,
    timeoutSeconds: mission.timeout_seconds ?? timeoutSeconds,
    maxRetries: mission.max_retries ?? maxRetries,
    contextLimit: mission.context_limit_percent ?? contextLimit,
    preset: mission.tool_preset ?? project.tool_preset ?? 'full',
    approvals: mission.approvals ?? project.approvals ?? 'deny',
    landing: mission.landing ?? project.landing,
  }
}

/** The values for missions of a project that set nothing themselves. */
export function forProject(project: Project, defaults: Defaults): Omit<Defaults, 'insisted'> {
  const { insisted, ...fleets } = defaults
  const projects = {
    agent: project.agent,
    model: project.model,
    engine: project.engine,
    timeoutSeconds: project.timeout_seconds,
    maxRetries: project.max_retries,
    contextLimit: project.context_limit_percent,
  }
  const said = Object.entries(projects).filter(
    ([name, value]) => value !== null && !insisted.has(name as keyof typeof projects),
  )
  return { ...fleets, ...Object.fromEntries(said) }
}

const BY_FIELD = {
  agent: 'agent',
  model: 'model',
  engine: 'engine',
  max_turns: 'maxTurns',
  max_budget_usd: 'maxBudgetUsd',
  timeout_seconds: 'timeoutSeconds',
  max_retries: 'maxRetries',
  context_limit_percent: 'contextLimit',
  tool_preset: 'preset',
  approvals: 'approvals',
  landing: 'landing',
} as const satisfies Partial<Record<keyof Mission & keyof Project, keyof Effective>>

export interface Held {
  field: keyof typeof BY_FIELD
  value: string | number | null
  /** Where the value comes from. */
  from: 'mission' | 'project' | 'default'
}

/** The same values field by field, with where each comes from, for people. */
export function held(mission: Mission, project: Project, defaults: Defaults): Held[] {
  const values = effective(mission, project, defaults)
  return (Object.entries(BY_FIELD) as [Held['field'], keyof Effective][]).map(([field, name]) => {
    const isProjects = project[field] !== null && !(defaults.insisted as ReadonlySet<string>).has(name)
    return {
      field,
      value: values[name],
      from: mission[field] !== null ? 'mission' : isProjects ? 'project' : 'default',
    }
  })
}

/** Types of work that are complete without any change to the files. */
const READ_ONLY: readonly MissionType[] = ['review', 'explore', 'plan', 'test']
export const mayChangeNothing = (type: MissionType): boolean => READ_ONLY.includes(type)
